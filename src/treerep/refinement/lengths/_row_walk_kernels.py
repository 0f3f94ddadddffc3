"""Kernels that walk over the rows of a distance matrix in the preorder of a tree.

The distance between the points i and j is leaf_depth[i] + far[j], with

    far[j] = leaf_depth[j] - 2 depth(lowest common ancestor of i and j).

From one row to the next, `far` changes only at columns near the rows in the tree: below the common
ancestor of both rows. In the same way, the slopes of a column are collected over several rows, as long
as their paths turn at the same node. All rows together climb each edge of the tree twice, and the
ranges that are written sum up to at most the sum of the depths. So a row of a deep tree, such as
a comb, is not cut into many short ranges.
"""

from typing import Any, NamedTuple

from ..._core.kernel import helper


class MeasuredSplits(NamedTuple):
    """A `SplitTree` with the depths that result from the lengths."""

    up: Any
    first: Any
    last: Any
    node: Any
    depth: Any  # depth of each node
    leaf_depth: Any  # depth[node]: depth of each point


class Slopes(NamedTuple):
    """Where slopes are added: at both ends of a path, and minus twice at its top."""

    pending: Any  # (n,) slopes of each column that have not been added yet
    start: int  # number of the first point in `at_point`
    at_point: Any
    at_node: Any


@helper
def range_sum(values: Any) -> float:
    """Return the sum of the values, in eight independent partial sums."""
    a = b = c = d = e = f = g = h = 0.0
    whole = len(values) // 8 * 8
    for j in range(0, whole, 8):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
        e += values[j + 4]
        f += values[j + 5]
        g += values[j + 6]
        h += values[j + 7]
    for j in range(whole, len(values)):
        a += values[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@helper
def enter_row(tree: MeasuredSplits, before: int, i: int, left: bool, far: Any) -> None:
    """Update `far` from row `before` to a later row i.

    before : -1 if there is no earlier row
    left : also update the columns before i
    """
    leaf_depth = tree.leaf_depth
    k = tree.node[i]
    begin = i
    end = i + 1
    while k >= 0:
        shared = tree.first[k] <= before
        twice = 2.0 * tree.depth[k]
        if left:
            for j in range(tree.first[k], begin):
                far[j] = leaf_depth[j] - twice
        if shared:  # the paths to later columns turn where they did before
            break
        for j in range(end, tree.last[k]):
            far[j] = leaf_depth[j] - twice
        begin = tree.first[k]
        end = tree.last[k]
        k = tree.up[k]


@helper
def _settle(slopes: Slopes, low: int, high: int, k: int) -> None:
    """Add the pending slopes of the columns low ... high - 1, whose paths turn at node k."""
    if low >= high:
        return
    slopes.at_node[k] -= 2.0 * range_sum(slopes.pending[low:high])
    for j in range(low, high):
        slopes.at_point[j - slopes.start] += slopes.pending[j]
        slopes.pending[j] = 0.0


@helper
def leave_row(tree: MeasuredSplits, i: int, after: int, left: bool, slopes: Slopes) -> None:
    """Add the pending slopes of columns whose paths will turn elsewhere in the row `after`.

    i : the row that was done; nothing is done if it is -1
    after : the next row, or the number of points if i is the last row
    """
    if i < 0:
        return
    k = tree.node[i]
    begin = i
    end = i + 1
    while k >= 0 and tree.last[k] <= after:
        if left:
            _settle(slopes, tree.first[k], begin, k)
        _settle(slopes, end, tree.last[k], k)
        begin = tree.first[k]
        end = tree.last[k]
        k = tree.up[k]
    if k >= 0:
        # Node k is also above the next row. Paths to the branch of that row turned at k.
        branch = tree.node[after]
        while tree.up[branch] != k:
            branch = tree.up[branch]
        _settle(slopes, tree.first[branch], tree.last[branch], k)
