"""Whatever is in a file, the readers return a metric or one clear line: they never hang, crash or make up numbers."""

import gzip
import io
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treerep.formats.reading import DATA_FORMATS, read
from treerep.metric.base import Metric
from treerep.metric.sequences.metric import SequenceMetric

NPY = io.BytesIO()
np.save(NPY, np.array([[0, 1.0], [1.0, 0]]))
NPZ = io.BytesIO()
np.savez(NPZ, d=np.array([[0, 1.0], [1.0, 0]]), labels=np.array(["x", "y"]))
SPARSE = io.BytesIO()
sp.save_npz(SPARSE, sp.csr_array(np.array([[0, 1.0], [1.0, 0]])))
MARKET = io.BytesIO()
scipy.io.mmwrite(MARKET, sp.coo_array(np.array([[0, 1.0], [1.0, 0]])), symmetry="symmetric")

VALID = {
    "npy": NPY.getvalue(),
    "npz": NPZ.getvalue(),
    "sparse npz": SPARSE.getvalue(),
    "csv": b",a,b\na,0,1\nb,1,0\n",
    "quotes": b'"a, b";0;1.5\n"c\nd";1.5;0\n',
    "numbers": b"0 1 2\n1 0 3\n2 3 0\n",
    "phylip": b"3\na 0 1 2\nb 1 0 3\nc 2 3 0\n",
    "triangle": b"3\na\nb 1\nc 2 3\n",
    "nexus": b"#NEXUS\nbegin distances;\nformat triangle=lower nodiagonal;\nmatrix\n'a' \nb 1\n[c]c 2 3;\nend;\n",
    "fasta": b">a b\nACGTACGT\nAC-T\n>c\nACGAACGTACNT\n",
    "protein": b">a\nMKVL\n>c\nMKIL\n>d\nMKX-\n",
    "mtx": MARKET.getvalue(),
    "mtx array": b"%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n",
    "edges": b"0 1 2.5\n1 2 1\n",
    "names": b"id1,id2,weight\na,b,1\nb,c,1\n",
    "graphml": b'<?xml version="1.0"?><graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    b'<edge source="a" target="b"/></graph></graphml>',
    "gzip": gzip.compress(b"0,1\n1,0\n"),
}
KINDS = (None, "distances", "points", "graph", "sequences")
# What is likely to be wrong in files, and what parsers trip over.
PIECES = [
    b"\n",
    b"\r\n",
    b",",
    b";",
    b"\t",
    b" ",
    b'"',
    b"'",
    b"[",
    b"#",
    b"%",
    b"\0",
    b"-",
    b"nan",
    b"inf",
    b"1e999",
]
PIECES += [
    b"99999999999999999999",
    b"1,5",
    b"\xe9",
    b"\xef\xbb\xbf",
    b"<",
    b"&x;",
    b"x",
    b"0",
    b"1 ",
    b"_",
    b"\x1f\x8b",
]


class Standing:
    """A standard input that holds some bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def check(data: bytes, **options: Any) -> None:
    """Read data from standard input: a metric without a single bad number, or an error of one line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", Standing(data))
        try:
            metric = read("-", **options)
        except (ValueError, OSError, MemoryError) as error:
            message = str(error)
            assert "\n" not in message
            assert len(message) < 1000
            assert message.startswith("standard input")
            return
    assert isinstance(metric, Metric)
    some = np.arange(min(len(metric), 5))
    if isinstance(metric, SequenceMetric):  # undefined distances raise an error when they are read
        metric = SequenceMetric(metric.packed, saturated="cap", labels=metric.labels)
    block = metric.block(some, some)
    assert np.isfinite(block).all()
    assert (block >= 0).all()
    assert metric.labels is None or len(metric.labels) == len(metric)


@st.composite
def damaged(draw: st.DrawFn, valid: bytes) -> bytes:
    """A file that was right, with a few bytes cut out, replaced, doubled or put in."""
    data = valid
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data)))
        end = min(len(data), begin + draw(st.integers(0, 6)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4), st.just(data[begin:end] * 2)))
        data = data[:begin] + piece + data[end:]
    return data


@settings(max_examples=40)
@given(data=st.data(), kind=st.sampled_from(KINDS))
@pytest.mark.parametrize("name", VALID)
def test_damaged_files(name, data, kind):
    check(data.draw(damaged(VALID[name])), kind=kind)


@settings(max_examples=20)
@given(data=st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)))
@example(data=b"")
@pytest.mark.parametrize("name", [*DATA_FORMATS, None])
def test_anything_as_any_format(name, data):
    check(data, format=name)
    check(data, format=name, kind="points")


@pytest.mark.parametrize("name", VALID)
def test_what_is_valid_is_read(name):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", Standing(VALID[name]))
        assert len(read("-", kind="graph" if name == "edges" else None)) in (2, 3)


@pytest.mark.parametrize("name", VALID)
def test_what_is_cut_short_anywhere(name):
    for length in range(len(VALID[name])):
        check(VALID[name][:length])


@pytest.mark.parametrize(
    ("name", "begin", "end"),
    [
        ("d.csv", b"0,1\n", b"x,0\n"),
        ("d.phy", b"2\na 0 1\nb ", b"x 0\n"),
        ("g.edges", b"a b 1\nb c ", b"x\n"),
        ("g.graphml", b'<graphml><graph><node id="a"/><node id="', b'"><data/></graphml>'),
    ],
)
def test_long_numbers_are_refused_in_linear_time(tmp_path, name, begin, end):
    # In quadratic time these would take minutes.
    (tmp_path / name).write_bytes(begin + b"1" * 300_000 + end)
    with pytest.raises(ValueError, match=name):
        read(tmp_path / name)
