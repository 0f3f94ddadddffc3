"""Distances with one pair of points per line."""

import re

import numpy as np
import pytest

import treerep as tr
from tests.formats.files import distances, read

# The distance of a and c is longer than the path by b.
COLUMN = "b a 0.1\nc a 0.5\nc b 0.3\n"
MATRIX = [[0, 0.1, 0.3], [0.1, 0, 0.5], [0.3, 0.5, 0]]  # of b, a, c


@pytest.mark.parametrize("name", ["x.dist", "x.txt", "x.tsv", "x.csv"])
def test_pairs_are_distances_or_edges(tmp_path, name):
    remedy = "for the distances of all pairs pass kind='distances', for the edges of a graph"
    with pytest.raises(ValueError, match=remedy):
        read(tmp_path, COLUMN, name)
    found = read(tmp_path, COLUMN, name, kind="distances")
    assert found.labels == ("b", "a", "c")
    assert distances(found).tolist() == MATRIX
    assert distances(read(tmp_path, COLUMN, name, kind="graph"))[1, 2] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "text",
    [
        "b,a,0.1\nc,a,0.5\nc,b,0.3\n",
        "source,target,distance\nb,a,0.1\nc,a,0.5\nc,b,0.3\n",
        COLUMN + "a b 0.1\nb b 0\n",
    ],
)
def test_forms(tmp_path, text):
    assert distances(read(tmp_path, text, kind="distances")).tolist() == MATRIX


def test_pairs_without_a_line_are_missing(tmp_path):
    text = COLUMN + "d c 0.2\n"
    with pytest.raises(ValueError, match="no row has the distance of 'b' and 'd': add the row"):
        read(tmp_path, text, kind="distances")
    found = read(tmp_path, text, kind="distances", missing=True)
    assert np.isnan(found.block([3], [0, 1, 2])).tolist() == [[True, True, False]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b a 0.2", "the pair 'b', 'a' has the distances 0.1 and 0.2: keep one"),
        ("a b 0.2", "d(0, 1) is 0.1 but d(1, 0) is 0.2: the matrix is not symmetric"),
        ("a a 0.2", "d(1, 1) is 0.2, but the distance of a point to itself is 0"),
        ("a b x", "line 4: 'x' is not a valid length"),
    ],
)
def test_contradictions(tmp_path, line, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path, COLUMN + line, kind="distances")
    if line == "a b 0.2":
        mean = read(tmp_path, COLUMN + line, kind="distances", symmetrize="mean")
        np.testing.assert_allclose(distances(mean)[0, 1], 0.15)
        assert tr.average_distortion(mean, mean) == 0
