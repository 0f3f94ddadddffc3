"""Small files that unpack to large ones: refused with one line while they are unpacked, before memory runs out.

Memory is made small: what is available is a limit less what Python, NumPy and the XML parser have taken.
"""

import gzip
import io
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from treerep import formats

MIB = 1 << 20
LIMIT = 24 * MIB
UNPACKED = 40  # MiB: more than the limit
LONG = b"a" * MIB
GRAPH = b'<graphml><key id="k" for="node" attr.name="label"/><graph edgedefault="undirected">'


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Count memory; call what is returned for the peak in bytes."""
    tracemalloc.start()
    begin = tracemalloc.get_traced_memory()[0]
    monkeypatch.setattr(
        "treerep._core.memory.available_memory",
        lambda: max(0, LIMIT - tracemalloc.get_traced_memory()[0] + begin),
    )
    yield lambda: tracemalloc.get_traced_memory()[1] - begin
    tracemalloc.stop()


def many(piece: bytes) -> list[bytes]:
    return [piece * (MIB // len(piece))] * UNPACKED


def numbered(piece: bytes) -> list[bytes]:
    """Different pieces: no two are the same object, or equal."""
    return [b"".join(piece % (k * 20000 + i) for i in range(20000)) for k in range(2 * UNPACKED)]


BOMBS = {
    # one label, one id, a comment, many nodes, names of tags that are never asked for
    "label.graphml": [GRAPH, b'<node id="a"><data key="k">', *[LONG] * UNPACKED],
    "id.graphml": [GRAPH, b'<node id="', *[LONG] * UNPACKED],
    "comment.graphml": [GRAPH, b"<!-- ", *[LONG] * UNPACKED],
    "nodes.graphml": [GRAPH, *numbered(b'<node id="%d"/>')[:8]],
    "tags.graphml": [GRAPH, *numbered(b"<t%d/>")[:20]],
    "name.csv": [b'a,b\n"', *[LONG + b"\n"] * UNPACKED],
    "names.csv": [b"x,y\n", *(b"%d%b,1,2\n" % (k, LONG) for k in range(UNPACKED))],
    "row.csv": [b"0", *many(b",10")],
    "rows.tsv": [b"a\tb\n", *many(b"1\t2\n")],
    "names.edges": [b"%d%b b\n" % (k, LONG) for k in range(UNPACKED)],
    "edges.edges": many(b"12 13\n"),
    "entries.mtx": [
        b"%%MatrixMarket matrix coordinate pattern general\n9 9 9999999\n",
        *many(b"1 2\n"),
    ],
    "names.phy": [b"40\n", *(b"%d%b 0\n" % (k, LONG) for k in range(UNPACKED))],
    "line.nex": [b"#NEXUS\nbegin distances;\n", *[LONG] * UNPACKED],
    "lines.nex": [b"#NEXUS\nbegin distances;\n", *[LONG + b"\n"] * UNPACKED],
}
TREES = {
    "label.nwk": [b"(", *[LONG] * UNPACKED],
    "leaves.nwk": [b"(", *many(b"a,")[:2]],
    "nodes.nex": [b"#NEXUS\nbegin trees;\ntree x = (", *many(b"a,")[:2]],
    "lists.json": [b'{"edges":[', *many(b"[],")[:2]],
    "label.graphml": BOMBS["label.graphml"],
}


def packed(path: Path, pieces: list[bytes]) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for piece in pieces:
            file.write(piece)
    return path


def check(path: Path, error: BaseException, taken: Callable[[], int]) -> None:
    assert "\n" not in str(error)
    assert path.name in str(error)
    assert len(str(error)) < 1000
    # A limit, the piece that is being unpacked, and what the XML parser keeps of a tag while it doubles its buffer.
    assert taken() < LIMIT + 3 * (1 << 24)


@pytest.mark.parametrize("name", BOMBS)
def test_data(tmp_path, name, taken):
    path = packed(tmp_path / f"{name}.gz", BOMBS[name])
    assert path.stat().st_size < 3 * MIB
    kind = "points" if name in ("names.csv", "rows.tsv") else None
    with pytest.raises((MemoryError, ValueError), match="memory|a tag or a comment has more than") as caught:
        formats.read(path, kind=kind)
    check(path, caught.value, taken)


@pytest.mark.parametrize("name", TREES)
def test_trees(tmp_path, name, taken):
    path = packed(tmp_path / f"{name}.gz", TREES[name])
    with pytest.raises(MemoryError, match="memory") as caught:
        formats.read_tree(path)
    check(path, caught.value, taken)


@pytest.mark.parametrize(("name", "shape"), [("d", (6000, 6000)), ("labels", (400_000,))])
def test_npz(tmp_path, name, shape, taken):
    path = tmp_path / "d.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in ("d", "labels"):
            array = np.zeros(shape if member == name else 1, np.uint8 if member == "d" else "<U1")
            file = io.BytesIO()
            np.save(file, array)
            archive.writestr(f"{member}.npy", file.getvalue())
    tracemalloc.reset_peak()
    with pytest.raises(MemoryError, match="needs .* of memory") as caught:
        formats.read(path)
    check(path, caught.value, taken)


def test_an_attribute_that_is_not_wanted_takes_no_memory(tmp_path, taken):
    drawing = [
        GRAPH,
        b'<node id="a"><data key="d">',
        *[LONG] * UNPACKED,
        b"</data></node></graph></graphml>",
    ]
    path = packed(tmp_path / "g.graphml.gz", drawing)
    assert len(formats.read(path)) == 1
    assert taken() < 16 * MIB


def test_declarations_are_refused(tmp_path):
    for declaration in ("<!ELEMENT a (b)>", "<!ATTLIST a b CDATA #IMPLIED>"):
        path = tmp_path / "g.graphml"
        path.write_text(f"<!DOCTYPE graphml [\n{declaration}]><graphml/>")
        with pytest.raises(ValueError, match="line 2: the file declares elements or attributes"):
            formats.read(path)
