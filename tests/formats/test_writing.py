"""`write_distances`: whole or not at all. What is written is read back in the tests of each format."""

import gzip
import io
import itertools
import zlib

import numpy as np
import pytest

import treerep as tr
from tests.formats.files import NAMES, SQUARE, distances
from tests.metrics import Table
from treerep import formats
from treerep.formats import writing


class Failing(Table):
    """Distances that end in the middle."""

    def block(self, rows, cols):
        if np.max(rows) > 1:
            raise RuntimeError("no more")
        return super().block(rows, cols)


@pytest.mark.parametrize("name", ["d.npy", "d.csv", "d.tsv", "d.phy"])
def test_nothing_is_left_of_what_fails(tmp_path, name, monkeypatch):
    monkeypatch.setattr(writing, "_BLOCK", 3)  # row by row
    with pytest.raises(RuntimeError, match="no more"):
        formats.write_distances(Failing(SQUARE), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    formats.write_distances(Table(SQUARE), tmp_path / name)
    np.testing.assert_array_equal(distances(formats.read(tmp_path / name)), SQUARE)


@pytest.mark.parametrize(
    "metric",
    [tr.GraphMetric([[0, 1], [1, 2]]), tr.fit(SQUARE, method="treerep"), tr.as_metric([[0]])],
    ids=repr,
)
def test_any_metric(tmp_path, metric):
    for name in ("d.npy", "d.csv", "d.phy"):
        formats.write_distances(metric, tmp_path / name)
        np.testing.assert_array_equal(distances(formats.read(tmp_path / name)), distances(metric))


def test_standard_output(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr("sys.stdout", out)
    formats.write_distances(tr.as_metric(SQUARE, labels=NAMES), "-", format="npy")
    np.testing.assert_array_equal(np.load(io.BytesIO(out.buffer.getvalue())), SQUARE)


@pytest.mark.parametrize("label", ["", " x", "x\n", "a\rb", "a\0b"])
def test_labels_that_would_not_come_back_are_refused(tmp_path, label):
    with pytest.raises(ValueError, match="rename it"):
        formats.write_distances(tr.as_metric(SQUARE, labels=["a", label, "c"]), tmp_path / "d.csv")
    assert list(tmp_path.iterdir()) == []


def test_unknown_formats(tmp_path):
    with pytest.raises(ValueError, match="distances cannot be written as .*d.xlsx: pass format= one of npy"):
        formats.write_distances(tr.as_metric(SQUARE), tmp_path / "d.xlsx")
    with pytest.raises(ValueError, match="cannot be written as graphml"):
        formats.write_distances(tr.as_metric(SQUARE), tmp_path / "d.csv", format="graphml")


@pytest.mark.parametrize("name", ["d.csv.gz", "d.TSV.GZ", "d.phy.gz", "d.npy.gz"])
def test_gzip(tmp_path, name):
    for file in (tmp_path / name, tmp_path / f"2-{name}"):
        formats.write_distances(tr.as_metric(SQUARE), file)
        np.testing.assert_array_equal(distances(formats.read(file)), SQUARE)
    assert gzip.decompress((tmp_path / name).read_bytes())
    assert (tmp_path / name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("values", [2, 10**9])
def test_values_that_repeat_and_values_that_do_not(tmp_path, values):
    table = np.random.default_rng(0).integers(1, values, (100, 100)) / 7
    table = np.triu(table, 1) + np.triu(table, 1).T
    formats.write_distances(tr.as_metric(table), tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text() == "".join(
        ",".join(map(repr, row)) + "\n" for row in table.tolist()
    )


@pytest.mark.parametrize("name", ["csv", "tsv", "phylip"])
@pytest.mark.parametrize("label", ["a\0b", "\0", "a\ud800"])
def test_labels_that_no_text_can_hold(tmp_path, name, label):
    metric = tr.as_metric([[0, 1.0], [1.0, 0]], labels=[label, "b"])
    with pytest.raises(
        ValueError, match="contains a null character or one that UTF-8 cannot encode: rename it"
    ) as raised:
        formats.write_distances(metric, tmp_path / "d", format=name)
    assert not isinstance(raised.value, UnicodeError)
    assert list(tmp_path.iterdir()) == []


# What a table, a tree or another format might begin with, words for missing numbers, and what spreadsheets calculate.
STRANGE = (
    *(
        "(",
        "(a",
        "((a,b),c);",
        "<graphml",
        "<?xml",
        "#NEXUS",
        "%%MatrixMarket",
        "source",
        "target",
        "id1",
        "id2",
    ),
    *(
        "0",
        "1",
        "2",
        "5",
        "10",
        "-",
        "NA",
        "nan",
        "sep=;",
        "=1+1",
        "=HYPERLINK(1)",
        "+x",
        "@SUM(1)",
        "-x",
        "-5",
        "1e5",
    ),
    *(
        '"',
        "'",
        "a b",
        "a,b",
        "a;b",
        "a\tb",
        "a\nb",
        "#",
        "# FromNodeId ToNodeId",
        "\x1b[2J",
        "[x",
        "{x",
    ),
)


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d", "d.csv.gz"])
def test_any_label_comes_back_as_it_was(tmp_path, name):
    """Labels are data: a mark in front of =, which spreadsheets would take as text, would change them."""
    path, delimited = tmp_path / name, "tsv" if name == "d" else None
    sets = [[label] for label in STRANGE]
    sets += [
        [one, other] for one, other in itertools.permutations(STRANGE, 2) if (hash_of(one + other) % 24) == 0
    ]
    for labels in [*sets, ["source", "target"], list(STRANGE)]:
        n = len(labels)
        metric = tr.as_metric(
            np.abs(np.subtract.outer(np.arange(n) * 1.5, np.arange(n) * 1.5)), labels=labels
        )
        formats.write_distances(metric, path, format=delimited)
        again = formats.read(path)
        assert again.labels == metric.labels
        np.testing.assert_array_equal(distances(again), distances(metric))


def hash_of(text: str) -> int:
    """Choose some of many, the same ones every time."""
    return zlib.crc32(text.encode())


def test_a_tree_by_the_name_of_a_table_is_a_tree(tmp_path):
    for name in ("t.csv", "t.tsv", "t.txt"):
        (tmp_path / name).write_text("(a:1,(b:1,c:2):3);\n")
        with pytest.raises(ValueError, match="the file is a tree in Newick"):
            formats.read(tmp_path / name)
    (tmp_path / "t.csv").write_text("(a,0,2\nb),2,0\n")
    assert formats.read(tmp_path / "t.csv").labels == ("(a", "b)")


def test_closed_standard_streams(monkeypatch):
    # Python sets a stream that was closed to None.
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(ValueError, match="standard output is closed: write to a file"):
        formats.write_distances(tr.datasets.sarich(), "-", format="csv")
    with pytest.raises(ValueError, match="standard input is closed: name a file"):
        formats.read("-")
