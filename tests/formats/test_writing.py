"""`write_distances`: whole or not at all. What is written is read back in the tests of each format."""

import gzip
import io

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


@pytest.mark.parametrize("metric", [tr.GraphMetric([[0, 1], [1, 2]]), tr.fit(SQUARE), tr.as_metric([[0]])], ids=repr)
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
    with pytest.raises(ValueError, match="distances are written as npy, csv, tsv, phylip, not as .*d.xlsx"):
        formats.write_distances(tr.as_metric(SQUARE), tmp_path / "d.xlsx")
    with pytest.raises(ValueError, match="not as graphml"):
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
    assert (tmp_path / "d.csv").read_text() == "".join(",".join(map(repr, row)) + "\n" for row in table.tolist())


@pytest.mark.parametrize("name", ["csv", "tsv", "phylip"])
@pytest.mark.parametrize("label", ["a\0b", "\0", "a\ud800"])
def test_labels_that_no_text_can_hold(tmp_path, name, label):
    metric = tr.as_metric([[0, 1.0], [1.0, 0]], labels=[label, "b"])
    with pytest.raises(ValueError, match="has a zero character or one that UTF-8 cannot hold: rename it") as raised:
        formats.write_distances(metric, tmp_path / "d", format=name)
    assert not isinstance(raised.value, UnicodeError)
    assert list(tmp_path.iterdir()) == []
