"""Mash distances between sketches (Ondov et al. 2016)."""

import math
from typing import Any

from ..._core.kernel import helper
from .._undefined_pairs import NoCommonKmerError

# Columns of `about`, as written by `sketches/metric.py`.
_NUMBER = 0
_INDEX = 1
_SIZE = 2
_K = 3
_CAPPED = 4
_MOST = 5


@helper
def sketch_distance(hashes: Any, about: Any, i: Any, j: Any) -> Any:
    """Return -ln(2 J / (1 + J)) / k, where J estimates the Jaccard index of the k-mers."""
    most = about[i, _MOST]
    end_a = about[i, _SIZE]
    end_b = about[j, _SIZE]
    a = 0
    b = 0
    common = 0
    union = 0
    # J is the share of common hashes among the smallest hashes of the union. A sketch with fewer
    # hashes than allowed has all hashes of its genome.
    while union < most and a < end_a and b < end_b:
        x = hashes[i, a]
        y = hashes[j, b]
        common += x == y
        a += x <= y
        b += y <= x
        union += 1
    union = min(most, union + (end_a - a) + (end_b - b))
    if common == union:
        return 0.0
    if common == 0:
        if about[i, _CAPPED] == 0:
            raise NoCommonKmerError(about[i, _NUMBER], about[i, _INDEX], about[j, _INDEX])
        return 1.0
    # 2 J / (1 + J) = 2 c / (u + c)
    found = math.log((union + common) / (2.0 * common)) / about[i, _K]
    return min(found, 1.0) if about[i, _CAPPED] == 1 else found
