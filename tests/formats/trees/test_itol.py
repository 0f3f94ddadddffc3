"""iTOL: its rules for names, and the way back."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from treeswift import read_tree_newick

from treerep.formats import read_tree, write_tree
from treerep.formats.trees.itol import write
from treerep.tree.tree import Tree

from ..strategies import HARD, named_trees


@settings(max_examples=40)
@given(named_trees(controls=False))
def test_names_are_safe_and_the_table_leads_back(tree: Tree) -> None:
    files = write(tree.with_leaves(), "folder.d/t.nwk")
    assert list(files) == ["folder.d/t.labels.tsv", "folder.d/t.nwk"]
    text = files["folder.d/t.nwk"]
    assert not re.search(r"['\"\[\]\s]", text.strip())
    back = Tree.from_newick(text)
    head, _, rows = files["folder.d/t.labels.tsv"].partition("DATA\n")
    assert head == "LABELS\nSEPARATOR TAB\n"
    table = dict(row.split("\t") for row in rows.split("\n")[:-1])
    assert sorted(table.values()) == sorted(tree.labels or map(str, range(len(tree))))
    order = {label: name for name, label in table.items()}
    names = [order[label] for label in tree.labels or map(str, range(len(tree)))]
    assert sorted(back.labels or map(str, range(len(back)))) == sorted(names)
    points = names if back.labels else [int(name) for name in names]
    assert_array_equal(back.distances(points), tree.distances())
    tips = [node.label for node in read_tree_newick(text).traverse_leaves()]
    assert sorted(tips) == sorted(names)


def test_files(tmp_path: Path) -> None:
    tree = Tree(2, [[0, 2], [2, 1]], [1.0, 2.0], labels=["a b", "c"])
    write_tree(
        tree,
        tmp_path / "t.itol.nwk",
        attributes={"group 1": ["x y", None], "seen": [True, False]},
    )
    assert (tmp_path / "t.itol.nwk").read_text() == "(a_b:1.0,c:2.0);\n"
    assert (tmp_path / "t.labels.tsv").read_text() == "LABELS\nSEPARATOR TAB\nDATA\na_b\ta b\nc\tc\n"
    assert (tmp_path / "t.metadata.tsv").read_text() == (
        "METADATA\nSEPARATOR TAB\nFIELD_LABELS\tgroup 1\tseen\nDATA\na_b\tx y\ttrue\nc\t\tfalse\n"
    )
    assert read_tree(tmp_path / "t.itol.nwk", format="newick").labels == ("a_b", "c")
    assert len(list(tmp_path.iterdir())) == 3


def test_hard_names() -> None:
    n = len(HARD)
    star = Tree(n, [[i, n] for i in range(n)], [1.0] * n, labels=HARD)
    (newick,) = (text for name, text in write(star, "t.nwk").items() if name == "t.nwk")
    assert newick.startswith(
        "(Homo_sapiens:1.0,it_s:1.0,say__hi_:1.0,a_b:1.0,_b__amp__/b_:1.0,_:1.0,_x_:1.0,_1_:1.0,"
    )


def test_what_is_refused(tmp_path: Path) -> None:
    tree = Tree(2, [[0, 1]], [1.0], labels=["a\tb", "c"])
    with pytest.raises(
        ValueError, match=r"'a\\tb' contains a tab or a line break, which iTOL does not allow"
    ):
        write_tree(tree, tmp_path / "t.itol.nwk")
    with pytest.raises(ValueError, match="several files: use the path of a file, not '-'"):
        write_tree(tree, "-", format="itol")
    assert list(tmp_path.iterdir()) == []


TREE = Tree(2, [[0, 1]], [1.0], labels="ab")


@pytest.mark.parametrize("name", ["t.labels.tsv", "t.metadata.tsv"])
@pytest.mark.parametrize("content", ["my own\ttable\n", "", "LABELS and more\n", "METADATAX\n"])
def test_a_file_that_is_not_such_a_table_is_never_replaced(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(
        FileExistsError,
        match=rf"{name} exists and is not a table of .*: rename the file or the tree",
    ):
        write_tree(TREE, tmp_path / "t.itol.nwk", attributes={"x": [1, 2]})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: content}


def test_tables_of_an_earlier_run_are_replaced(tmp_path: Path) -> None:
    for labels in ("ab", "cd"):
        tree = Tree(2, [[0, 1]], [1.0], labels=labels)
        write_tree(tree, tmp_path / "t.itol.nwk", attributes={"x": list(labels)})
        assert (tmp_path / "t.labels.tsv").read_text().endswith(f"{labels[1]}\t{labels[1]}\n")
        assert (tmp_path / "t.metadata.tsv").read_text().endswith(f"{labels[1]}\t{labels[1]}\n")
    (tmp_path / "t.labels.tsv").unlink()
    (tmp_path / "t.labels.tsv").mkdir()
    with pytest.raises(FileExistsError, match="labels.tsv exists"):
        write_tree(TREE, tmp_path / "t.itol.nwk")


@pytest.mark.parametrize("old", [False, True])
def test_a_full_disk_leaves_all_files_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: bool
) -> None:
    if old:
        write_tree(TREE, tmp_path / "t.itol.nwk", attributes={"x": [1, 2]})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    fsync, turns = os.fsync, iter(range(3))

    def full(descriptor: int) -> None:
        if next(turns) == 2:  # the tree itself comes last
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*t\.itol\.nwk'"):
        write_tree(TREE.with_weights([3.0]), tmp_path / "t.itol.nwk", attributes={"x": [5, 6]})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_pipe_takes_no_tables(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.nwk")
    for path in (tmp_path / "pipe.nwk", Path("/dev/stdout")):
        with pytest.raises(ValueError, match="several files: use the path of a file"):
            write_tree(TREE, path, format="itol")
    assert len(list(tmp_path.iterdir())) == 1
