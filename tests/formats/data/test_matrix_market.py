"""Matrix Market: arrays and coordinates, as scipy writes them."""

import gzip
import io
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from tests.formats.files import SQUARE, distances, read
from treerep.metric.graph import GraphMetric
from treerep.metric.matrix import MatrixMetric

ARRAY = "%%MatrixMarket matrix array real general"
COORDINATE = "%%MatrixMarket matrix coordinate real general"


def written(matrix: object, **options: object) -> bytes:
    file = io.BytesIO()
    scipy.io.mmwrite(file, matrix, **options)
    return file.getvalue()


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_a_square_array_is_distances(tmp_path, symmetry):
    metric = read(tmp_path, written(SQUARE, symmetry=symmetry), "d.mtx")
    assert isinstance(metric, MatrixMetric)
    np.testing.assert_array_equal(distances(metric), SQUARE)


@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_coordinates_are_a_graph(tmp_path, field):
    adjacency = sp.coo_array(np.array([[0, 2, 0], [2, 0, 5], [0, 5, 0]]))
    content = written(adjacency, field=field, symmetry="symmetric")
    for data in (content, gzip.compress(content)):
        graph = read(tmp_path, data, "g.mtx")
        assert isinstance(graph, GraphMetric)
        assert graph.pairs(0, 2) == (2 if field == "pattern" else 7)
        assert read(tmp_path, data, weight=False).pairs(0, 2) == 2


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`")  # scipy 1.18; 1.13 has no such option
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_scipy_agrees(tmp_path, symmetry):
    rng = np.random.default_rng(0)
    table = np.round(np.triu(rng.random((20, 20)) * (rng.random((20, 20)) < 0.4), 1), 6)
    table += table.T
    content = written(sp.coo_array(table), symmetry=symmetry)
    expected = scipy.io.mmread(io.BytesIO(content)).toarray()
    np.testing.assert_array_equal(read(tmp_path, content, kind="points").points, expected)
    np.testing.assert_array_equal(read(tmp_path, content).adjacency.toarray(), expected)


def test_points(tmp_path):
    table = np.array([[0.0, 1], [2, 0], [0, 0]])
    for matrix in (table, sp.coo_array(table)):
        np.testing.assert_array_equal(read(tmp_path, written(matrix), kind="points").points, table)
        with pytest.raises(ValueError, match="for points pass kind='points'"):
            read(tmp_path, written(matrix))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{ARRAY}\n2 2\n0\n1\n1\n".replace("matrix array", "tensor array"),
            "line 1 is not a header",
        ),
        (
            f"{ARRAY}\n1 1\n1 1\n".replace("real", "complex"),
            "a complex general matrix cannot be read",
        ),
        (
            f"{ARRAY}\n1 1\n1 1\n".replace("general", "skew-symmetric"),
            "real skew-symmetric matrix cannot be read",
        ),
        (f"{ARRAY}\n%\n", "line 0: '' does not contain the 2 sizes"),
        (f"{ARRAY}\n2\n", "line 2: '2' does not contain the 2 sizes"),
        (f"{ARRAY}\n-1 2\n", "'-1 2' does not contain the 2 sizes"),
        (
            f"{ARRAY}\n1000000 1000000\n",
            "line 2 declares 1,000,000,000,000 numbers, more than the file can hold",
        ),
        # These two took scipy's reader down, and Python with it.
        (f"{ARRAY}\n0 2\n0\n", "line 2: '0 2' does not contain the 2 sizes"),
        (f"{ARRAY}\n3 2\n0\n1\n1\n0r", "line 6: '0r' is not a number"),
        (f"{ARRAY}\n2 2\n0.5\n1.5\n", "the header declares 4 numbers, but 2 follow"),
        (f"{ARRAY}\n1 1\n0\n0\n", "line 4 exceeds the 1 declared numbers"),
        (f"{COORDINATE}\n9 9 999999\n", "more than the file can hold"),
        (f"{COORDINATE}\n3 3 2\n2 1 1\n3 2 x\n", "line 4: 'x' is not a number"),
        (f"{COORDINATE}\n3 3 2\n2 1 1\n3 2 1\n", "the graph must be undirected"),
        (f"{COORDINATE}\n3 3 1\n4 1 1\n", "an entry is at (4, 1), outside the 3 x 3 matrix"),
        (f"{COORDINATE}\n3 3 1\n1.5 1 1\n", "an entry is at (1.5, 1)"),
        (
            f"{COORDINATE}\n3 2 1\n2 1 1\n".replace("general", "symmetric"),
            "3 x 2 cannot be symmetric",
        ),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, text, "d.mtx")
    assert "\n" not in str(caught.value)


def test_memory_is_checked_by_the_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 71)
    with pytest.raises(MemoryError, match="a matrix of 3 x 3 needs"):
        read(tmp_path, written(SQUARE))
    with pytest.raises(MemoryError, match="a sparse matrix of 3 x 3 needs"):
        read(tmp_path, written(sp.coo_array(SQUARE)))
    monkeypatch.undo()
    with pytest.raises(MemoryError, match="a sparse matrix of 1,000,000,000,000 x"):
        read(
            tmp_path,
            "%%MatrixMarket matrix coordinate pattern symmetric\n1000000000000 1000000000000 1\n2 1\n",
        )


def test_without_the_first_line(tmp_path):
    for text, length in (("3 3 2\n2 1\n3 2\n", 2), ("3 3 2\n2 1 0.5\n3 2 1\n", 1.5)):
        for kind in (None, "graph"):
            assert read(tmp_path, text, "g.mtx", kind=kind).pairs(0, 2) == length
    with pytest.raises(ValueError, match="the header declares 2 numbers, but 1 follow"):
        read(tmp_path, "3 3 2\n2 1\n", "g.mtx")
    with pytest.raises(ValueError, match="line 1 is not a header.* pass kind='graph'"):
        read(tmp_path, "1 2\n2 3\n", "g.mtx")
    assert read(tmp_path, "1 2\n2 3\n", "g.mtx", kind="graph").labels == ("1", "2", "3")


def head(field: str, symmetry: str) -> str:
    return f"%%MatrixMarket matrix coordinate {field} {symmetry}\n"


@pytest.mark.parametrize(
    "text",
    [
        head("pattern", "symmetric") + "3 3 3\n1 2\n2 1\n2 3\n",
        head("pattern", "general") + "3 3 5\n1 2\n1 2\n2 1\n2 3\n3 2\n",
        "3 3 3\n1 2\n2 1\n2 3\n",  # without a header, as Network Repository has it
        "3 3 3\n1 2 1\n2 1 1\n2 3 1\n",
        head("real", "symmetric") + "3 3 4\n1 2 1.0\n2 1 1\n3 2 1e0\n3 2 1\n",
        head("integer", "general") + "3 3 5\n1 2 1\n1 2 1\n2 3 1\n2 1 1\n3 2 1\n",
    ],
)
def test_an_edge_that_is_repeated_is_the_same_edge(tmp_path, text):
    graph = read(tmp_path, text, "g.mtx")
    assert [graph.pairs(0, 1), graph.pairs(1, 2), graph.pairs(0, 2)] == [1, 1, 2]


@pytest.mark.parametrize("kind", ["graph", "points"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            head("real", "symmetric") + "3 3 3\n1 2 1\n2 3 1\n2 1 4\n",
            "the entry (2, 1) or its mirror image",
        ),
        ("3 3 3\n1 2 1\n2 3 1\n2 1 4\n", "the entry (2, 1) or its mirror image"),
        (
            head("real", "general") + "3 3 4\n1 2 1\n2 1 3\n2 3 1\n1 2 4\n",
            "the entry (1, 2) occurs twice",
        ),
    ],
)
def test_an_entry_with_two_values_is_refused(tmp_path, text, message, kind):
    with pytest.raises(ValueError, match=re.escape(message) + ".* as 1 and as 4: keep one"):
        read(tmp_path, text, "g.mtx", kind=kind)
