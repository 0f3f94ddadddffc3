"""Files of several trees, and taxa inside a tree, in the formats of phylogenies."""

import gzip

import numpy as np
import pytest

import treerep as tr
from treerep import Tree

NEXUS = """#NEXUS
BEGIN TREES;
  TRANSLATE 1 a, 2 b, 3 c, 4 d;
  TREE one = [&R] ((1:1,2:1)95:1,(3:1,4:2):1);
  TREE two = [&U] (1:1,3:2,(2:1,4:1)Canidae:1);
END;
"""


def test_newick_with_several_trees(tmp_path) -> None:
    path = tmp_path / "boot.nwk.gz"
    path.write_bytes(
        gzip.compress(b"((a:1,b:1):1,c:1,'d;e':1);\n[note;](a:1,b:2,(c:1,'d;e':1):1);")
    )
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
