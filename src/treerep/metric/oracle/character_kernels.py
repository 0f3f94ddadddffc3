"""Hamming distances between rows of characters with unknown loci."""

from typing import Any

import numpy as np

from ..._core.kernel import helper
from .._undefined_pairs import NoCommonLocusError
from .classes import NO_ERROR


@helper
def character_distance(codes: Any, origin: Any, i: Any, j: Any) -> Any:
    """Return L times the share of differing loci among the loci known in both rows."""
    known = 0
    differ = 0
    # Sums of whole numbers: the compiler may choose the order.
    for k in range(codes.shape[1]):
        a = codes[i, k]
        b = codes[j, k]
        both = (a >= 0) & (b >= 0)
        known += both
        differ += both & (a != b)
    if known == 0:
        if origin[i, 0] == NO_ERROR:
            return np.float64(codes.shape[1])
        raise NoCommonLocusError(origin[i, 0], origin[i, 1], origin[j, 1])
    # Exact if all loci are known.
    return np.float64(codes.shape[1] * differ) / known


@helper
def weighted_character_distance(codes: Any, origin: Any, weights: Any, i: Any, j: Any) -> Any:
    """Return W times the share of the weight that differs, where W is the sum of all weights."""
    known = 0.0
    differ = 0.0
    for k in range(codes.shape[1]):
        a = codes[i, k]
        b = codes[j, k]
        if a >= 0 and b >= 0:
            known += weights[k]
            if a != b:
                differ += weights[k]
    total = weights[codes.shape[1]]
    if known == 0.0:
        if origin[i, 0] == NO_ERROR:
            return total
        raise NoCommonLocusError(origin[i, 0], origin[i, 1], origin[j, 1])
    return differ if known == total else total * differ / known
