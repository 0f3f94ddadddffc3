"""Refinement with passes on a Dask cluster: the tree of the threads, bit for bit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client

import treerep as tr
from tests.backends.dask.local import Deadly
from tests.metrics import Table
from treerep.backends.dask.runner import Spread
from treerep.refinement.lengths.weights import fit_weights
from treerep.refinement.refine import WEIGHTS

POINTS = np.random.default_rng(0).normal(size=(1000, 4))


class Counting(Spread):
    """A Spread that counts what it was asked for."""

    calls = 0

    def map(self, *given: Any) -> Iterator[Any]:
        self.calls += 1
        return super().map(*given)


def same(far: tr.Tree, near: tr.Tree) -> None:
    assert far == near
    assert far.refinement._replace(seconds=0) == near.refinement._replace(seconds=0)


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_small_tree_with_all_weights(client: Client, weights: Any, moves: bool) -> None:
    mammals = tr.datasets.sarich()
    tree = tr.fit(mammals, method="treerep")
    near = tr.refine(tree, mammals, weights=weights, moves=moves, balance=0.2)
    same(tr.refine(tree, mammals, weights=weights, moves=moves, balance=0.2, engine=client), near)


def test_passes_over_many_blocks(client: Client) -> None:
    tree = tr.fit(POINTS, metric="euclidean", method="treerep")
    near = tr.refine(tree, POINTS, metric="euclidean", weights="l2", moves=False)
    same(
        tr.refine(tree, POINTS, metric="euclidean", weights="l2", moves=False, engine=client),
        near,
    )
    assert near.refinement.objective < near.refinement.objective_before


@pytest.mark.parametrize("rows", ["all", 600])
def test_it_is_the_workers_who_make_the_passes(client: Client, rows: Any) -> None:
    metric, runner = tr.PointMetric(POINTS), Counting(client)
    tree = tr.fit(metric, method="treerep")
    far, near = (
        fit_weights(tree, metric, rows=rows, runner=runner),
        fit_weights(tree, metric, rows=rows),
    )
    assert far.tree == near.tree
    assert far[1:] == near[1:]
    assert runner.calls >= 2
    weighted = fit_weights(tree, metric, rows=600, power=2.0, runner=runner).value, runner.calls
    assert weighted == (fit_weights(tree, metric, rows=600, power=2.0).value, runner.calls)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(client: Client, n: int) -> None:
    d = 1.0 - np.eye(n)
    tree = tr.fit(2 * d, method="treerep")
    same(tr.refine(tree, d, weights="l2", engine=client), tr.refine(tree, d, weights="l2"))


def test_dask_arrays_are_refused_with_the_remedy(client: Client) -> None:
    import dask.array as da

    with pytest.raises(
        TypeError,
        match="^data is a Dask array, but every worker needs all of it: pass PointMetric",
    ):
        tr.refine(
            tr.fit(np.zeros((2, 2)), method="treerep"),
            da.zeros((2, 3)),
            metric="euclidean",
            engine=client,
        )


def test_a_worker_dies(client: Client, tmp_path: Path) -> None:
    metric = tr.PointMetric(POINTS)
    d = metric.block(np.arange(1000), np.arange(1000))
    tree = tr.fit(metric, method="treerep")
    far = fit_weights(tree, Deadly(d, tmp_path, 1), runner=Spread(client))
    assert far.tree == fit_weights(tree, Table(d)).tree
    assert not list(tmp_path.iterdir())
