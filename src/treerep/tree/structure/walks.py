"""Distances and paths by walks over the tree."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import run
from .rooted import Preorder

#: A walk visits about this many nodes in the time needed to find one lowest common ancestor.
_NODES_PER_ANCESTOR = 8
_ROWS = 64


def prefer_walk(n_cols: int, n_nodes: int) -> bool:
    """Tell whether a walk over the tree is cheaper for a row than lowest common ancestors."""
    return n_cols * _NODES_PER_ANCESTOR >= n_nodes


def walked_block(view: Preorder, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances from each row node to each column node. O(N) per row."""
    from .walk_kernels import walk_rows

    out = np.empty((len(rows), len(cols)))
    n = len(view.up)
    starts = view.position[rows]
    ends = view.position[cols]
    walk_rows(view.up, view.length, starts, ends, np.empty(n, np.int32), np.empty(n), out)
    return out


def symmetric_matrix(
    block: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]],
    points: NDArray[np.int64],
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return all distances among `points`, symmetric to the last bit, because each pair is read once."""
    n = len(points)
    out = np.zeros((n, n))

    def fill(start: int) -> None:
        stop = min(start + _ROWS, n)
        upper = np.triu(block(points[start:stop], points[start:]), 1)
        out[start:stop, start:] += upper
        out[start:, start:stop] += upper.T

    for _ in run(fill, range(0, n, _ROWS), n_jobs):
        pass
    return out


def path_between(view: Preorder, start: int, end: int) -> NDArray[np.int64]:
    """Return the nodes on the path from start to end, both included. O(length of the path)."""
    forth = [int(view.position[start])]
    back = [int(view.position[end])]
    up = view.up
    while forth[-1] != back[-1]:
        # Ancestors have smaller positions, so the larger position is not an ancestor of the
        # other and may climb.
        side = forth if forth[-1] > back[-1] else back
        side.append(int(up[side[-1]]))
    return view.order[np.array(forth + back[-2::-1])].astype(np.int64)
