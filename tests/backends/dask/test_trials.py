"""Trials on a Dask cluster: the tree of the threads, with its support, even if workers die."""

from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import pytest
from distributed import Client
from numpy.testing import assert_array_equal

import treerep as tr
from tests.backends.dask.local import Deadly
from tests.metrics import Table
from treerep.fitting._trials import EXACT_SCORES

POINTS = np.random.default_rng(0).normal(size=(80, 4))


def same(far: Any, near: Any) -> None:
    assert far == near
    assert far.labels == near.labels
    assert (far.support is None) == (near.support is None)
    if near.support is not None:
        assert_array_equal(far.support, near.support)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "treerep", "pivot": "closest"},
        {"method": "bartal", "draws": 3},
        {"method": "relaxed_neighbor_joining"},
        {"method": "low_stretch", "graph": "knn", "k": 5},
    ],
    ids=str,
)
def test_the_best_of_several_trials(client: Client, options: dict[str, Any]) -> None:
    near = tr.fit(POINTS, metric="euclidean", trials=5, rng=7, **options)
    same(tr.fit(POINTS, metric="euclidean", trials=5, rng=7, engine=client, **options), near)


def test_squared_distances(client: Client) -> None:
    near = tr.fit(POINTS, metric="sqeuclidean")
    same(tr.fit(POINTS, metric="sqeuclidean", engine=client), near)
    with pytest.raises(tr.MetricError, match="needs the triangle inequality"):
        tr.fit(POINTS, metric="sqeuclidean", method="treerep", engine=client)
    with pytest.raises(tr.MetricError, match=r"call compute\(\) on the dask array"):
        tr.fit(dask.array.from_array(POINTS), metric="sqeuclidean", engine=client)


def test_sequences(client: Client) -> None:
    sequences = tr.datasets.random_alignment(40, sites=200, depth=0.2).sequences
    metric = tr.SequenceMetric(sequences)
    same(tr.fit(metric, engine=client), tr.fit(metric))


def test_real_data(client: Client, data_folder: Path) -> None:
    mammals, worm = tr.datasets.sarich(), tr.datasets.load("celegans").metric
    same(
        tr.fit(mammals, trials=6, engine=client, method="treerep"),
        tr.fit(mammals, trials=6, method="treerep"),
    )
    same(
        tr.fit(worm, trials=3, rng=2, n_jobs=2, engine=client, method="treerep"),
        tr.fit(worm, trials=3, rng=2, method="treerep"),
    )


def test_many_points_are_compared_on_sampled_rows(client: Client) -> None:
    cells = tr.datasets.branching_cells(EXACT_SCORES + 100, dim=5).points
    near = tr.fit(cells, metric="euclidean", trials=3, method="treerep")
    same(tr.fit(cells, metric="euclidean", trials=3, engine=client, method="treerep"), near)


@pytest.mark.parametrize("trials", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(client: Client, n: int, trials: int) -> None:
    metric = tr.MatrixMetric(1.0 - np.eye(n), labels=["a'b", "<&>", "🌲"][:n])
    same(
        tr.fit(metric, trials=trials, engine=client, method="treerep"),
        tr.fit(metric, trials=trials, method="treerep"),
    )


@pytest.mark.parametrize("trials", [1, 3])
def test_a_generator_moves_on_as_on_threads(client: Client, trials: int) -> None:
    far, near = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(2):
        tree = tr.fit(POINTS, metric="euclidean", trials=trials, rng=near, method="treerep")
        same(
            tr.fit(
                POINTS,
                metric="euclidean",
                trials=trials,
                rng=far,
                engine=client,
                method="treerep",
            ),
            tree,
        )
    assert far.random() == near.random()


def test_an_error_of_a_worker_is_the_error(client: Client) -> None:
    distances = 1.0 - np.eye(6)
    distances[2, 4] = distances[4, 2] = -1
    with pytest.raises(
        tr.MetricError,
        match=r"^Table.block returned d\(2, 4\) = -1.0: distances must be finite and not",
    ):
        tr.fit(Table(distances), trials=2, method="low_stretch", engine=client)
    with pytest.raises(ValueError, match="upgma is not random, so all 2 trials would give the same tree"):
        tr.fit(distances, trials=2, method="upgma", engine=client)


def test_a_worker_dies(client: Client, tmp_path: Path) -> None:
    d = tr.PointMetric(POINTS).block(np.arange(80), np.arange(80))
    same(
        tr.fit(Deadly(d, tmp_path, 1), trials=4, engine=client, method="treerep"),
        tr.fit(Table(d), trials=4, method="treerep"),
    )
    assert not list(tmp_path.iterdir())


def test_a_consensus_of_trials(client: Client) -> None:
    options: dict[str, Any] = {"method": "treerep", "trials": 5, "keep": "greedy"}
    near = tr.fit(POINTS, metric="euclidean", **options)
    same(tr.fit(POINTS, metric="euclidean", engine=client, **options), near)


@pytest.mark.parametrize("method", ["treerep", "backbone", "neighbor_joining"])
def test_a_bootstrap(client: Client, method: str) -> None:
    near = tr.fit(POINTS, metric="euclidean", method=method, bootstrap=5)
    same(tr.fit(POINTS, metric="euclidean", method=method, bootstrap=5, engine=client), near)


def test_a_bootstrap_of_a_dask_array_is_refused(client: Client) -> None:
    dask_array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="data is a Dask array, but every worker needs all of it"):
        tr.fit(dask_array.from_array(POINTS), metric="euclidean", bootstrap=2, engine=client)
