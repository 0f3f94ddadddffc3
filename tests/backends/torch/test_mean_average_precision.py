import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import treerep as tr
from tests.backends.devices import DEVICE
from tests.metrics import Table
from tests.tree.strategies import trees
from treerep.backends.torch import _rectangles as torch_rectangles
from treerep.metric.base import MetricError

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

FIELDS = ("low", "high", "exact", "pairs", "basis")


def assert_same(approx, graph, **options):
    ours = tr.mean_average_precision(approx, graph, **options)
    theirs = tr.mean_average_precision(approx, graph, device=DEVICE, **options)
    assert float(theirs) == pytest.approx(float(ours), rel=1e-12)
    for name in FIELDS:
        one, two = getattr(ours, name), getattr(theirs, name)
        assert two == (pytest.approx(one, rel=1e-9) if isinstance(one, float) else one), name


def random_graph(n, rng, share):
    tree = nx.relabel_nodes(nx.path_graph(n), dict(enumerate(rng.permutation(n).tolist())))
    extra = np.argwhere(np.triu(rng.random((n, n)) < share, 1)).tolist()
    tree.add_edges_from(extra)
    return nx.to_scipy_sparse_array(tree, nodelist=range(n), format="csr", dtype=float)


def test_a_case_by_hand():
    path = csr_array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    found = tr.mean_average_precision(
        [[0, 2, 1], [2, 0, 1], [1, 1, 0]], path, device="cpu"
    )  # (1/2 + 1 + 1/2) / 3
    assert repr(found) == "0.6667 (all 3 points)"


@settings(max_examples=60)
@given(
    tree=trees(max_nodes=50, min_points=2),
    ties=st.sampled_from(["definition", "rank"]),
    rows=st.sampled_from(["all", 2, 10]),
    entries=st.sampled_from([100, 10**6]),
    seed=st.integers(0, 1000),
)
def test_trees_with_ties(tree, ties, rows, entries, seed):
    graph = random_graph(len(tree), np.random.default_rng(seed), 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_rectangles, "CPU_ENTRIES", entries)
        patch.setattr(torch_rectangles, "_SMALLEST_TILE", 4)
        assert_same(tree, graph, ties=ties, rows=rows, rng=seed)


@pytest.mark.parametrize("ties", ["definition", "rank"])
@pytest.mark.parametrize("kind", ["points", "matrix", "whole", "own"])
def test_other_distances(ties, kind):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(80, 3)) if kind != "whole" else rng.integers(0, 3, size=(80, 3)).astype(float)
    metric = tr.PointMetric(points, "manhattan" if kind == "whole" else "euclidean")
    if kind in ("matrix", "own"):
        every = np.arange(80)
        metric = {"matrix": tr.MatrixMetric, "own": Table}[kind](metric.block(every, every))
    assert_same(metric, random_graph(80, rng, 0.05), ties=ties)


def test_values_that_nearly_tie_chain_up():
    # Each within 1e-9 of the largest distance of the next one, the last not of the first.
    line = np.array([0.0, 1.0, 1.0 + 0.9e-9, 1.0 + 1.8e-9, 1.0 + 2.7e-9, -1.0 - 3.6e-9])
    d = np.abs(line[:, None] - line)
    for ties in ("definition", "rank"):
        assert_same(tr.MatrixMetric(d), random_graph(6, np.random.default_rng(0), 0.5), ties=ties)


def test_without_edges_and_with_bad_distances():
    d = np.ones((4, 4)) - np.eye(4)
    d[1, 3] = d[3, 1] = np.inf
    with pytest.raises(MetricError, match=r"approx has d\(1, 3\) = inf"):
        tr.mean_average_precision(Table(d), random_graph(4, np.random.default_rng(0), 0.0), device="cpu")
    with pytest.raises(TypeError, match="needs a graph"):
        tr.mean_average_precision(
            tr.MatrixMetric(np.zeros((1, 1))), tr.MatrixMetric(np.zeros((1, 1))), device="cpu"
        )
