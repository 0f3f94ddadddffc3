"""Distances of a block of pairs, for callers with an oracle. Others use `Metric.block`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import read_only
from .distance_kernels import block_distances


def write_block(
    oracle: Any, rows: NDArray[np.integer], cols: NDArray[np.integer], out: NDArray[np.float64]
) -> None:
    """Write out[a, b] = d(rows[a], cols[b]).

    The kernel is always called with the same types of indices, so that it is compiled only once
    for each kind of oracle.
    """
    block_distances(oracle, _indices(rows), _indices(cols), out)


def _indices(numbers: NDArray[np.integer]) -> NDArray[np.int64]:
    return read_only(np.ascontiguousarray(numbers, np.int64))
