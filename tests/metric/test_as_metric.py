"""`as_metric` guesses in one place, and says so when it cannot."""

import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

import treerep as tr
from treerep.datasets import DataSet
from treerep.metric._registry import GROUP
from treerep.metric.as_metric import as_metric
from treerep.metric.base import Metric, MetricError
from treerep.metric.characters import CharacterMetric
from treerep.metric.graph import GraphMetric
from treerep.metric.matrix import MatrixMetric
from treerep.metric.points import PointMetric

SQUARE = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])


def test_arrays_are_distances_unless_a_metric_is_named() -> None:
    assert isinstance(as_metric(SQUARE), MatrixMetric)
    assert isinstance(as_metric(SQUARE.tolist()), MatrixMetric)
    assert isinstance(as_metric(SQUARE, metric="precomputed"), MatrixMetric)
    assert isinstance(as_metric(SQUARE, metric="euclidean"), PointMetric)
    with pytest.raises(MetricError, match=re.escape("3 x 2: for points add metric='euclidean'")):
        as_metric(SQUARE[:, :2] + 0.5)


def test_every_metric_keeps_the_labels_of_a_frame() -> None:
    names = ["a", "b", "c"]
    square = pd.DataFrame(SQUARE, names, names)
    points = square.iloc[:, :2]
    for metric in (
        MatrixMetric(square),
        PointMetric(points),
        CharacterMetric(points.astype(int)),
        CharacterMetric(points.astype(str)),
    ):
        assert metric.labels == ("a", "b", "c")
    assert PointMetric(points, labels=["x", "y", "z"]).labels == ("x", "y", "z")
    with pytest.raises(MetricError, match="row 1 is named 'b' but column 1 is named 'x'"):
        MatrixMetric(pd.DataFrame(SQUARE, names, ["a", "x", "c"]))
    with pytest.raises(MetricError, match="points 0 and 2 share the label 'a'"):
        PointMetric(points.set_axis(["a", "b", "a"]))


def test_frames_bring_labels() -> None:
    names = ["a", "b", "c"]
    assert as_metric(pd.DataFrame(SQUARE, names, names)).labels == ("a", "b", "c")
    assert as_metric(pd.DataFrame(SQUARE[:, :2], names), metric="euclidean").labels == (
        "a",
        "b",
        "c",
    )
    with pytest.raises(MetricError, match="row 1 is named 'b' but column 1 is named 'x'"):
        as_metric(pd.DataFrame(SQUARE, names, ["a", "x", "c"]))


@pytest.mark.parametrize("data", [[[0, 1], [1]], ([[0.0, 1.0], [1.0, 0.0]], ["a", "b", "c"])])
def test_rows_of_different_lengths_are_one_line(data: object) -> None:
    with pytest.raises(MetricError, match="rows have different lengths or kinds: pass a table"):
        as_metric(data)


def test_sparse_matrices_are_graphs() -> None:
    assert isinstance(as_metric(csr_array(SQUARE)), GraphMetric)
    with pytest.raises(MetricError, match="read as a graph"):
        as_metric(csr_array(SQUARE), metric="euclidean")


def test_options_reach_the_metric() -> None:
    skewed = SQUARE + np.triu(np.ones((3, 3)), 1)
    assert as_metric(skewed, symmetrize="mean").pairs(0, 1) == 1.5
    assert as_metric(SQUARE, metric="euclidean", labels="abc").labels == ("a", "b", "c")
    graph = nx.Graph([("a", "b", {"weight": 10.0}), ("b", "c", {"weight": 0.5}), ("x", "y")])
    with pytest.raises(MetricError, match="largest_component=True"):
        tr.as_metric(graph)
    weighted = nx.Graph([("a", "b", {"weight": 10.0}), ("b", "c", {"weight": 0.5})])
    assert tr.as_metric(weighted, weight="weight").pairs(0, 2) == 10.5
    assert tr.as_metric(weighted).pairs(0, 2) == 2
    assert len(tr.as_metric(graph, largest_component=True)) == 3


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (SQUARE, {"weight": "w"}, "weight='w' does not apply to a distance matrix"),
        (
            SQUARE,
            {"metric": "euclidean", "symmetrize": "mean"},
            "symmetrize='mean' does not apply to points",
        ),
        (csr_array(SQUARE), {"weight": "w"}, "does not apply to a sparse matrix"),
        (
            nx.path_graph(3),
            {"symmetrize": "mean"},
            "symmetrize does not apply to a networkx graph",
        ),
    ],
)
def test_options_that_mean_nothing_are_refused(data: object, options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tr.as_metric(data, **options)  # type: ignore[arg-type]


def test_masked_entries_are_refused() -> None:
    masked = np.ma.masked_array(SQUARE, mask=[[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    with pytest.raises(MetricError, match=re.escape("entry (0, 2) is masked")):
        as_metric(masked)
    assert len(as_metric(np.ma.masked_array(SQUARE))) == 3


def test_metrics_pass_through() -> None:
    metric = MatrixMetric(SQUARE)
    assert as_metric(metric) is metric
    with pytest.raises(ValueError, match="does not apply to a MatrixMetric, which is already a metric"):
        as_metric(metric, metric="euclidean")


@pytest.mark.parametrize("data", [b"distances.csv", 3, None, {"a": 1}])
def test_anything_else_is_refused(data: object) -> None:
    with pytest.raises(TypeError, match="cannot read distances from"):
        as_metric(data)


PLUGIN = f"""
from treerep.metric.as_metric import as_metric
from treerep import MatrixMetric

class Triangles:
    def __array__(self, *_, **__):
        raise RuntimeError("the converter comes first")

def read_triangles(data, *, metric=None, **options):
    return MatrixMetric({SQUARE.tolist()}, **options)
"""


def test_other_packages_add_types_by_an_entry_point(tmp_path: Path) -> None:
    # As pip leaves a package: a module, and beside it what it declares. The class has a subclass, which counts as well.
    (tmp_path / "shapes.py").write_text(PLUGIN)
    about = tmp_path / "shapes-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shapes\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\nshapes.Triangles = shapes:read_triangles\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import shapes, treerep as tr\n"
        "class Mine(shapes.Triangles): pass\n"
        "print(tr.as_metric(shapes.Triangles(), labels='abc').labels, len(tr.as_metric(Mine())))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "('a', 'b', 'c') 3\n", done.stderr


def test_a_metric_of_ones_own_needs_only_block() -> None:
    class Line(Metric):
        def __len__(self) -> int:
            return 5

        def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
            return np.abs(np.asarray(rows, float)[:, None] - np.asarray(cols, float))

    assert Line().pairs([[0, 1]], [[4, 3]]).tolist() == [[4.0, 2.0]]
    assert repr(Line()) == "Line(5 points)"


def test_a_data_set_stands_for_its_metric():
    mammals = tr.datasets.sarich()
    given = DataSet("mammals", mammals, None, "Sarich 1969")
    assert tr.as_metric(given) is mammals
    assert tr.fit(given, method="treerep") == tr.fit(mammals, method="treerep")
    with pytest.raises(ValueError, match="metric='euclidean' does not apply"):
        tr.as_metric(given, metric="euclidean")


def test_the_alphabet_is_for_sequences() -> None:
    for data in (nx.path_graph(3), MatrixMetric(SQUARE)):
        with pytest.raises(ValueError, match="alphabet.* does not apply to"):
            as_metric(data, alphabet="dna")
