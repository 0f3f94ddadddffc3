import numpy as np
import pytest

import treerep as tr
from tests.cli.commands import Caller
from treerep.formats import write_distances

# ((0: 1, 1: 2): 1.5, (2: 1, 3: 3)), added up by hand.
DISTANCES = [[0, 3, 3.5, 5.5], [3, 0, 4.5, 6.5], [3.5, 4.5, 0, 4], [5.5, 6.5, 4, 0]]
LABELS = ["a b", "it's", "<c>", "\N{FISH}"]


@pytest.fixture
def call(capfd, monkeypatch, tmp_path):
    """Run a command within this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Caller(capfd, monkeypatch)


@pytest.fixture
def four(tmp_path):
    """Exact distances of a tree of four points with awkward names: the metric, also in four.csv."""
    metric = tr.MatrixMetric(np.array(DISTANCES), labels=LABELS)
    write_distances(metric, tmp_path / "four.csv")
    return metric


@pytest.fixture
def graph(tmp_path):
    """A square and a triangle, joined by an edge: the metric, also in graph.edges."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 6), (6, 4)]
    (tmp_path / "graph.edges").write_text("".join(f"{u} {v}\n" for u, v in edges))
    return tr.GraphMetric(edges)
