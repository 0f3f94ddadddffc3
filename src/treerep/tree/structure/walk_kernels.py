"""Compiled walks: the distances from one node to all others."""

from typing import Any

from ..._core.kernel import kernel


@kernel
def walk_rows(up: Any, length: Any, rows: Any, cols: Any, trail: Any, distance: Any, out: Any) -> None:
    """Write out[a, b] = distance between the nodes at positions rows[a] and cols[b]. O(N) per row.

    Walk from the row's node up to the root, then down everywhere else, and add one edge at a
    time. Lengths are only added, so nothing cancels. `trail` (N,) int32 and `distance` (N,)
    float64 are scratch.
    """
    n = len(up)
    for a in range(len(rows)):
        k = rows[a]
        steps = 0
        distance[k] = 0.0
        while k > 0:
            trail[steps] = k
            steps += 1
            distance[up[k]] = distance[k] + length[k]
            k = up[k]
        # Positions on the trail are known. Every position between two of them has a parent that is
        # already known.
        begin = 1
        for step in range(steps - 1, -2, -1):
            end = trail[step] if step >= 0 else n
            for k in range(begin, end):
                distance[k] = distance[up[k]] + length[k]
            begin = end + 1
        for b in range(len(cols)):
            out[a, b] = distance[cols[b]]
