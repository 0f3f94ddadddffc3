"""Oracles behind an address: the same bits and errors as the oracle itself, in kernels compiled once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import treerep as tr
from treerep.metric.base import read_only
from treerep.metric.oracle import called as called_module
from treerep.metric.oracle.called import called, called_if_slow
from treerep.metric.oracle.classes import CalledOracle, HubOracle, MatrixOracle
from treerep.metric.oracle.distance_kernels import pair_distances

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((40, 11))
TREE = tr.datasets.random_tree(40, rng=1)
METRICS = {
    "float64 matrix": lambda: tr.MatrixMetric(TREE.distances()),
    "uint8 matrix": lambda: tr.MatrixMetric(np.rint(TREE.distances()).astype(np.uint8)),
    "float32 points": lambda: tr.PointMetric(POINTS.astype(np.float32)),
    "cosine": lambda: tr.PointMetric(POINTS, "cosine"),
    "tree": lambda: TREE,
    "frames": lambda: tr.embed(TREE),
    "graph": lambda: tr.GraphMetric(TREE.edges, weights=TREE.weights),
    "weighted characters": lambda: tr.CharacterMetric(RNG.integers(0, 9, (40, 7)), weights=range(1, 8)),
}


def indices(count: int, n: int) -> Any:
    return read_only(np.random.default_rng(count).integers(0, n, count))


@pytest.mark.parametrize("make", METRICS.values(), ids=METRICS)
def test_distances_have_the_bits_of_the_oracle(make: Any) -> None:
    metric = make()
    oracle = metric.oracle
    i = indices(200, len(metric))
    j = read_only(i[::-1].copy())
    out = np.empty(len(i))
    pair_distances(called(oracle), i, j, out)
    assert_array_equal(out, metric.pairs(i, j))


def test_one_compiled_kernel_serves_all_metrics() -> None:
    metrics = [METRICS[name]() for name in ("tree", "graph", "cosine")]
    one = read_only(np.array([1]))
    for metric in metrics:
        pair_distances(called(metric.oracle), one, one, np.empty(1))
    types = {signature for signature in pair_distances.signatures if "CalledOracle" in str(signature)}
    assert len(types) == 1


def test_errors_come_through() -> None:
    metric = tr.CharacterMetric([[1, -1], [-1, 2], [1, 2]], labels="abc")
    first, second = (read_only(np.array([k])) for k in (0, 1))
    with pytest.raises(tr.MetricError, match="'a' and 'b' have no known locus in common"):
        pair_distances(called(metric.oracle), first, second, np.empty(1))
    with pytest.raises(tr.MetricError, match="no known locus in common"):
        tr.fit(metric, method="treerep")


def test_fast_distances_are_not_called() -> None:
    fast = MatrixOracle(read_only(np.zeros((2, 2))))
    assert called_if_slow(fast) is fast
    graph = METRICS["graph"]()
    assert isinstance(graph.oracle, HubOracle)
    assert isinstance(called_if_slow(graph.oracle), CalledOracle)


def test_threads_share_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(called_module, "_functions", {})
    oracle = METRICS["tree"]().oracle
    with ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(lambda _: called(oracle).table.tolist(), range(8)))
    assert all(table == tables[0] for table in tables)
    assert len(called_module._functions) == 1


def test_nothing_is_copied() -> None:
    large = MatrixOracle(read_only(np.zeros((3, 3))))
    assert called(large).table[1] == large.distances.__array_interface__["data"][0]
