"""Neighborhoods in the surroundings of points: loss by definition, gradient by differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import treerep as tr
from treerep._core.parallel import Workers
from treerep.refinement.lengths import _nearby
from treerep.refinement.lengths._nearby import Nearby
from treerep.refinement.lengths._neighborhoods import Neighborhoods, neighbor_graph
from treerep.refinement.lengths._splits import find_tree_splits, gather


def problem(n, size, monkeypatch, rng=0):
    monkeypatch.setattr(_nearby, "_SIZE", size)
    points = tr.PointMetric(np.random.default_rng(rng).normal(size=(n, 3)))
    tree = tr.fit(points, balance=0.0, rng=rng)
    splits = find_tree_splits(tree)
    with Workers(1) as workers:
        return points, tree, splits, Nearby(points, splits, 1.0, workers)


def test_loss_by_definition(monkeypatch):
    points, tree, splits, near = problem(80, 12, monkeypatch)
    order = splits.points
    d = points.block(order, order)
    x = tree.block(order, order)
    total = 0.0
    for v in range(80):
        low, high = near.windows[:, v]
        others = np.setdiff1d(np.arange(low, high), [v])
        assert low <= v < high and len(others) <= 24
        nearest = others[np.argsort(d[v, others], kind="stable")[:10]]
        precision = [
            (x[v, nearest] <= x[v, u] + 1e-8).sum() / (x[v, others] <= x[v, u] + 1e-8).sum() for u in nearest
        ]
        total += 1 - np.mean(precision)
    assert_allclose(near.loss(gather(splits, tree.weights)), total / 80, rtol=1e-12)


def test_large_surroundings_are_all_points(monkeypatch):
    points, tree, splits, near = problem(60, 1000, monkeypatch)
    length = gather(splits, tree.weights)
    assert (near.windows[0] == 0).all() and (near.windows[1] == 60).all()
    # The graph of ten nearest points is symmetric, and the neighbors here are not.
    graph = neighbor_graph(points).toarray() > 0
    for v in range(60):
        own = splits.points[near.neighbors[v]]
        assert graph[splits.points[v], own].all()
    with Workers(1) as workers:
        full = Neighborhoods(neighbor_graph(points), splits, 1.0, workers)
    assert abs(near.loss(length) - full.loss(length)) < 0.2


@pytest.mark.parametrize("size", [12, 1000])
def test_gradient_by_differences(size, monkeypatch):
    _, tree, splits, near = problem(50, size, monkeypatch)
    length = gather(splits, tree.weights) + 0.05
    length[0] = 0.0
    width = 0.5
    _, gradient = near.smooth_loss(length, width)
    rng = np.random.default_rng(0)
    for k in rng.choice(np.arange(1, len(length)), 12, replace=False):
        ends = []
        for step in (-1e-6, 1e-6):
            moved = length.copy()
            moved[k] += step
            ends.append(near.smooth_loss(moved, width)[0])
        assert_allclose(gradient[k], (ends[1] - ends[0]) / 2e-6, rtol=1e-4, atol=1e-6)
