"""Prim's algorithm (Prim 1957), on the complete graph, which is not stored, or on sparse graphs.

Among equally short edges, the edge whose end in the tree joined earliest is used. Remaining ties go
to the point with the smallest index. Both versions therefore build the same tree. On a graph with
equal edge lengths, the tree is a breadth-first tree.
"""

import numpy as np
from numpy.typing import NDArray

from ..._core.progress import progress_bar
from ...metric.base import Metric, read_only
from ...metric.oracle.classes import COMPILED_ORACLES, MatrixOracle
from .._distances import checked_block
from ._spanning_kernels import Frontier, join_points

# Number of distances read between two checks for interrupts: a few tenths of a second.
_BUDGET = 1 << 25


def prim_complete(metric: Metric, start: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the parent of every point in the minimum spanning tree, and its distance.

    All pairs are edges. The parent of `start` is -1. O(n^2) time, O(n) memory.
    """
    n = len(metric)
    frontier = Frontier(np.full(n, np.inf), np.full(n, start, np.int32), np.zeros(n, np.int32))
    left = np.delete(np.arange(n, dtype=np.int32), start)
    joined = start
    oracle = metric.oracle if isinstance(metric.oracle, COMPILED_ORACLES) else None
    with progress_bar(n, "minimum spanning tree", "points") as bar:
        while len(left):
            if oracle is not None:
                steps = min(len(left), 1 + _BUDGET // len(left))
                joined = join_points(oracle, False, frontier, left, joined, steps)
            else:
                steps = 1
                row = MatrixOracle(read_only(checked_block(metric, np.array([joined]), np.arange(n))))
                joined = join_points(row, True, frontier, left, joined, steps)
            left = left[: len(left) - steps]
            bar.update(steps)
    frontier.parent[start] = -1
    return frontier.parent, frontier.gap
