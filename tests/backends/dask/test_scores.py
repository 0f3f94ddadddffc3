"""Scores from a Dask cluster: those of the threads, bit for bit, even if workers die."""

import os
import time
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest
from distributed import Client
from scipy.sparse import csr_array

import treerep as tr
from tests.backends.dask.local import Deadly
from tests.metrics import Table
from treerep.backends.dask.runner import Spread
from treerep.scores._streaming import triangle_slices
from treerep.scores.score import Score

POINTS = tr.PointMetric(np.random.default_rng(0).normal(size=(1500, 5)))


def fields(score: Score) -> dict[str, Any]:
    return {"value": float(score), **{name: getattr(score, name) for name in score.__slots__}}


@pytest.mark.parametrize("rows", [None, 40], ids=["all", "sampled"])
@pytest.mark.parametrize("scale", ["none", "optimal"])
def test_distortion_is_that_of_threads(client: Client, scale: Any, rows: int | None) -> None:
    tree = tr.fit(POINTS, method="treerep")
    far = tr.average_distortion(tree, POINTS, scale=scale, rows=rows, rng=3, engine=client)
    assert fields(far) == fields(tr.average_distortion(tree, POINTS, scale=scale, rows=rows, rng=3))
    assert far.exact == (rows is None)


def test_points_are_matched_by_label(client: Client) -> None:
    names = [f"p{i}" for i in range(200)]
    data = tr.PointMetric(POINTS.points[:200], labels=names)
    tree = tr.fit(data, method="treerep")
    shuffled = tree.restrict(np.random.default_rng(1).permutation(200))
    text = tr.Tree.from_newick(tree.newick(7))
    expected = float(tr.average_distortion(tree, data))
    for approx in (shuffled, text, tr.embed(shuffled)):
        far = tr.average_distortion(approx, data, engine=client)
        assert float(far) == float(tr.average_distortion(approx, data))
        assert float(far) == pytest.approx(expected, rel=0.2)
    better = tr.refine(text, data, weights="l2", moves=False, engine=client)
    assert (better.labels, better.order_known) == (data.labels, True)
    with pytest.raises(
        ValueError,
        match="approx has labels in the order of a text file, and truth has no labels",
    ):
        tr.average_distortion(text, tr.PointMetric(data.points), engine=client)


def test_there_is_more_than_one_block_and_more_than_one_worker(client: Client) -> None:
    assert len(list(triangle_slices(len(POINTS)))) > 2
    assert len(set(Spread(client).map(_place, 0, range(20)))) == 2


def _place(_: int, __: int) -> int:
    time.sleep(0.05)
    return os.getpid()


@pytest.mark.parametrize("rows", [None, 300], ids=["all", "sampled"])
@pytest.mark.parametrize("ties", ["definition", "rank"])
def test_precision_is_that_of_threads(client: Client, data_folder: Path, ties: Any, rows: int | None) -> None:
    graph = tr.datasets.load("celegans").metric
    tree = tr.fit(graph, method="treerep")
    far = tr.mean_average_precision(tree, graph, ties=ties, rows=rows, rng=1, engine=client)
    assert fields(far) == fields(tr.mean_average_precision(tree, graph, ties=ties, rows=rows, rng=1))
    assert tr.average_distortion(tree, graph, engine=client) == tr.average_distortion(tree, graph)


def test_a_matrix_with_labels(client: Client) -> None:
    mammals = tr.datasets.sarich()
    tree = tr.fit(mammals, method="treerep")
    assert fields(tr.average_distortion(tree, mammals, engine=client)) == fields(
        tr.average_distortion(tree, mammals)
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(client: Client, n: int) -> None:
    distances, path = 1.0 - np.eye(n), csr_array(np.eye(n, k=1) + np.eye(n, k=-1))
    assert fields(tr.average_distortion(2 * distances, distances, engine=client)) == fields(
        tr.average_distortion(2 * distances, distances)
    )
    if n > 1:
        assert tr.mean_average_precision(distances, path, engine=client) == tr.mean_average_precision(
            distances, path
        )


def test_pairs_at_distance_0_are_skipped(client: Client) -> None:
    points = tr.PointMetric(np.repeat(POINTS.points[:300], 2, axis=0))
    far = tr.average_distortion(tr.fit(points, method="treerep"), points, engine=client)
    assert far.skipped == 300
    assert fields(far) == fields(tr.average_distortion(tr.fit(points, method="treerep"), points))


def test_the_current_client(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "LocalCluster", None)
    with client.as_current():
        assert tr.average_distortion(POINTS, POINTS, engine="dask") == 0


def test_an_error_of_a_worker_is_the_error(client: Client) -> None:
    distances = 1.0 - np.eye(6)
    distances[2, 4] = distances[4, 2] = np.nan
    with pytest.raises(
        tr.MetricError,
        match=r"^approx has d\(2, 4\) = nan: distances must be finite, and true",
    ):
        tr.average_distortion(Table(distances), 1.0 - np.eye(6), engine=client)
    with pytest.raises(tr.MetricError, match=r"^approx has d\(2, 4\) = nan: scores need finite distances$"):
        tr.mean_average_precision(Table(distances), csr_array(np.ones((6, 6)) - np.eye(6)), engine=client)


def test_errors_of_arguments_come_before_any_work(client: Client) -> None:
    with pytest.raises(ValueError, match="approx has 2 points and truth has 3"):
        tr.average_distortion(np.zeros((2, 2)), np.zeros((3, 3)), engine=client)


def test_dask_arrays_are_refused_with_the_remedy(client: Client) -> None:
    import dask.array as da

    points = da.from_array(POINTS.points, chunks=100)
    with pytest.raises(
        TypeError,
        match=r"truth is a Dask array, .*: pass PointMetric\(truth\.compute\(\), 'eucl",
    ):
        tr.average_distortion(POINTS, points, engine=client)


@pytest.mark.parametrize("deaths", [1, 2], ids=["a worker", "all workers"])
def test_workers_die(client: Client, tmp_path: Path, deaths: int) -> None:
    d = POINTS.block(np.arange(1500), np.arange(1500))
    tree = tr.fit(d, method="treerep")
    score = tr.average_distortion(tree, d, scale="optimal")
    truth = Deadly(d, tmp_path, deaths)
    assert fields(tr.average_distortion(tree, truth, scale="optimal", engine=client)) == fields(score)
    assert not list(tmp_path.iterdir())
