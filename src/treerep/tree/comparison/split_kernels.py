"""Compiled comparison of the splits of two trees."""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def _find_splits(up: Any, count: Any) -> Any:
    """Find the first edge of each chain that forms a split; -1 at the root and without points."""
    split = np.full(len(up), -1, np.int32)
    for k in range(1, len(up)):
        if count[k] > 0:
            split[k] = split[up[k]] if count[k] == count[up[k]] else k
    return split


@kernel
def match_splits(
    order: Any,
    up: Any,
    count: Any,
    other_order: Any,
    other_up: Any,
    other_count: Any,
    n_points: Any,
) -> Any:
    """Find the splits that two trees share, exactly and in linear time.

    The algorithm is that of Day (J. Classification 2, 1985). Both trees are in preorder from point
    0, so a split is the set of points below an edge. Number the points in the order of the first
    tree. The points below an edge of the first tree are then an interval. A set of points in the
    second tree is an interval if the difference of its largest and smallest number matches its
    size.

    `count` and `other_count` are the numbers of points below each position.

    Returns, for each tree, the position that represents the split of each position (-1 for none).
    Also returns, for each position of the second tree, the matching position of the first tree, or
    -1.
    """
    split = _find_splits(up, count)
    other_split = _find_splits(other_up, other_count)
    rank = np.empty(n_points, np.int32)
    first = np.empty(len(order), np.int32)
    # Each interval is stored at its right end if it is the longest with that end, and otherwise
    # at its left end. No two intervals of one tree then share an entry.
    by_right = np.full(n_points, -1, np.int32)
    by_left = np.full(n_points, -1, np.int32)
    met = 0
    for k in range(len(order)):
        first[k] = met
        if order[k] < n_points:
            rank[order[k]] = met
            met += 1
        if split[k] == k:
            last = first[k] + count[k] - 1
            if by_right[last] < 0:
                by_right[last] = k
            else:
                by_left[first[k]] = k
    smallest = np.full(len(other_order), n_points, np.int32)
    largest = np.full(len(other_order), -1, np.int32)
    match = np.full(len(other_order), -1, np.int32)
    for k in range(len(other_order) - 1, 0, -1):
        if other_order[k] < n_points:
            smallest[k] = min(smallest[k], rank[other_order[k]])
            largest[k] = max(largest[k], rank[other_order[k]])
        smallest[other_up[k]] = min(smallest[other_up[k]], smallest[k])
        largest[other_up[k]] = max(largest[other_up[k]], largest[k])
        if other_split[k] == k and largest[k] - smallest[k] + 1 == other_count[k]:
            for candidate in (by_right[largest[k]], by_left[smallest[k]]):
                if (
                    candidate >= 0
                    and first[candidate] == smallest[k]
                    and count[candidate] == other_count[k]
                ):
                    match[k] = candidate
    return split, other_split, match
