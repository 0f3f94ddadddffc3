"""Roots, names of clades and support of files survive reading, writing and renumbering."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from treerep import Tree

# Files as other programs write them: a root, clades, support as a share, in percent, or of two kinds.
TEXTS = [
    "(((a:1.0,b:1.0):1.0,c:2.0):1.0,d:5.0);",
    "((a:1.0,b:1.0)95:1.0,c:2.0,d:5.0);",
    "((a:1.0,b:1.0)98.7/100:1.0,(c:2.0,d:5.0)7/31:0.5);",
    "((a:1.0,b:1.0)0.95:1.0,c:2.0,d:5.0);",
    "((a:1.0,b:1.0)Felidae:1.0,(c:2.0,d:5.0)Canidae:2.0)Carnivora;",
    "((a:1.0,b:1.0)'95':1.0,c:2.0,d:5.0);",
    "((a:1.0,b:1.0)101:1.0,(c:2.0,d:5.0)102:2.0)100;",
]


@pytest.mark.parametrize("text", TEXTS[:6])
def test_texts_are_written_back_as_they_were(text: str) -> None:
    assert Tree.from_newick(text).newick() == text


def test_numbers_above_100_are_names() -> None:
    tree = Tree.from_newick(TEXTS[6])
    assert tree.support is None
    assert sorted(tree.clade_names.values()) == ["100", "101", "102"]


def test_percentages_become_shares() -> None:
    shares = Tree.from_newick("((a:1,b:1)98.7/100:1,(c:2,d:5)7/31:0.5);").support
    assert sorted(shares[~np.isnan(shares)]) == [0.31, 1.0]


@pytest.mark.parametrize("suffix", ["npz", "json"])
@pytest.mark.parametrize("text", TEXTS)
def test_files_keep_roots_and_clades(text: str, suffix: str, tmp_path) -> None:
    tree = Tree.from_newick(text)
    tree.save(tmp_path / f"tree.{suffix}")
    back = Tree.load(tmp_path / f"tree.{suffix}")
    assert (back.root, back.clade_names) == (tree.root, tree.clade_names)
    assert back == tree


@pytest.mark.parametrize("suffix", ["npz", "json", "nwk", "nex"])
def test_files_keep_the_length_of_the_root(suffix: str, tmp_path) -> None:
    tree = Tree.from_newick("((a:1,b:1):1,c:2):0.125;")
    tr.formats.write_tree(tree, tmp_path / f"tree.{suffix}")
    assert tr.formats.read_tree(tmp_path / f"tree.{suffix}").root_length == 0.125
    for copy in (pickle.loads(pickle.dumps(tree)), tree.canonical(), tree.with_leaves()):
        assert copy.root_length == 0.125


def test_scikit_bio_keeps_the_length_of_the_root() -> None:
    skbio = pytest.importorskip("skbio")
    theirs = skbio.TreeNode.read(["((a:1,b:1):1,c:2):0.125;"])
    tree = Tree.from_skbio(theirs)
    assert tree.root_length == 0.125
    assert tree.to_skbio().length == 0.125
    theirs.length = -1.0
    with pytest.raises(ValueError, match="the length of the root is -1.0"):
        Tree.from_skbio(theirs)


def test_another_root_has_no_length() -> None:
    tree = Tree.from_newick("((a:1,b:1):1,c:2):0.125;")
    assert tree.with_root(tree.root).root_length == 0.125
    for other in (tree.with_root("c"), tree.with_root(None), tree.root_at_outgroup("a")[0]):
        assert other.root_length is None
    assert tree.newick("c") == "((a:1.0,b:1.0):3.0,c:0.0);"
    assert tree.root_at_midpoint()[0].root_length == 0.125  # the midpoint is the root


@pytest.mark.parametrize("names", [["a"], {"x": "a"}, 3, {"0": "a"}, {"4": 5}])
def test_damaged_names_of_clades_are_refused(names: object, tmp_path) -> None:
    path = tmp_path / "tree.json"
    Tree.from_newick(TEXTS[0]).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "clade_names": names}))
    with pytest.raises(ValueError, match="is damaged: .*clade_names"):
        Tree.load(path)


def test_copies_keep_everything() -> None:
    tree = Tree.from_newick(TEXTS[2])
    for copy in (
        pickle.loads(pickle.dumps(tree)),
        tree.canonical(),
        tree.with_weights(tree.weights),
    ):
        assert copy.newick() == tree.newick()


def test_names_stay_with_their_clades_when_points_are_reordered() -> None:
    tree = Tree.from_newick(TEXTS[4])
    data = tr.MatrixMetric(tree.distances()[::-1, ::-1], labels="dcba")
    turned = tr.refine(tree, data, moves=False)
    assert turned.labels == ("d", "c", "b", "a")
    other = tree._in_order(np.array([3, 2, 1, 0]), tuple("dcba"), True)
    for node, name in other.clade_names.items():
        clade = {other.labels[i] for i in range(4) if node in other.path(i, other.root)}
        assert clade == {"Felidae": set("ab"), "Canidae": set("cd"), "Carnivora": set("abcd")}[name]


def test_new_support_replaces_the_text() -> None:
    tree = Tree.from_newick(TEXTS[1])
    assert "1.0:1.0" in tree.with_support([tree]).newick()


def test_another_root_removes_a_former_one_of_two_branches() -> None:
    tree = Tree.from_newick(TEXTS[0])
    assert tree.with_root("d").newick() == "(((a:1.0,b:1.0):1.0,c:2.0):6.0,d:0.0);"
    assert tree.with_root(None).root is None
    np.testing.assert_allclose(tree.with_root("d").distances(), tree.distances())


def test_support_beside_a_former_root_is_kept() -> None:
    tree = Tree.from_newick("((a:1,b:1)90:1,(c:2,d:5):0.5);").with_root("a")
    assert tree.newick() == "(a:0.0,(b:1.0,(c:2.0,d:5.0)90:1.5):1.0);"


def test_midpoint_roots_are_written_without_naming_them() -> None:
    tree, node = Tree.from_newick("(a:1,b:2,c:5);").root_at_midpoint()
    assert tree.root == node and tree.newick() == "((a:1.0,b:2.0):1.5,c:3.5);"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"root": 9}, "root must be a node from 0 to 2"),
        ({"clade_names": {0: "x"}}, "0, which is not a Steiner node: use nodes from 2 to 2"),
        ({"clade_names": {2: ""}}, "is '': give a text that is not empty"),
        (
            {"root_length": 1.0},
            "root_length is the length of the edge above a root: pass root=",
        ),
        ({"root": 2, "root_length": -1.0}, "root_length must be a finite length of at least 0"),
        ({"root": 2, "root_length": float("nan")}, "root_length must be a finite length"),
    ],
)
def test_wrong_annotations_are_refused(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tree(2, [[0, 2], [1, 2]], [1.0, 1.0], **options)


def test_inner_names_as_points_or_ignored() -> None:
    text = "((a:1,b:1)Felidae:1,c:2);"
    assert Tree.from_newick(text, inner_labels="points").labels == ("a", "b", "Felidae", "c")
    assert Tree.from_newick(text, inner_labels="ignore").clade_names == {}
    with pytest.raises(ValueError, match="inner_labels"):
        Tree.from_newick(text, inner_labels="some")


def test_negative_lengths_on_request() -> None:
    with pytest.raises(ValueError, match=r"line 1 column 8 .*or pass negative_lengths='zero'"):
        Tree.from_newick("(a:1,b:-0.5,c:1);")
    tree = Tree.from_newick("(a:1,b:-0.5,c:1);", negative_lengths="zero")
    assert tree.newick() == "(a:1.0,b:0.0,c:1.0);"


# Leaves.


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any tree: data points inside, Steiner nodes of two branches, a root somewhere."""
    n = draw(st.integers(1, 12))
    extra = draw(st.integers(0, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parents = [int(rng.integers(k)) for k in range(1, n + extra)]
    ids = rng.permutation(n + extra)
    edges = np.array([[ids[k], ids[up]] for k, up in enumerate(parents, start=1)]).reshape(-1, 2)
    root = draw(st.none() | st.integers(0, n + extra - 1))
    labels = draw(st.none() | st.just([f"p{i}" for i in range(n)]))
    return Tree(n, edges, rng.integers(1, 9, len(edges)).astype(float), labels, root=root)


@settings(max_examples=60, deadline=None)
@given(trees())
def test_with_leaves_keeps_distances_and_can_be_undone(tree: Tree) -> None:
    leafy = tree.with_leaves()
    np.testing.assert_array_equal(leafy.distances(), tree.distances())
    assert (leafy.degrees[: len(tree)] <= 1).all()
    assert leafy.root is None or len(tree) == 1 or leafy.root >= len(tree)
    assert leafy.contracted() == tree.contracted()


@settings(max_examples=60, deadline=None)
@given(trees())
def test_newick_has_all_points_as_leaves_and_reads_back(tree: Tree) -> None:
    tree = tree.with_root(None).contracted()
    back = Tree.from_newick(tree.newick())
    assert back.labels is None or sorted(back.labels) == sorted(tree.labels)
    matched = back if tree.labels is None else back.restrict(tree.labels)
    assert matched.isclose(tree)


@settings(max_examples=40, deadline=None)
@given(trees())
def test_inner_points_read_back_by_request(tree: Tree) -> None:
    tree = tree.with_root(None).contracted()
    back = Tree.from_newick(tree.newick(leaves=False), inner_labels="points")
    matched = back if tree.labels is None else back.restrict(tree.labels)
    assert matched.contracted() == tree


def test_taxa_are_not_lost_in_other_libraries() -> None:
    dendropy = pytest.importorskip("dendropy")
    path = Tree(4, [[0, 1], [1, 2], [2, 3]], [1.0, 2.0, 3.0], labels="abcd")
    read = dendropy.Tree.get(data=path.newick(), schema="newick")
    assert sorted(leaf.taxon.label for leaf in read.leaf_node_iter()) == list("abcd")
    distances = read.phylogenetic_distance_matrix()
    taxa = {taxon.label: taxon for taxon in read.taxon_namespace}
    assert distances(taxa["a"], taxa["d"]) == pytest.approx(6.0)
    assert sorted(node.name for node in path.to_skbio().tips()) == list("abcd")
