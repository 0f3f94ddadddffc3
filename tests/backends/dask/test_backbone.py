"""Backbone trees on a Dask cluster are those of one machine, bit for bit."""

from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests import trees
from treerep.backends.dask import backbone as dask_backbone
from treerep.refinement.backbone import _branches as branches
from treerep.refinement.backbone import build as backbone
from treerep.refinement.backbone._limits import Limits

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

CLUSTER = {"threads": 2, "processes": False}  # four blocks


@pytest.fixture
def small_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few points make zones that are split and many tasks, and no fit of lengths hides where they were placed."""
    monkeypatch.setattr(branches, "LARGEST", 32)
    monkeypatch.setattr(branches, "CENTERS", 8)
    monkeypatch.setattr(dask_backbone, "_BATCH", 100)
    monkeypatch.setattr(dask_backbone, "_CHUNK", 60)
    monkeypatch.setattr(backbone, "LIMITS", Limits(fitted_points=0))


def assert_same(client: Any, data: Any, size: int, **options: Any) -> None:
    whole = data.compute() if hasattr(data, "compute") else data
    expected = tr.fit(whole, method="backbone", size=size, **options)
    found = tr.fit(data, method="backbone", size=size, engine=client, **options)
    trees.assert_same(found, expected)


@pytest.mark.usefixtures("small_zones")
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "poincare"])
def test_points_give_the_same_tree(client: Any, metric: str) -> None:
    points = np.random.default_rng(0).normal(size=(600, 7))
    if metric == "poincare":
        points /= 2 * np.sqrt(1 + (points**2).sum(axis=1, keepdims=True))
    assert_same(client, points, 20, metric=metric, rng=1)
    assert_same(client, da.from_array(points, chunks=(130, 7)), 20, metric=metric, rng=2)


@pytest.mark.usefixtures("small_zones")
def test_duplicates_are_together(client: Any) -> None:
    rng = np.random.default_rng(3)
    assert_same(client, np.round(rng.normal(size=(600, 2)) * 1.5), 12, metric="manhattan", rng=3)
    heap = np.zeros((300, 3))  # more in one place than a zone holds
    heap[:40] = rng.normal(size=(40, 3))
    assert_same(client, rng.permutation(heap), 10, metric="euclidean", rng=1)


def test_lengths_are_fitted_and_a_generator_moves_on(client: Any) -> None:
    points, here, there = (
        np.random.default_rng(0).normal(size=(300, 5)),
        *map(np.random.default_rng, (7, 7)),
    )
    ours = tr.fit(points, metric="euclidean", method="backbone", size=30, rng=here)
    theirs = tr.fit(points, metric="euclidean", method="backbone", size=30, rng=there, engine=client)
    assert ours == theirs
    assert here.integers(1 << 40) == there.integers(1 << 40)


def test_exact_trees_are_recovered(client: Any) -> None:
    line = np.cumsum(np.random.default_rng(0).random(400))[:, None]
    tree = tr.fit(line, metric="euclidean", method="backbone", size=30, rng=1, engine=client)
    np.testing.assert_allclose(tree.distances(), np.abs(line - line.T), rtol=1e-9, atol=1e-9)
    assert_same(client, line, 30, metric="euclidean", rng=1)


def test_a_sample_that_is_exact_does_not_make_the_tree_exact(client: Any) -> None:
    # Three points are always those of a tree, and these many are not.
    assert_same(client, np.random.default_rng(0).normal(size=(200, 4)), 3, metric="euclidean", rng=1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_few_points(client: Any, n: int) -> None:
    assert_same(client, np.random.default_rng(n).normal(size=(n, 2)), 4, metric="euclidean", rng=0)


def test_labels_other_data_and_trials(client: Any) -> None:
    points = np.random.default_rng(0).normal(size=(120, 4))
    assert_same(client, tr.PointMetric(points, labels=[f"cell {k}" for k in range(120)]), 20, rng=1)
    assert_same(client, tr.MatrixMetric(tr.PointMetric(points).block(range(120), range(120))), 20, rng=1)
    assert_same(client, points, 20, metric="euclidean", trials=2, rng=1)


def test_bad_requests(client: Any) -> None:
    points = da.zeros((50, 3), chunks=(10, 3))
    with pytest.raises(ValueError, match="trials=2 needs all points in one place"):
        tr.fit(points, metric="euclidean", method="backbone", trials=2, engine=client)
    with pytest.raises(ValueError, match="at least 3, got 2"):
        tr.fit(points, metric="euclidean", method="backbone", size=2, engine=client)
    bad = np.zeros((50, 3))
    bad[44, 1] = np.nan
    with pytest.raises(tr.MetricError, match="coordinate 1 of point 44 is nan"):
        tr.fit(
            da.from_array(bad, chunks=(10, 3)),
            metric="euclidean",
            method="backbone",
            engine=client,
        )


def test_nothing_stays_with_the_workers(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("lost on the way")

    monkeypatch.setattr(branches, "put_together", fail)
    with pytest.raises(RuntimeError, match="lost on the way"):
        tr.fit(
            np.random.default_rng(0).normal(size=(200, 4)),
            metric="euclidean",
            method="backbone",
            size=20,
            engine=client,
        )
    client.run_on_scheduler(lambda: None)
    for _ in range(100):
        if not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            break
    assert not client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
