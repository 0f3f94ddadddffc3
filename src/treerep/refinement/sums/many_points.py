"""Sums of trees for many points: the sum of a sample, with all other points placed in its trees.

A point is placed in one tree after the other, where it best fits the distances to the sample that the
other trees leave. Then the lengths of all trees are fitted together to some rows of distances. No
array has n x n entries.
"""

import math
from typing import NamedTuple

import numpy as np

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...fitting._distances import checked_block
from ...metric.base import Metric, read_only
from ...placement._attach import attach
from ...placement._least_squares_places import place_rows, rooted_backbone
from ...placement._locate import Indices, Numbers, Places, distances_from
from ...scores._sampling import sample_rows
from ...tree.structure.canonical import canonical_edges
from ...tree.tree import Tree
from ...tree.tree_sum import TreeSum
from .weights import fit_sum_weights

# Passes over the trees for each point. A third pass changes few places.
_PASSES = 3
# Points that are placed together.
_TOGETHER = 128
# Rows to which the lengths are fitted.
_ROWS = 256


class Sample(NamedTuple):
    """Some points of a metric, and the sum of trees fitted to them."""

    points: Indices
    trees: tuple[Tree, ...]


def place_all(
    sample: Sample,
    metric: Metric,
    rng: np.random.Generator,
    workers: Workers,
    deadline: float,
) -> TreeSum:
    """Return the sum of trees of all points of the metric. O(n m) for a sample of m points."""
    places = _find_places(sample, metric, workers)
    rest = np.delete(np.arange(len(metric)), sample.points)
    # Point i of the data is point order[i] of the trees, where the sample comes first.
    order = np.argsort(np.concatenate([sample.points, rest]))
    trees = [
        _attached(tree, own, order, metric, workers) for tree, own in zip(sample.trees, places, strict=True)
    ]
    rows = sample_rows(len(metric), _ROWS, rng, len(metric))
    fitted = fit_sum_weights(trees, metric, workers, sample=rows, deadline=deadline)
    contracted = TreeSum(tree.contracted() for tree in fitted.trees)
    return contracted._with_points(metric.labels, metric.order_known)


def _find_places(sample: Sample, metric: Metric, workers: Workers) -> list[Places]:
    """Return the places of all points outside the sample, in each tree."""
    rest = np.delete(np.arange(len(metric)), sample.points)
    count = len(rest)
    found = [Places(np.empty(count, np.int64), np.empty(count), np.empty(count)) for _ in sample.trees]
    # In units of about the largest distance, squares neither overflow nor underflow.
    largest = max(float(tree.weights.max(initial=0.0)) for tree in sample.trees)
    unit = math.ldexp(1.0, math.frexp(largest)[1])
    trees = tuple(tree.with_weights(tree.weights / unit) for tree in sample.trees)
    means = np.array([tree.distances(n_jobs=workers.jobs).mean() for tree in trees])
    shares = means / means.sum()

    def work(start: int) -> int:
        stop = min(start + _TOGETHER, count)
        distances = checked_block(metric, rest[start:stop], sample.points) / unit
        placed = _place_block(trees, shares, distances)
        for own, places in zip(placed, found, strict=True):
            places.node[start:stop] = own.node
            places.above[start:stop] = own.above * unit
            places.height[start:stop] = own.height * unit
        return stop - start

    with progress_bar(count, "placing", "points") as bar:
        for done in workers.map(work, range(0, count, _TOGETHER)):
            bar.update(done)
            workers.check()
    return found


def _place_block(trees: tuple[Tree, ...], shares: Numbers, distances: Numbers) -> list[Places]:
    """Return the places of some points, given their distances to the sample.

    At first, every tree is assumed to have the same share of all distances.
    """
    count, m = distances.shape
    points = np.arange(m)
    parts = [share * distances for share in shares]
    total = np.sum(parts, axis=0)
    places = [Places(np.empty(count, np.int64), np.empty(count), np.empty(count)) for _ in trees]
    # Squared errors are not weighted, because the distances that are left may be negative.
    backbones = [rooted_backbone(tree, 0.0) for tree in trees]
    for _ in range(_PASSES):
        for t, tree in enumerate(trees):
            left = distances - (total - parts[t])
            place_rows(*backbones[t], read_only(left), places[t])
            part = distances_from(tree, places[t], points)
            total += part - parts[t]
            parts[t] = part
    return places


def _attached(tree: Tree, places: Places, order: Indices, metric: Metric, workers: Workers) -> Tree:
    """Return a tree of all points, in the order of the data."""
    edges, weights = attach(tree, places, None, 0.0, workers)
    n = len(metric)
    grown = Tree._trusted(n, *canonical_edges(n, edges, weights))
    return grown._in_order(order, metric.labels, metric.order_known)
