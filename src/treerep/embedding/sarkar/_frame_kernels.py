"""Kernels that walk over a tree in hyperbolic space, from frame to frame."""

from typing import Any

from ..._core.kernel import kernel
from ...metric.oracle.step_kernels import climb, descend, reach


@kernel
def walk_rows(oracle: Any, rows: Any, cols: Any, trail: Any, view: Any, out: Any) -> None:
    """Write out[a, b], the distance between nodes rows[a] and cols[b]. O(N k) per row.

    Walks from the row's node up to the root, then down to all other nodes. `view[p]` is the
    position of the row's node in the frame of position p. `trail` (N,) int32 and `view` (N, k +
    2) are scratch.
    """
    position = oracle.position
    up = oracle.up
    turns = oracle.turns
    lengths = oracle.lengths
    decay = oracle.decay
    half = oracle.half
    n = len(up)
    dim = turns.shape[1]
    for a in range(len(rows)):
        p = position[rows[a]]
        steps = 0
        for c in range(dim + 2):
            view[p, c] = 0.0
        view[p, dim] = 1.0
        while p > 0:
            trail[steps] = p
            steps += 1
            above = up[p]
            for c in range(dim + 2):
                view[above, c] = view[p, c]
            climb(view, above, turns, p, lengths[p], decay[p], half[p])
            p = above
        # Positions on the trail are done. Every position between two of them has a parent that is
        # already done.
        begin = 1
        for step in range(steps - 1, -2, -1):
            end = trail[step] if step >= 0 else n
            for p in range(begin, end):
                descend(view, up[p], p, turns, p, lengths[p], decay[p], half[p])
            begin = end + 1
        for b in range(len(cols)):
            out[a, b] = oracle.unit[0] * reach(view, position[cols[b]])
