"""Graphs given as arrays where distances are expected."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import treerep as tr
from tests.formats.files import read
from treerep.metric import _graph_arrays
from treerep.metric.base import MetricError

KARATE = nx.karate_club_graph()
WEIGHTED = nx.to_numpy_array(KARATE)
ADJACENCY = nx.to_numpy_array(KARATE, weight=None)
TWINS = nx.to_numpy_array(nx.compose(nx.star_graph(200), nx.path_graph([199, 200])))


@pytest.mark.parametrize(
    "array",
    [
        ADJACENCY,
        ADJACENCY.astype(bool),
        ADJACENCY.astype(np.uint8),
        ADJACENCY.tolist(),
        WEIGHTED,
        TWINS,
        nx.to_numpy_array(nx.gn_graph(20, seed=0)),  # directed
        nx.to_pandas_adjacency(nx.path_graph(4)),
    ],
)
def test_adjacency_matrices_are_named(array):
    remedy = "for a graph pass scipy.sparse.csr_array(A), for distances add metric='precomputed'"
    with pytest.raises(MetricError, match=f"adjacency matrix.*{re.escape(remedy)}"):
        tr.fit(array)


def test_distances_of_an_outbreak_are_distances():
    # Most genomes are equal, and unknown sites make some distances violate the triangle inequality.
    rng = np.random.default_rng(1)
    genomes = np.repeat(rng.integers(0, 2, (1, 40)), 60, axis=0)
    for clone in range(1, 4):
        genomes[10 * clone : 10 * clone + 4, rng.permutation(40)[:3]] ^= 1
    known = rng.random(genomes.shape) < 0.8
    both = known[:, None] & known
    distances = ((genomes[:, None] != genomes) & both).sum(axis=2)
    assert (distances == 0).mean() > 0.5
    assert (distances[:, None] > distances[:, :, None] + distances).any()
    assert isinstance(tr.as_metric(distances), tr.MatrixMetric)


def test_the_remedies_work():
    distances = nx.floyd_warshall_numpy(KARATE, weight=None)
    graph = tr.as_metric(csr_array(ADJACENCY))
    np.testing.assert_array_equal(graph.block(range(34), range(34)), distances)
    stated = tr.as_metric(ADJACENCY, metric="precomputed")
    assert isinstance(stated, tr.MatrixMetric)


def test_metrics_are_distances():
    rng = np.random.default_rng(0)
    binary = rng.integers(0, 2, (40, 5))
    many = rng.integers(0, 2, (300, 1))
    # Most distances are 0.
    rare = np.where(np.arange(100) < 95, 0.0, np.arange(100))[:, None] * 0.1
    for metric in (
        1 - np.eye(5),
        np.zeros((4, 4)),
        (binary[:, None] != binary).mean(axis=2),
        (many[:, None] != many).mean(axis=2),
        np.abs(rare - rare.T),
        # Rounding makes the rows of equal points differ.
        np.abs(rare - rare.T) * (1 + 1e-12 * np.triu(np.ones((100, 100)))),
    ):
        assert len(tr.as_metric(metric)) == len(metric)


@pytest.mark.parametrize("seed", range(200))
def test_the_rule_for_0_and_1_is_the_triangle_inequality(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 7)
    upper = np.triu(rng.integers(0, 2, (n, n)), 1)
    array = upper + upper.T
    holds = (array[:, :, None] <= array[:, None] + array[None]).all()
    try:
        tr.as_metric(array)
    except MetricError:
        assert not holds
    else:
        assert holds


def test_adjacency_matrices_on_disk_are_named(tmp_path, monkeypatch):
    path = tmp_path / "a.npy"
    np.save(path, nx.to_numpy_array(nx.cycle_graph(300)))
    monkeypatch.setattr("treerep.metric.disk.mapped.LARGE", 1000)
    with pytest.raises(MetricError, match="adjacency matrix"):
        tr.as_metric(np.load(path, mmap_mode="r"))


@pytest.mark.parametrize("labels", [False, True])
def test_adjacency_matrices_in_files_are_named(tmp_path, labels):
    frame = pd.DataFrame(ADJACENCY.astype(int))
    text = frame.to_csv(index=labels, header=labels)
    remedy = "for a graph save a list of edges, for distances pass kind='distances'"
    with pytest.raises(MetricError, match=remedy):
        read(tmp_path, text)
    assert len(read(tmp_path, text, kind="distances")) == 34


EDGES = np.array(KARATE.edges)
LENGTHS = np.column_stack([EDGES, np.full(len(EDGES), 0.5)])


@pytest.mark.parametrize(
    ("edges", "remedy", "graph"),
    [
        (EDGES, "tr.GraphMetric(A)", lambda A: tr.GraphMetric(A)),
        (EDGES.tolist(), "tr.GraphMetric(A)", lambda A: tr.GraphMetric(A)),
        (EDGES.T, "tr.GraphMetric(A.T)", lambda A: tr.GraphMetric(A.T)),
        (
            EDGES.astype(float),
            "tr.GraphMetric(A.astype(int))",
            lambda A: tr.GraphMetric(A.astype(int)),
        ),
        (
            LENGTHS,
            "tr.GraphMetric(A[:, :2].astype(int), weights=A[:, 2])",
            lambda A: tr.GraphMetric(A[:, :2].astype(int), weights=A[:, 2]),
        ),
        (
            [("a", "b"), ("b", "c"), ("c", "d")],
            "a networkx graph",
            lambda A: tr.as_metric(nx.Graph(A)),
        ),
        (
            pd.DataFrame({"u": ["a", "b", "c"], "v": ["b", "c", "d"]}),
            "networkx.from_pandas_edgelist(df, 'u', 'v')",
            lambda A: tr.as_metric(nx.from_pandas_edgelist(A, "u", "v")),
        ),
        (
            pd.DataFrame({"u": [0, 1, 2, 3], "v": [1, 2, 3, 4], "w": [0.5, 1.5, 2.5, 1.0]}),
            "networkx.from_pandas_edgelist(df, 'u', 'v', 'w') and weight='w'",
            lambda A: tr.as_metric(nx.from_pandas_edgelist(A, "u", "v", "w"), weight="w"),
        ),
    ],
)
def test_edges_are_named(edges, remedy, graph):
    message = f"for edges pass {remedy}, for points add metric='euclidean'"
    with pytest.raises(MetricError, match=re.escape(message)):
        tr.fit(edges)
    assert isinstance(graph(edges), tr.GraphMetric)


def test_points_are_not_edges():
    points = np.random.default_rng(0).normal(size=(20, 2))
    assert _graph_arrays.edge_columns(points) == 0
    with pytest.raises(MetricError, match="got 20 x 2: for points add metric='euclidean'"):
        tr.fit(points)
