"""Compiled search for the best edge to cut in a part of a tree."""

from typing import Any

from ..._core.kernel import kernel


@kernel
def best_cut(
    part: Any,
    up: Any,
    length: Any,
    is_point: Any,
    count: Any,
    below: Any,
    beyond: Any,
    carry: Any,
) -> Any:
    """Find the edge of a connected part of a tree whose removal lowers Ward's objective most.

    O(len(part)).

    The square roots of path lengths are Euclidean distances in which edges are orthogonal
    directions. Let edge (u, v) have a and b of the m points on its two sides. Cutting it lowers
    the objective by

        (a b / m) |centroid - centroid'|^2 = (a b / m) (length + below / a^2 + beyond / b^2),

    where below = sum over edges under v of length * (points under it)^2 = a^2 |v - centroid of
    v's side|^2, and beyond is the same from u on the other side. All terms are positive, so
    nothing cancels.

    Parameters
    ----------
    part : positions of the part, ascending
    up, length, is_point : the tree by position
    count, below, beyond, carry : (N,) float64, scratch

    Returns the decrease and the position below the edge; -1 if no edge has points on both
    sides. The first edge in preorder wins a tie.
    """
    for k in part:
        count[k] = is_point[k]
        below[k] = 0.0
    for i in range(len(part) - 1, 0, -1):
        k = part[i]
        p = up[k]
        count[p] += count[k]
        beyond[k] = below[p]  # the siblings after k; the next pass adds the siblings before k
        below[p] += below[k] + length[k] * count[k] * count[k]
    total = count[part[0]]
    carry[part[0]] = 0.0
    best = -1.0
    where = -1
    for i in range(1, len(part)):
        k = part[i]
        p = up[k]
        inside = count[k]
        outside = total - count[k]
        beyond[k] += carry[p]
        carry[p] += below[k] + length[k] * inside * inside
        carry[k] = beyond[k] + length[k] * outside * outside
        if inside > 0 and outside > 0:
            fall = (
                inside * outside * length[k] + below[k] * outside / inside + beyond[k] * inside / outside
            ) / total
            if fall > best:
                best = fall
                where = k
    return best, where
