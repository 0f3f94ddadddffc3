"""Every format in and out, and what is refused."""

import gzip
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from tests.tree.strategies import caterpillar
from treerep.formats import TREE_FORMATS, read_tree, write_tree
from treerep.tree.tree import Tree

from .strategies import HARD, named_trees

NAN = float("nan")
READ = [name for name, known in TREE_FORMATS.items() if known.reads]
QUARTET = Tree(
    4,
    [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]],
    [1.0, 2, 3, 4, 5],
    labels="abcd",
    support=[NAN] * 4 + [0.75],
)


def path_for(folder: Path, name: str) -> Path:
    return folder / f"tree{TREE_FORMATS[name].suffixes[0]}"


@pytest.mark.parametrize("name", ["nexus", "json", "npz"])
@settings(max_examples=30)
@given(tree=named_trees())
def test_points_keep_their_order_names_and_support(
    name: str, tmp_path_factory: pytest.TempPathFactory, tree: Tree
) -> None:
    path = path_for(tmp_path_factory.mktemp("trees"), name)
    write_tree(tree, path, leaves=False)
    back = read_tree(path, **({"inner_labels": "points"} if name == "nexus" else {}))
    if set(tree.labels or ()) == {str(i) for i in range(len(tree))}:
        assert (back.labels or ()) in ((), tree.labels)  # such names are numbers, in text
        return
    assert back == tree
    assert_array_equal(
        back.support if back.support is not None else NAN, NAN if _none(tree) else tree.support
    )


def _none(tree: Tree) -> bool:
    return tree.support is None or bool(np.isnan(tree.support).all())


@settings(max_examples=40)
@given(tree=named_trees())
def test_newick_keeps_names_and_distances(tmp_path_factory: pytest.TempPathFactory, tree: Tree) -> None:
    path = tmp_path_factory.mktemp("trees") / "tree.nwk"
    write_tree(tree, path)
    back = read_tree(path)
    assert (back.n_nodes, len(back)) == (tree.with_leaves().n_nodes, len(tree))
    if tree.labels is None:
        assert back.isclose(tree)
    elif back.labels is not None:
        assert_array_equal(back.distances(tree.labels), tree.distances())


@pytest.mark.parametrize("name", READ)
def test_hard_names(name: str, tmp_path: Path) -> None:
    n = len(HARD)
    star = Tree(n, [[i, n] for i in range(n)], np.arange(n) / 8, labels=HARD)
    write_tree(star, path_for(tmp_path, name))
    assert read_tree(path_for(tmp_path, name)) == star


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    "tree",
    [
        Tree(1, [], []),
        Tree(1, [], [], labels=["only one"]),
        Tree(2, [[0, 1]], [0.0]),
        Tree(2, [[0, 2], [1, 2]], [0.0, 1.5], labels="ab"),
        Tree(3, [[0, 1], [1, 2]], [1.0, 0.0], labels="abc"),
        QUARTET,
    ],
    ids=["point", "named", "pair", "line", "inner", "quartet"],
)
def test_small_trees(name: str, tree: Tree, tmp_path: Path) -> None:
    path = path_for(tmp_path, name)
    write_tree(tree, path)
    back = read_tree(path)
    assert sorted(back.labels or "") == sorted(tree.labels or "")
    assert_array_equal(back.distances(tree.labels), tree.distances())
    if tree.support is not None:
        assert back.support is not None
        assert_array_equal(back.support[-1], 0.75)


@pytest.fixture(scope="module")
def deep() -> Tree:
    return caterpillar(100_000).canonical()  # 200,000 nodes, 100,000 deep


@pytest.mark.parametrize("name", TREE_FORMATS)
def test_deep_trees(name: str, deep: Tree, tmp_path: Path) -> None:
    path = path_for(tmp_path, name)
    write_tree(deep, path)
    assert path.stat().st_size > 10**6
    if TREE_FORMATS[name].reads:
        assert read_tree(path) == deep


@pytest.mark.parametrize("name", READ)
def test_formats_are_told_by_content(name: str, tmp_path: Path) -> None:
    write_tree(QUARTET, tmp_path / "tree", format=name)
    assert read_tree(tmp_path / "tree") == QUARTET
    (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "tree").read_bytes()))
    assert read_tree(tmp_path / "packed") == QUARTET


def test_suffixes(tmp_path: Path) -> None:
    for suffix in ("nwk", "TRE", "nex", "json", "npz", "nwk.gz", "nex.GZ", "npz.gz"):
        write_tree(QUARTET, tmp_path / f"t.{suffix}")
        assert read_tree(tmp_path / f"t.{suffix}") == QUARTET
    for suffix in ("nwk.gz", "nex.GZ", "npz.gz"):
        assert (tmp_path / f"t.{suffix}").read_bytes()[:2] == b"\x1f\x8b"
    write_tree(QUARTET, tmp_path / "nexus.tre", format="nexus")
    assert read_tree(tmp_path / "nexus.tre") == QUARTET
    (tmp_path / "bom.nwk").write_bytes(b"\xef\xbb\xbf(a:1,b:2);\r\n")
    assert read_tree(tmp_path / "bom.nwk").labels == ("a", "b")


def test_pipes(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for name in READ:
        write_tree(QUARTET, "-", format=name)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(capsysbinary.readouterr().out)))
        assert read_tree("-") == QUARTET


def test_root(tmp_path: Path) -> None:
    for name in ("t.nwk", "t.nex"):
        write_tree(QUARTET, tmp_path / name, root="c")
        assert read_tree(tmp_path / name).isclose(QUARTET) or name == "t.nwk"
    assert (tmp_path / "t.nwk").read_text() == "(((a:1.0,b:2.0)0.75:5.0,d:4.0):3.0,c:0.0);\n"
    assert "[&R]" in (tmp_path / "t.nex").read_text()


def test_options_of_readers(tmp_path: Path) -> None:
    (tmp_path / "t.nwk").write_text("((a,b)95,(c,d)95);")
    with pytest.raises(ValueError, match=r"t.nwk: Newick, line 1 column 7 .* missing length"):
        read_tree(tmp_path / "t.nwk")
    tree = read_tree(tmp_path / "t.nwk", default_length=1.0, inner_labels="ignore")
    assert tree.total_length == 6 and tree.support is None
    write_tree(tree, tmp_path / "t.npz")
    with pytest.raises(ValueError, match="npz does not accept default_length"):
        read_tree(tmp_path / "t.npz", default_length=1.0)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "t.nwk",
            b"(a:1,\nb:-2);",
            r"t.nwk: Newick, line 2 column 3 \(character 8\): length -2.0 is negative",
        ),
        ("t.nwk", b"(a:1,\n\xff:2);", "t.nwk: line 2 has the byte 0xff, which is not UTF-8"),
        (
            "t.nwk",
            "(a:1,b:2);".encode("utf-16"),
            "t.nwk: the file is UTF-16 text: save it as UTF-8",
        ),
        ("t.nwk", b"", "t.nwk: Newick, .* the text is empty"),
        (
            "t",
            b"hello",
            "t: neither suffix nor content matches a format: pass format= one of 'newick'",
        ),
        ("t", b"", "neither suffix nor content matches a format"),
        ("t.json", b"[1, 2]", "t.json: it was not written by Tree.save"),
        ("t.json", b"[" * 100_000, "t.json: it cannot be read: it is not a tree file"),
        ("t.npz", b"PK\x03\x04", "t.npz: it cannot be read"),
        (
            "t.nwk.gz",
            gzip.compress(b"(a:1,b:2);", mtime=0)[:-3],
            "t.nwk.gz is damaged or truncated",
        ),
        (
            "t.auspice.json",
            b"{}",
            "auspice cannot be read: use one of 'newick', 'nexus'",
        ),
    ],
)
def test_files_that_are_refused(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_tree(tmp_path / name)
    assert "\n" not in str(error.value)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_devices_are_refused() -> None:
    with pytest.raises(ValueError, match="/dev/zero: this is a device, not a file"):
        read_tree("/dev/zero")


@pytest.mark.parametrize("name", ["tree.nwk.gz", "tree.graphml.gz", "tree.json.gz"])
def test_what_unpacks_to_more_than_memory(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = {
        "tree.nwk.gz": b"(",
        "tree.graphml.gz": b"<graphml><graph>" + b"<edge source='a' target='b'/>" * 60_000,
    }
    (tmp_path / name).write_bytes(gzip.compress(mark.get(name, b"[") + b" " * 3_000_000))
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 4_000_000)
    with pytest.raises(MemoryError, match=f"{name}: (the input|the graph) needs .* GiB of memory"):
        read_tree(tmp_path / name)


def test_an_archive_that_claims_more_than_there_is(tmp_path: Path) -> None:
    write_tree(QUARTET, tmp_path / "good.npz")
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    with (
        zipfile.ZipFile(tmp_path / "good.npz") as good,
        zipfile.ZipFile(tmp_path / "bad.npz", "w") as bad,
    ):
        for name in good.namelist():
            bad.writestr(name, claim.getvalue() if name == "weights.npy" else good.read(name))
    with pytest.raises(
        ValueError,
        match="bad.npz: it cannot be read: it is not a tree file, or it is truncated",
    ):
        read_tree(tmp_path / "bad.npz")


def test_wishes_that_are_refused(tmp_path: Path) -> None:
    for options, message in [
        ({"format": "phyloxml"}, "format must be one of 'newick', .*, got 'phyloxml'"),
        ({}, "the suffix does not match a format: pass format= one of"),
        (
            {"format": "npz", "root": 0},
            "npz cannot store root: leave it out, or choose one of 'newick', 'nexus'",
        ),
        (
            {"format": "newick", "attributes": {"x": "wxyz"}},
            "newick cannot store attributes: .* 'graphml', 'auspice'",
        ),
        ({"format": "newick", "root": "z"}, "'z' is not in the tree"),
        (
            {"format": "graphml", "attributes": {"x": [1]}},
            "attribute 'x' has 1 values for 4 points",
        ),
        (
            {"format": "graphml", "attributes": {"x": [1, 2, 3, np.inf]}},
            "attribute 'x' of point 3 is infinite",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            write_tree(QUARTET, tmp_path / "tree", **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="in a label: rename the point"):
        write_tree(Tree(1, [], [], labels=["\ud800"]), tmp_path / "t.nwk")
    with pytest.raises(ValueError, match="Steiner node 2 is a leaf"):
        write_tree(Tree(1, [[0, 1], [0, 2]], [1.0, 1.0]), tmp_path / "t.nex")
    with pytest.raises(FileNotFoundError):
        read_tree(tmp_path / "none.nwk")
    assert list(tmp_path.iterdir()) == []


def test_attributes_that_are_no_mapping(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="attributes must be a mapping of names to values"):
        write_tree(Tree(2, [[0, 1]], [1.0]), tmp_path / "t.graphml", attributes=[1, 2])  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
