"""The tree from which minimum evolution on profiles starts: neighbor joining, in groups if there are many points."""

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ...metric.base import Metric
from ...tree.tree import Tree
from .._distances import checked_block, rounding_of
from ..joining._clusters import join_few

Edges = NDArray[np.int64]
Indices = NDArray[np.int64]

# Points that are joined with all their distances.
_JOINED = 2000
# Points of a larger set that the others are grouped around.
_CENTERS = 2000
# Distances read together.
_PAIRS = 1 << 21


def first_tree(metric: Metric, workers: Workers) -> tuple[Edges, NDArray[np.float64] | None]:
    """Return the edges of a tree whose leaves are the points. All other nodes have numbers from n on.

    Also return the lengths, if all points were joined and the tree has exactly their distances.

    Up to 2,000 points are joined. If there are more, 2,000 are joined, and the others are grouped
    around the nearest of these. The tree of each group takes the place of its center. A level of
    groups takes 2,000 n distances.
    """
    points = np.arange(len(metric))
    if len(points) > _JOINED:
        return _grouped(metric, points, workers), None
    matrix = checked_block(metric, points, points)
    edges, lengths = join_few(matrix.copy())
    tree = Tree(len(points), edges, lengths)
    error = np.abs(tree.block(points, points) - matrix).max()
    exact = error <= rounding_of(metric, float(matrix.max()))
    return edges.astype(np.int64), lengths if exact else None


def _tree(metric: Metric, points: Indices, workers: Workers | None = None) -> Edges:
    """Return the edges of a tree of some points, in which leaf k is point points[k]."""
    if len(points) > _JOINED:
        return _grouped(metric, points, workers)
    if len(points) > 2:
        return join_few(checked_block(metric, points, points))[0].astype(np.int64)
    return np.array([[0, 1]], np.int64)[: len(points) - 1]


def _grouped(metric: Metric, points: Indices, workers: Workers | None) -> Edges:
    """Return the tree of the centers, with the tree of each group in the place of its center."""
    # The order of the points may have a meaning, so evenly spaced points would not be a sample.
    drawn = np.random.default_rng(0).permutation(len(points))[:_CENTERS]
    centers = np.sort(drawn)
    groups = _groups(metric, points, centers, workers)
    apply = map if workers is None else workers.map
    trees = apply(lambda group: _tree(metric, points[group]), groups)
    edges = []
    tops = centers.copy()
    free = len(points)
    for k, (group, tree) in enumerate(zip(groups, trees, strict=True)):
        if len(group) == 1:
            continue
        # The top of the group divides the edge of its center.
        inner = len(tree) + 1 - len(group)
        tops[k] = free + inner
        named = np.concatenate([group, free + np.arange(inner)])[tree]
        named[named == centers[k]] = tops[k]
        edges += [named, np.array([[centers[k], tops[k]]])]
        free = tops[k] + 1
    tree = _tree(metric, points[centers])
    names = np.concatenate([tops, free + np.arange(len(tree) + 1 - len(tops))])
    return np.concatenate([*edges, names[tree]])


def _groups(metric: Metric, points: Indices, centers: Indices, workers: Workers | None) -> list[Indices]:
    """Return the points nearest to each center, as indices into `points`."""
    every = np.arange(len(points))
    pieces = np.array_split(every, -(-len(points) * len(centers) // _PAIRS))
    apply = map if workers is None else workers.map
    found = apply(
        lambda piece: _nearest(checked_block(metric, points[piece], points[centers]), piece),
        pieces,
    )
    nearest = np.concatenate(list(found))
    nearest[centers] = np.arange(len(centers))
    order = np.argsort(nearest, kind="stable")
    return np.split(order, np.searchsorted(nearest[order], np.arange(1, len(centers))))


def _nearest(block: NDArray[np.float64], rows: Indices) -> Indices:
    """Return the nearest column of each row. Rows take turns among equally near columns.

    Otherwise, all points of a set of equal points or equal distances would be in one group.
    """
    near = block == block.min(axis=1, keepdims=True)
    nearest: Indices = near.argmax(axis=1)
    several = np.flatnonzero(near.sum(axis=1) > 1)
    ties = near[several].cumsum(axis=1)
    turn = 1 + rows[several] % ties[:, -1]
    nearest[several] = (ties == turn[:, None]).argmax(axis=1)
    return nearest
