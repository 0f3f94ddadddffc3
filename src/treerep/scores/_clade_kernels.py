"""Lowest common ancestors of many pairs of positions of a tree in preorder, and sums over them."""

from typing import Any

import numpy as np

from .._core.kernel import kernel


@kernel
def meeting_positions(up: Any, first: Any, second: Any, order: Any, out: Any) -> None:
    """Write the lowest common ancestor of each pair of positions. O(N + m log N) for m pairs.

    In preorder, the lowest common ancestor of u < v is the smallest parent of the positions
    u+1 ... v. `order` sorts the pairs by `second`, and first <= second.
    """
    n = len(up)
    # The positions from which on the smallest parent, up to the current position, changes.
    starts = np.empty(n, np.int64)
    height = 0
    position = 0
    for pair in order:
        while position < second[pair]:
            position += 1
            while height > 0 and up[starts[height - 1]] >= up[position]:
                height -= 1
            starts[height] = position
            height += 1
        if first[pair] == second[pair]:
            out[pair] = first[pair]
            continue
        low = 0
        high = height - 1
        while low < high:  # find the first start after first[pair]
            middle = (low + high) // 2
            if starts[middle] <= first[pair]:
                low = middle + 1
            else:
                high = middle
        out[pair] = up[starts[low]]


@kernel
def class_shares(position: Any, ends: Any, meeting: Any, below: Any, out: Any) -> None:
    """Write, for each class, the sum over its pairs of its share below the pair's ancestor. O(n).

    The points of class c are from ends[c] to ends[c + 1], at ascending positions. meeting[i] is
    the lowest common ancestor of points i and i + 1 of the same class, and below[k] the number
    of points at or below position k.
    """
    # The ancestors of the current point at which points of the class meet, from the top down,
    # with the number of points of the class below them so far.
    nodes = np.empty(len(position) + 1, np.int64)
    counts = np.empty(len(position) + 1, np.int64)
    # Pairs that meet lower down.
    lower = np.empty(len(position) + 1, np.int64)
    for c in range(len(ends) - 1):
        total = 0.0
        height = 0
        for i in range(ends[c], ends[c + 1] + 1):
            is_last = i == ends[c + 1]
            meet = -1 if is_last or i == ends[c] else meeting[i - 1]
            # Ancestors below the meeting point have no more points of the class below them.
            while height > 0 and nodes[height - 1] > meet:
                height -= 1
                count = counts[height]
                pairs = count * (count - 1) // 2
                total += (pairs - lower[height]) * (count / below[nodes[height]])
                if height > 0 and nodes[height - 1] >= meet:
                    counts[height - 1] += count
                    lower[height - 1] += pairs
                elif meet >= 0:
                    nodes[height] = meet
                    counts[height] = count
                    lower[height] = pairs
                    height += 1
            if is_last:
                break
            if height == 0 or nodes[height - 1] != position[i]:
                nodes[height] = position[i]
                counts[height] = 0
                lower[height] = 0
                height += 1
            counts[height - 1] += 1
        out[c] = total


@kernel
def row_costs(similarity: Any, rows: Any, position: Any, up: Any, size: Any, below: Any, out: Any) -> None:
    """Write the cost of rows[a] and its similarity to all points to out[a]. O(N) per row.

    The cost is the sum of similarity[a, j] times the number of points at or below the lowest
    common ancestor of rows[a] and j.
    """
    shared = np.empty(len(up), np.int64)
    for a in range(len(rows)):
        own = position[rows[a]]
        for p in range(len(up)):
            is_ancestor = p <= own and own < p + size[p]
            shared[p] = below[p] if is_ancestor else shared[up[p]]
        cost = 0.0
        total = 0.0
        for j in range(len(position)):
            cost += similarity[a, j] * shared[position[j]]
            total += similarity[a, j]
        out[a, 0] = cost
        out[a, 1] = total
