"""Files of several trees, and taxa inside a tree, in the formats of phylogenies."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treerep as tr
from treerep import Tree, TreeSum

NEXUS = """#NEXUS
BEGIN TREES;
  TRANSLATE 1 a, 2 b, 3 c, 4 d;
  TREE one = [&R] ((1:1,2:1)95:1,(3:1,4:2):1);
  TREE two = [&U] (1:1,3:2,(2:1,4:1)Canidae:1);
END;
"""


def test_newick_with_several_trees(tmp_path) -> None:
    path = tmp_path / "boot.nwk.gz"
    path.write_bytes(gzip.compress(b"((a:1,b:1):1,c:1,'d;e':1);\n[note;](a:1,b:2,(c:1,'d;e':1):1);"))
    trees = tr.formats.read_trees(path)
    assert [len(tree) for tree in trees] == [4, 4]
    assert trees[0].with_support(trees).support[4] == 1.0
    with pytest.raises(ValueError, match="a second tree, or other text, after the semicolon"):
        tr.formats.read_tree(path)


def test_nexus_with_several_trees(tmp_path) -> None:
    path = tmp_path / "two.nex"
    path.write_text(NEXUS)
    first, second = tr.formats.read_trees(path)
    assert first.newick() == "((a:1.0,b:1.0)95:1.0,(c:1.0,d:2.0):1.0);"
    assert list(second.clade_names.values()) == ["Canidae"]
    with pytest.raises(ValueError, match="line 5 .*the file has a second tree"):
        tr.formats.read_tree(path)


def test_rooted_trees_stay_rooted_in_nexus(tmp_path) -> None:
    for text, mark in (("((a:1,b:1):1,c:3);", "[&R]"), ("(a:1,b:1,c:3);", "[&U]")):
        tree = Tree.from_newick(text)
        tr.formats.write_tree(tree, tmp_path / "tree.nex")
        assert mark in (tmp_path / "tree.nex").read_text()
        back = tr.formats.read_tree(tmp_path / "tree.nex")
        assert back.newick() == tree.newick()


def test_files_of_one_tree_are_named(tmp_path) -> None:
    Tree(2, [[0, 1]], [1.0]).save(tmp_path / "tree.json")
    with pytest.raises(ValueError, match="json files hold one tree: use read_tree"):
        tr.formats.read_trees(tmp_path / "tree.json")


SUM = TreeSum(
    [
        Tree.from_newick("((a:1,b:2):1,c:1,'d;e':0.1);"),
        Tree.from_newick("((c:1,b:2):1,a:1,'d;e':3);"),
    ]
)


def test_the_text_of_a_sum_by_hand(tmp_path, capsys) -> None:
    both = TreeSum([Tree(2, [[0, 1]], [w], labels=["a", "b c"]) for w in (1.0, 2.0)])
    tr.formats.write_tree(both, "-", format="newick")
    assert capsys.readouterr().out == "(a:0.0,'b c':1.0);\n(a:0.0,'b c':2.0);\n"
    tr.formats.write_tree(both, tmp_path / "sum.nex", leaves=False)
    lines = (tmp_path / "sum.nex").read_text().splitlines()
    assert "  TREE tree_1 = [&U] (2:1.0)1;" in lines
    assert "  TREE tree_2 = [&U] (2:2.0)1;" in lines
    assert sum("TRANSLATE" in line for line in lines) == 1


@pytest.mark.parametrize("name", ["sum.nwk", "sum.nex", "sum.npz", "sum.nwk.gz", "sum.npz.gz"])
def test_sums_come_back(tmp_path, name: str) -> None:
    tr.formats.write_tree(SUM, tmp_path / name)
    back = TreeSum(tr.formats.read_trees(tmp_path / name)).restrict(SUM.labels)
    assert back.labels == SUM.labels
    np.testing.assert_array_equal(back.distances(), SUM.distances())
    if name == "sum.npz":
        assert TreeSum.load(tmp_path / name) == SUM


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 100))
def test_all_sums_come_back(tmp_path_factory, points: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    trees = [tr.datasets.random_tree(points, hidden=0.5, rng=rng) for _ in range(count)]
    whole = TreeSum(trees)
    folder = tmp_path_factory.mktemp("sums")
    for name in ("sum.nwk", "sum.nex", "sum.npz"):
        tr.formats.write_tree(whole, folder / name)
        back = TreeSum(tr.formats.read_trees(folder / name))
        assert len(back.trees) == count
        np.testing.assert_array_equal(back.distances(), whole.distances())


def test_formats_of_one_tree_refuse_sums(tmp_path) -> None:
    for name in ("json", "graphml", "auspice.json", "itol.nwk"):
        path = tmp_path / f"sum.{name}"
        with pytest.raises(ValueError, match="as one of 'newick', 'nexus', 'npz'$"):
            tr.formats.write_tree(SUM, path)
        assert not path.exists()
    with pytest.raises(ValueError, match="npz cannot store root"):
        tr.formats.write_tree(SUM, tmp_path / "sum.npz", root="a")


def test_a_root_applies_to_all_trees(tmp_path) -> None:
    tr.formats.write_tree(SUM, tmp_path / "sum.nwk", root="b")
    for line in (tmp_path / "sum.nwk").read_text().splitlines():
        assert line.endswith("b:0.0);")


def test_a_sum_is_not_read_as_one_tree(tmp_path) -> None:
    SUM.save(tmp_path / "sum.npz")
    for read in (tr.formats.read_tree, Tree.load):
        with pytest.raises(ValueError, match="holds a sum of trees: use TreeSum.load"):
            read(tmp_path / "sum.npz")
    SUM.trees[0].save(tmp_path / "tree.npz")
    for read in (tr.formats.read_trees, TreeSum.load):
        with pytest.raises(ValueError, match="holds one tree: use Tree.load"):
            read(tmp_path / "tree.npz")
    with pytest.raises(ValueError, match="npz does not accept default_length: leave it out"):
        tr.formats.read_trees(tmp_path / "sum.npz", default_length=1.0)


@pytest.mark.parametrize(
    ("name", "default"),
    [("tree.nwk", True), ("tree.nex", True), ("tree.json", False), ("tree.graphml", False)],
)
@pytest.mark.parametrize("leaves", [None, True, False])
def test_points_inside_become_leaves(tmp_path, name: str, default: bool, leaves) -> None:
    path = Tree(3, [[0, 1], [1, 2]], [1.0, 2.0], labels="abc")
    tr.formats.write_tree(path, tmp_path / name, leaves=leaves)
    points = {"inner_labels": "points"} if name.endswith(("nwk", "nex")) else {}
    back = tr.formats.read_tree(tmp_path / name, **points)
    assert back.n_nodes == (4 if (default if leaves is None else leaves) else 3)
    assert back.restrict("abc").distances().tolist() == path.distances().tolist()


def test_strict_phylip_with_a_blank_in_a_later_name(tmp_path) -> None:
    rows = ["Homo      0.0 1.0 2.0", "Pan trogl 1.0 0.0 2.0", "Mus muscu 2.0 2.0 0.0"]
    (tmp_path / "d.phy").write_text("    3\n" + "\n".join(rows) + "\n")
    metric = tr.formats.read(tmp_path / "d.phy")
    assert metric.labels == ("Homo", "Pan trogl", "Mus muscu")
    assert metric.block([1], [0, 2]).tolist() == [[1.0, 2.0]]


def test_h5ad_files_have_the_coordinates_of_the_object(tmp_path) -> None:
    anndata = pytest.importorskip("anndata")
    points = np.random.default_rng(0).normal(size=(20, 5))
    adata = anndata.AnnData(points, obsm={"X_pca": points[:, :2].copy()})
    adata.write_h5ad(tmp_path / "cells.h5ad")
    metric = tr.formats.read(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(metric.points, tr.as_metric(adata).points)
    assert tr.formats.read(tmp_path / "cells.h5ad", use_rep="X").points.shape == (20, 5)
