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


def test_points(tmp_path):
    table = np.array([[0.0, 1], [2, 0], [0, 0]])
    for matrix in (table, sp.coo_array(table)):
        np.testing.assert_array_equal(read(tmp_path, written(matrix), kind="points").points, table)
        with pytest.raises(ValueError, match="for points say kind='points'"):
            read(tmp_path, written(matrix))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket tensor array real general\n1 1\n1\n", "line 1 is no header of Matrix Market"),
        ("%%MatrixMarket matrix array complex general\n1 1\n1 1\n", "complex numbers are no distances"),
        ("%%MatrixMarket matrix array real general\n%\n", "a header and no sizes"),
        ("%%MatrixMarket matrix array real general\n2\n", "'2' are not the 2 sizes"),
        ("%%MatrixMarket matrix array real general\n-1 2\n", "'-1 2' are not the 2 sizes"),
        ("%%MatrixMarket matrix array real general\n1000000 1000000\n", "promises 1000000 1000000, more than the file"),
        # scipy divides by the number of rows, and takes Python down with it.
        ("%%MatrixMarket matrix array real general\n0 2\n0\n", "line 2: a matrix of 0 x 2 is empty"),
        ("%%MatrixMarket matrix coordinate real general\n9 9 999999\n", "more than the file has"),
        ("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 x\n", "Line 4"),
        ("%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 1\n3 2 1\n", "the graph must be undirected"),
        ("%%MatrixMarket matrix array real general\n2 2\n0\n1\n", "d.mtx"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, text, "d.mtx")
    assert "\n" not in str(caught.value)


def test_memory_is_checked_by_the_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr("treerep.common.memory.available_memory", lambda: 71)
    with pytest.raises(MemoryError, match="a matrix of 3 x 3 needs"):
        read(tmp_path, written(SQUARE))
    with pytest.raises(MemoryError, match="a sparse matrix of 3 x 3 needs"):
        read(tmp_path, written(sp.coo_array(SQUARE)))
    monkeypatch.undo()
    with pytest.raises(MemoryError, match="a sparse matrix of 1,000,000,000,000 x"):
        read(tmp_path, "%%MatrixMarket matrix coordinate pattern symmetric\n1000000000000 1000000000000 1\n2 1\n")
