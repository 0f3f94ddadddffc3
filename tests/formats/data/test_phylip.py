"""PHYLIP: squares and triangles, relaxed and strict names."""

import io
import re

import numpy as np
import pytest
import skbio

import treerep as tr
from tests.formats.files import NAMES, SQUARE, distances, read
from treerep import formats

WRITTEN = {
    "square": "3\na 0 1 2.5\nb 1 0 3\nc 2.5 3 0\n",
    "tabs": "3\na\t0\t1\t2.5\nb\t1\t0\t3\nc\t2.5\t3\t0\n",
    "lower": "3\na\nb 1\nc 2.5 3\n",
    "lower with diagonal": "3\na 0\nb 1 0\nc 2.5 3 0\n",
    "strict": "   3\na         0 1 2.5\nb         1 0 3\nc         2.5 3 0\n",
    "broken rows": "3\na 0 1\n  2.5\nb 1\n  0\n  3\nc 2.5 3 0\n",
    "CRLF and no last newline": "3\r\na 0 1 2.5\r\nb 1 0 3\r\nc 2.5 3 0",
}


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("extension", [".phy", ".txt"])
def test_every_form(tmp_path, form, extension):
    metric = read(tmp_path, WRITTEN[form], "d" + extension)
    assert metric.labels == ("a", "b", "c")
    np.testing.assert_array_equal(distances(metric), SQUARE)


def test_strict_names_have_blanks(tmp_path):
    square = "2\nHomo sapie0.0 0.5\nPan panisc0.5 0.0\n"
    lower = "2\nHomo sap 1\nHomo sap 20.5\n"
    assert read(tmp_path, square).labels == ("Homo sapie", "Pan panisc")
    assert read(tmp_path, lower, format="phylip-strict").labels == ("Homo sap 1", "Homo sap 2")


@pytest.mark.parametrize("n", [1, 2])
def test_small(tmp_path, n):
    for rows in (SQUARE[:n, :n].tolist(), [SQUARE[i, :i].tolist() for i in range(n)]):
        text = f"{n}\n" + "".join(
            f"{name} {' '.join(map(str, row))}\n" for name, row in zip("ab", rows, strict=False)
        )
        np.testing.assert_array_equal(distances(read(tmp_path, text, "d.phy")), SQUARE[:n, :n])


@pytest.mark.skipif(
    skbio.io.io_registry.get_writer("phylip_dm", skbio.DistanceMatrix) is None,
    reason="an older scikit-bio",
)
def test_scikit_bio_agrees(tmp_path):
    theirs = skbio.DistanceMatrix(SQUARE, NAMES)
    text = io.StringIO()
    theirs.write(text, format="phylip_dm")
    np.testing.assert_array_equal(distances(read(tmp_path, text.getvalue())), SQUARE)
    formats.write_distances(tr.as_metric(SQUARE, labels=NAMES), tmp_path / "ours.phy")
    again = skbio.DistanceMatrix.read(str(tmp_path / "ours.phy"), format="phylip_dm")
    assert again.ids == tuple(NAMES)
    np.testing.assert_array_equal(again.data, SQUARE)


def test_many_rows_are_read_in_blocks(tmp_path):
    points = tr.PointMetric(np.random.default_rng(0).random((700, 2)))
    formats.write_distances(points, tmp_path / "d.phy")
    np.testing.assert_array_equal(distances(formats.read(tmp_path / "d.phy")), distances(points))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("x\n", "'x' is not the number of points"),
        ("0\n", "'0' is not the number of points"),
        ("5 42\nTurkey AAGCTN\n", "line 1: '5 42' is the head of an alignment"),
        ("2\n\n", "no row follows"),
        ("100000\na 0\n", "line 1 declares 100000 points, more than the file can hold"),
        ("9" * 5000, "more than the file can hold"),
        ("3\na 0 1 2\nb 1 0 3\n", "declares 3 points but 2 rows follow"),
        ("2\na 0 1\nb 1 0\nc 1 0\n", "line 4 exceeds the 2 rows"),
        ("3\na 0 1 2 3\n", "line 2 has 4 numbers after its label"),
        ("3\na 0 1 2\nb 1 0\nc 2 3 0\n", "line 3 has 2 numbers, expected 3"),
        ("3\na\nb\nc 1 2\n", "line 3 has 0 numbers, expected 1"),
        ("2\na 0 x\nb x 0\n", "line 2: 'x' is not a number"),
        ("2\na 0 1\na 1 0\n", "share the label 'a'"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, text, "d.phy")
    assert "\n" not in str(caught.value)


def test_memory_is_checked_by_the_first_line(tmp_path, monkeypatch):
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 71)
    with pytest.raises(MemoryError, match="a matrix of 3 points needs"):
        read(tmp_path, WRITTEN["lower"], "d.phy")


def test_names_that_phylip_cannot_hold_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="the label 'x y' contains blanks, which PHYLIP does not allow"):
        formats.write_distances(tr.as_metric(SQUARE, labels=["a", "x y", "c"]), tmp_path / "d.phy")
    assert list(tmp_path.iterdir()) == []
    formats.write_distances(tr.as_metric(SQUARE), tmp_path / "d.phy")
    assert formats.read(tmp_path / "d.phy").labels == ("0", "1", "2")


def test_blank_lines_alone(tmp_path):
    with pytest.raises(
        ValueError, match="the file is empty: line 1 of a PHYLIP file is the number of points"
    ):
        formats.read(_blank(tmp_path), format="phylip")


def _blank(folder):
    path = folder / "d.phy"
    path.write_text("\n  \n\n")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "4\na 0 1 2 3\nb 0 2 3\nc 0 3\nd 0\n",
        "4\na 1 2 3\nb 2 3\nc 3\nd\n",
        "3\na 1 2\nb 2\nc\n",
        "4\na         0 1 2 3\nb         0 2 3\nc         0 3\nd         0\n",
    ],
)
def test_upper_triangles_are_named(tmp_path, text):
    with pytest.raises(ValueError, match="line 2 and the next are the rows of an upper triangle"):
        read(tmp_path, text, "d.phy")


@pytest.mark.parametrize("name", ["d", "d.phy", "d.tsv"])
def test_triangles_of_mash(tmp_path, name):
    # The output of `mash triangle`: a tab, the number of genomes, and a triangle without its diagonal.
    metric = read(tmp_path, "\t3\na.fa\nb.fa\t1\nc.fa\t2.5\t3\n", name)
    assert metric.labels == ("a.fa", "b.fa", "c.fa")
    np.testing.assert_array_equal(distances(metric), SQUARE)


def test_the_table_of_one_numbered_point_is_not_a_triangle(tmp_path):
    assert read(tmp_path, "\t3\n3\t0\n").labels == ("3",)
