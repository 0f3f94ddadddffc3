"""Tables in text: what is recognized, what is refused, and how it is said."""

import gzip
import io
import re

import numpy as np
import pandas as pd
import pytest
import skbio
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.formats.files import distances, read
from treerep import formats
from treerep.metric.matrix import MatrixMetric
from treerep.metric.points import PointMetric

SQUARE = np.array([[0, 1, 2.5], [1, 0, 3], [2.5, 3, 0]])
NAMES = ["a", "b", "c"]
AWKWARD = [
    "it's",
    'say "hi"',
    "a, b",
    "two\nlines",
    "<b>&amp;</b>",
    "\N{DECIDUOUS TREE}",
    "x y",
]


FRAME = pd.DataFrame(SQUARE, NAMES, NAMES)
WITH_NAMES = {
    "pandas": FRAME.to_csv(),
    "header alone": FRAME.to_csv(index=False),
    "first column alone": FRAME.to_csv(header=False),
    "named corner": FRAME.to_csv(index_label="id"),
    "tabs": FRAME.to_csv(sep="\t"),
    "semicolons": FRAME.to_csv(sep=";"),
    "R": '"a" "b" "c"\n"a" 0 1 2.5\n"b" 1 0 3\n"c" 2.5 3 0\n',
    "tabs and blanks": "a\t0 1\t2.5\nb 1\t0 3\nc\t2.5 3 0\n",
    "aligned": "    a   b   c\na   0   1 2.5\nb   1   0   3\nc 2.5   3   0\n",
    "byte order mark": "\ufeff" + FRAME.to_csv(),
    "CRLF": FRAME.to_csv(lineterminator="\r\n"),
    "old Mac": FRAME.to_csv(lineterminator="\r"),
    "no last newline": FRAME.to_csv().rstrip("\n"),
    "delimiters at the end": FRAME.to_csv().replace("\n", ",\n"),
    "blank lines and comments": "# made by hand\n\n" + FRAME.to_csv().replace("\n", "\n\n"),
    "all quoted": FRAME.to_csv(quoting=1),
}


@pytest.mark.parametrize("form", WITH_NAMES)
def test_names_are_taken_off(tmp_path, form):
    metric = read(tmp_path, WITH_NAMES[form])
    assert isinstance(metric, MatrixMetric)
    assert metric.labels == ("a", "b", "c")
    np.testing.assert_array_equal(distances(metric), SQUARE)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "   "])
def test_bare_numbers(tmp_path, delimiter):
    text = "\n".join(delimiter.join(map(str, row)) for row in SQUARE)
    metric = read(tmp_path, text, "table.txt")
    assert metric.labels is None
    np.testing.assert_array_equal(distances(metric), SQUARE)


def test_numbers_as_names(tmp_path):
    frame = pd.DataFrame(SQUARE, [10, 11, 12], [10, 11, 12])
    for text in (
        frame.to_csv(),
        frame.to_csv(index_label="id"),
        frame.to_csv(sep="\t"),
        "10 11 12\n" + "10 0 1 2.5\n11 1 0 3\n12 2.5 3 0",
    ):
        assert read(tmp_path, text).labels == ("10", "11", "12")


def test_a_name_may_begin_with_a_hash(tmp_path):
    points = read(tmp_path, "# a comment\np,0,1\n#q,1,1\nr,2,0\n", kind="points")
    assert points.labels == ("p", "#q", "r")
    with pytest.raises(ValueError, match="line 3: '# end' is not a number"):
        read(tmp_path, "0,1\n1,0\n# end", kind="points")


@pytest.mark.parametrize("n", [1, 2])
def test_small_tables(tmp_path, n):
    frame = pd.DataFrame(SQUARE[:n, :n], NAMES[:n], NAMES[:n])
    for text in (frame.to_csv(), frame.to_csv(header=False)):
        assert read(tmp_path, text).labels == tuple(NAMES[:n])
    assert len(read(tmp_path, frame.to_csv(index=False, header=False))) == n


def test_awkward_labels_come_back(tmp_path):
    n = len(AWKWARD)
    metric = tr.as_metric(np.abs(np.subtract.outer(np.arange(n), np.arange(n))), labels=AWKWARD)
    for name in ("d.csv", "d.tsv"):
        formats.write_distances(metric, tmp_path / name)
        again = formats.read(tmp_path / name)
        assert again.labels == metric.labels
        np.testing.assert_array_equal(distances(again), distances(metric))
    frame = pd.read_csv(tmp_path / "d.csv", index_col=0)
    assert list(frame.index) == AWKWARD
    assert list(frame.columns) == AWKWARD


def test_scikit_bio_agrees(tmp_path):
    theirs = skbio.DistanceMatrix(SQUARE, NAMES)
    text = io.StringIO()
    theirs.write(text, format="lsmat")
    assert read(tmp_path, text.getvalue(), "d.txt").labels == ("a", "b", "c")
    formats.write_distances(formats.read(tmp_path / "d.txt"), tmp_path / "ours.tsv")
    assert skbio.DistanceMatrix.read(str(tmp_path / "ours.tsv"), format="lsmat") == theirs


def test_gzip_and_standard_input(tmp_path, monkeypatch):
    packed = gzip.compress(FRAME.to_csv().encode())
    assert read(tmp_path, packed, "d.csv.gz").labels == ("a", "b", "c")
    for data in (packed, FRAME.to_csv().encode()):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert formats.read("-").labels == ("a", "b", "c")


def test_as_metric_takes_names_of_files(tmp_path):
    path = tmp_path / "d.csv"
    FRAME.to_csv(path)
    assert tr.as_metric(path).labels == ("a", "b", "c")
    assert tr.as_metric(str(path), labels="xyz").labels == ("x", "y", "z")
    assert tr.fit(str(path), method="treerep").labels == ("a", "b", "c")
    assert isinstance(tr.as_metric(path, metric="euclidean"), PointMetric)
    with pytest.raises(FileNotFoundError, match="nowhere.csv"):
        tr.as_metric("nowhere.csv")


def test_points_need_to_be_asked_for(tmp_path):
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], ["p", "q", "r"], ["height", "width"])
    for text in (frame.to_csv(), frame.to_csv(header=False)):
        points = read(tmp_path, text, kind="points")
        assert points.labels == ("p", "q", "r")
        np.testing.assert_array_equal(points.points, frame.to_numpy())
    assert read(tmp_path, frame.to_csv(index=False), metric="manhattan").pairs(0, 1) == 4
    with pytest.raises(
        ValueError, match="more than 2 rows of 2 numbers: .* pass kind='points' or kind='graph'"
    ):
        read(tmp_path, frame.to_csv())


def test_condensed_distances(tmp_path):
    for text in ("1\n2.5\n3\n", "1 2.5 3"):
        np.testing.assert_array_equal(distances(read(tmp_path, text, kind="distances")), SQUARE)
    with pytest.raises(ValueError, match="may contain condensed distances or points on a line"):
        read(tmp_path, "1\n2.5\n3\n")
    with pytest.raises(
        tr.MetricError,
        match="4 numbers cannot be condensed distances: 3 points have 3, 4 have 6",
    ):
        read(tmp_path, "1\n2\n3\n4\n", kind="distances")


REFUSED = {
    "empty": ("", "the file is empty"),
    "comments alone": ("# nothing\n\n", "the file is empty"),
    "decimal commas": ("0;1,5\n1,5;0", "line 1: '1,5' has a decimal comma: write 1.5"),
    "quoted decimal commas": ('"0","1,5"\n"1,5","0"', "line 1: '1,5' has a decimal comma"),
    "ragged": ("0,1,2\n1,0\n2,1,0", "line 2 has 2 numbers, expected 3"),
    "ragged at the end": ("0,1\n1,0,3\n", "line 2 has 3 numbers|line 1 has 2 numbers"),
    "a word": ("0,1\nx1,0", "line 2: 'x1' is not a number"),
    "missing": ("0,NA\nNA,0", "line 1: 'NA' is a missing value"),
    "an empty cell": ("0,1,2\n1,,2\n1,2,0", "line 2: '' is a missing value"),
    "nan": ("0,nan\nnan,0", "d(0, 1) is nan"),
    "asymmetric": ("0,1\n2,0", "the matrix is not symmetric"),
    "underscores": ("0,1_0\n1_0,0", "line 1: '1_0' is not a number"),
    "Latin-1": (b"caf\xe9,0,1\nb,1,0", "line 1 has the byte 0xe9, which is not UTF-8"),
    "UTF-16": ("0,1\n1,0".encode("utf-16"), "the file is UTF-16 text"),
    "binary": (b"\x00\x01\x02", "neither text nor a known binary format"),
    "the same name twice": ("a,a\n0,1\n1,0", "share the label 'a'"),
    "other names": (",a,b\na,0,1\nc,1,0", "row 1 is named 'c' but column 1 is named 'b'"),
    "an open quote": ('"a,0,1\nb,1,0', "line 1 opens a quote that is not closed"),
    "a short header": (
        "x,y\n0,1,2\n1,0,2\n2,2,0",
        "line 1 names 2 columns, and below are 3|row",
    ),
    "many columns": (",".join(["1"] * 200_000), "fewer than 200000 rows of 200000 numbers"),
    "a tree": ("(a:1,b:2);", "is a tree in Newick"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_and_how(tmp_path, case):
    text, message = REFUSED[case]
    with pytest.raises(ValueError, match="|".join(map(re.escape, message.split("|")))) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "table.csv") + ": ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kind": "trees"},
            "kind must be one of distances, points, graph, sequences, got 'trees'",
        ),
        ({"format": "xlsx"}, "format must be one of npy"),
        (
            {"kind": "distances", "metric": "euclidean"},
            "metric='euclidean' requires kind='points'",
        ),
        ({"weight": "w"}, "weight='w' does not apply to a distance matrix"),
        (
            {"kind": "points", "symmetrize": "mean"},
            "symmetrize='mean' does not apply to points",
        ),
        ({"kind": "points", "metric": "1 - cos"}, "is not a metric"),
        ({"use_rep": "X"}, "use_rep='X' applies to h5ad, npz and zarr, not to csv"),
    ],
)
def test_options_that_mean_nothing_are_refused(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, "0,1\n1,0", **options)


def test_what_memory_cannot_hold_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 71)
    with pytest.raises(MemoryError, match="a matrix of 3 points needs"):
        read(tmp_path, FRAME.to_csv())
    with pytest.raises(MemoryError, match="3 points and more needs"):
        read(tmp_path, FRAME.to_csv(), kind="points")


@settings(max_examples=60)
@given(
    values=st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=6, max_size=6),
    labels=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1),
        min_size=4,
        max_size=4,
        unique_by=str.strip,
    ),
)
def test_what_is_written_is_read_back(tmp_path_factory, values, labels):
    path = tmp_path_factory.mktemp("round") / "d.csv"
    square = np.zeros((4, 4))
    square[np.triu_indices(4, 1)] = values
    names = [label.strip() or "none" for label in labels]
    if len(set(names)) < 4:
        return
    metric = tr.MatrixMetric(square + square.T, labels=names)
    formats.write_distances(metric, path)
    again = formats.read(path, kind="distances")
    np.testing.assert_array_equal(distances(again), distances(metric))
    assert again.labels == metric.labels


def test_columns_that_pandas_numbers(tmp_path):
    frame = pd.DataFrame(SQUARE)
    for index in (True, False):
        metric = read(tmp_path, frame.to_csv(index=index))
        assert metric.labels == ("0", "1", "2")
        np.testing.assert_array_equal(distances(metric), SQUARE)
    # The same first row may be distances, and then the next one begins with d(1, 0).
    line = [[0, 1, 2], [1, 0, 1.5], [2, 1.5, 0]]
    assert distances(read(tmp_path, "0,1,2\n1,0,1.5\n2,1.5,0\n")).tolist() == line
    points = pd.DataFrame([[0.5, 1.5], [2.5, 0.5]])
    with pytest.raises(ValueError, match="line 1 is 0 to 1, either column numbers or a point"):
        read(tmp_path, points.to_csv(index=False), kind="points")
    assert len(read(tmp_path, points.to_csv(), kind="points")) == 2
    assert len(read(tmp_path, "0.0,1.0\n0.5,1.5\n", kind="points")) == 2
    assert len(read(tmp_path, "0,1\n1,2\n", kind="points")) == 2


def test_what_excel_adds(tmp_path):
    assert read(tmp_path, "\ufeffsep=;\r\n;a;b\r\na;0;1.5\r\nb;1.5;0\r\n").labels == ("a", "b")
    with pytest.raises(ValueError, match="line 2: '1,5' has a decimal comma: write 1.5"):
        read(tmp_path, ";a;b\r\na;0;1,5\r\nb;1,5;0\r\n")


def test_a_column_of_words_is_named_by_its_first_line(tmp_path):
    with pytest.raises(ValueError, match="line 2: 'setosa' is not a number"):
        read(tmp_path, "sepal,petal,species\n1,2,setosa\n2,3,virginica\n", kind="points")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "a,0,1\nb,1,0\n",
            {"kind": "graph", "format": "csv"},
            "for one edge per line pass format='edges'",
        ),
        (
            "a,1\nb,2\nc,3\n",
            {"kind": "distances"},
            "condensed distances cannot have labels in the file",
        ),
    ],
)
def test_tables_that_are_something_else(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text, **options)


def test_tables_of_mash(tmp_path):
    # The output of `mash dist -t`.
    text = "#query\ta.fa\tb.fa\na.fa\t0\t0.0222766\nb.fa\t0.0222766\t0\n"
    metric = read(tmp_path, text)
    assert metric.labels == ("a.fa", "b.fa")
    assert metric.pairs(0, 1) == 0.0222766


def test_tables_of_sourmash(tmp_path):
    # `sourmash compare --csv` writes a header and no labels of rows. The default is similarities.
    metric = read(tmp_path, 'a.fa,"b, c.fa"\n0.0,0.25\n0.25,0.0\n', "d.csv")
    assert metric.labels == ("a.fa", "b, c.fa")
    assert metric.pairs(0, 1) == 0.25
    with pytest.raises(
        tr.MetricError, match="to itself is 0: for similarities, subtract them from 1; otherwise"
    ):
        read(tmp_path, 'a.fa,"b, c.fa"\n1.0,0.75\n0.75,1.0\n', "s.csv")
