"""The first view that a page chooses from the tree."""

import numpy as np
import pytest

import treerep as tr
from treerep.drawing.page._first_view import first_view
from treerep.embedding.sarkar.construction import center


def chosen(tree: tr.Tree, **options):
    wanted = {"layout": None, "lengths": None, "root": None, **options}
    return first_view(tree, **wanted)


def with_terminal_edges(tree: tr.Tree, factor: float) -> tr.Tree:
    """Return the tree with equal inner edges, and terminal edges longer by a factor."""
    degree = np.bincount(tree.edges.ravel(), minlength=tree.n_nodes)
    terminal = (degree[tree.edges] == 1).any(axis=1)
    return tree.with_weights(np.where(terminal, factor, 1.0))


@pytest.mark.parametrize(
    ("shape", "points", "layout"),
    [
        ("binary", 50, "disk"),
        ("caterpillar", 50, "disk"),
        ("binary", 2000, "disk"),
        ("star", 2000, "disk"),
        ("caterpillar", 2000, "unrooted"),
        ("path", 2000, "unrooted"),
        ("caterpillar", 20_000, "rectangular"),
        ("binary", 20_000, "rectangular"),
    ],
)
def test_the_disk_is_for_trees_that_fit_into_it(shape, points, layout):
    assert chosen(tr.datasets.random_tree(points, shape=shape)).layout == layout


@pytest.mark.parametrize(
    ("factor", "lengths"), [(1, "original"), (2, "original"), (4, "square root"), (50, "equal")]
)
def test_long_terminal_edges_of_the_disk_are_shortened(factor, lengths):
    tree = tr.datasets.random_tree(500, shape="binary", rng=0)
    assert chosen(with_terminal_edges(tree, factor)).lengths == lengths


def test_lengths_of_small_trees_and_stars_stay():
    small = with_terminal_edges(tr.datasets.random_tree(40, shape="binary"), 50)
    assert chosen(small).lengths == "original"
    assert chosen(tr.datasets.random_tree(500, shape="star")).lengths == "original"


def test_a_phylogram_keeps_original_lengths_unless_tips_take_most_of_its_width():
    tree = tr.datasets.random_tree(500, shape="binary", rng=0)
    hops = float(np.median(with_terminal_edges(tree, 1).rooted(center(tree)).depth[:500]))
    usual = with_terminal_edges(tree, hops)
    extreme = with_terminal_edges(tree, 5 * hops)
    assert chosen(usual, layout="rectangular").lengths == "original"
    assert chosen(extreme, layout="rectangular").lengths == "square root"


def test_a_deep_tree_with_a_root_is_a_phylogram():
    tree = tr.datasets.random_tree(2000, shape="caterpillar")
    assert chosen(tree.with_root(2000)).layout == "rectangular"


def test_options_are_kept():
    tree = tr.datasets.random_tree(2000, shape="caterpillar")
    view = chosen(tree, layout="circular", lengths="equal", root=7)
    assert view == ("circular", "equal", 7)
    assert chosen(tree, scale=0.5)[:2] == ("disk", "original")


def test_the_root_is_that_of_the_tree_or_its_center():
    tree = tr.datasets.random_tree(20, shape="binary", rng=0)
    assert chosen(tree).root == center(tree)
    rooted = tr.Tree.from_newick("((a:1,b:1):1,(c:1,d:5):1,e:9);")
    assert chosen(rooted).root == (center(rooted) if rooted.root is None else rooted.root)
    assert chosen(rooted, root="d").root == rooted.labels.index("d")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "radial"}, "layout must be one of 'disk', 'rectangular'"),
        ({"lengths": "log"}, "lengths must be one of 'original', 'square root', 'equal'"),
        ({"root": "nobody"}, "'nobody' is not in the tree"),
    ],
)
def test_wrong_options_are_named(options, message):
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
    with pytest.raises(ValueError, match=message):
        tr.page(tree, **options)
