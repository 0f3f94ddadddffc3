"""iTOL: its rules for names, and the way back."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal
from treeswift import read_tree_newick

from treerep.formats import read_tree, write_tree
from treerep.formats.tree_itol import write
from treerep.tree.tree import Tree

from .strategies import HARD, named_trees


@settings(max_examples=40)
@given(named_trees(controls=False))
def test_names_are_safe_and_the_table_leads_back(tree: Tree) -> None:
    files = write(tree, "folder.d/t.nwk")
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
    inner = [names[point] for point in range(len(tree)) if tree.degrees[point] > 1]
    assert not any(re.fullmatch(r"[0-9.]+", name) for name in inner)
    assert len(list(read_tree_newick(text).traverse_preorder())) == tree.n_nodes


def test_files(tmp_path: Path) -> None:
    tree = Tree(2, [[0, 2], [2, 1]], [1.0, 2.0], labels=["a b", "c"])
    write_tree(tree, tmp_path / "t.itol.nwk", attributes={"group 1": ["x y", None], "seen": [True, False]})
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
    assert newick.startswith("(Homo_sapiens:1.0,it_s:1.0,say__hi_:1.0,a_b:1.0,_b__amp__/b_:1.0,_:1.0,_x_:1.0,_1_:1.0,")


def test_what_is_refused(tmp_path: Path) -> None:
    tree = Tree(2, [[0, 1]], [1.0], labels=["a\tb", "c"])
    with pytest.raises(ValueError, match=r"'a\\tb' holds a tab or a line break, which iTOL's tables cannot"):
        write_tree(tree, tmp_path / "t.itol.nwk")
    with pytest.raises(ValueError, match="several files: give a path instead of '-'"):
        write_tree(tree, "-", format="itol")
    assert list(tmp_path.iterdir()) == []
