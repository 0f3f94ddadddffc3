"""Midpoint and outgroup rooting, against scikit-bio and by hand."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from skbio import TreeNode

from treerep.tree.tree import Tree

from ..strategies import caterpillar, naive_splits, trees

QUARTET = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0, 2.0, 3.0, 4.0, 0.0], labels="abcd")


def test_midpoint_by_hand() -> None:
    tree, root = QUARTET.root_at_midpoint()  # b to c is 9 long: the middle is 2.5 along the edge of 3 from b
    assert tree.newick(root) == "((a:1.0,b:2.0):2.5,(c:4.0,d:0.0):0.5);"
    assert tree.root_at_midpoint() == (tree, root)


def test_midpoint_on_a_node() -> None:
    for tree, expected in [
        (Tree(1, [], []), 0),
        (Tree(1, [[0, 1]], [2.0]), 1),  # the Steiner node beside the only point
        (Tree(3, [[0, 1], [1, 2]], [2.0, 2.0]), 1),
        (Tree(3, [[0, 3], [1, 3], [2, 3]], [2.0, 2.0, 2.0]), 3),
        (Tree(2, [[0, 2], [2, 1]], [2.0, 2.0]), 2),
        (Tree(3, [[0, 1], [1, 2], [2, 3]], [0.0, 0.0, 5.0]), 0),  # all points at one place
    ]:
        assert tree.root_at_midpoint() == (tree, expected)


@settings(max_examples=40)
@given(trees(max_nodes=20, min_points=2))
def test_midpoint_is_half_way_between_the_farthest_points(tree: Tree) -> None:
    new, root = tree.root_at_midpoint()
    assert new.n_nodes - tree.n_nodes in (0, 1)
    assert_allclose(new.distances(), tree.distances(), atol=1e-9)
    longest = tree.distances().max()
    if longest > 0:
        away = new.block([root], np.arange(len(new)))[0]
        assert_allclose(away.max(), longest / 2)
        assert_allclose(np.sort(away)[-2:], [longest / 2] * 2)


@settings(max_examples=30)
@given(st.integers(3, 12), st.integers(0, 1000))
def test_midpoint_agrees_with_scikit_bio(n: int, seed: int) -> None:
    tree = caterpillar(n, seed)
    new, root = tree.root_at_midpoint()
    other = TreeNode.read([tree.contracted().newick()]).root_at_midpoint(reset=True, branch_attrs=[])
    depth = {tip.name: other.distance(tip) for tip in other.tips()}
    assert_allclose(new.rooted(root).depth[:n], [depth[str(i)] for i in range(n)], rtol=1e-9)


def test_outgroup_by_hand() -> None:
    for outgroup, text in [
        (["a"], "(a:0.5,(b:2.0,(c:4.0,d:0.0):3.0):0.5);"),
        ("a", "(a:0.5,(b:2.0,(c:4.0,d:0.0):3.0):0.5);"),
        (np.int64(0), "(a:0.5,(b:2.0,(c:4.0,d:0.0):3.0):0.5);"),
        (["c", 3], "((a:1.0,b:2.0):1.5,(c:4.0,d:0.0):1.5);"),
        ([0, "b", "b"], "((a:1.0,b:2.0):1.5,(c:4.0,d:0.0):1.5);"),
        (["d", "b", "c"], "(a:0.5,(b:2.0,(c:4.0,d:0.0):3.0):0.5);"),
    ]:
        tree, root = QUARTET.root_at_outgroup(outgroup)
        assert tree.newick(root) == text
        assert tree.root_at_outgroup(outgroup) == (tree, root)


def test_outgroups_that_are_refused() -> None:
    for outgroup, message in [
        (["a", "c"], "no edge separates these 2 points from the others"),
        ([], "got 0 of 4"),
        (list("abcd"), "got 4 of 4"),
        ("abcd", "'abcd' is not in the tree"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            QUARTET.root_at_outgroup(outgroup)
    with pytest.raises(ValueError, match="no edge separates these 1 points"):
        Tree(3, [[0, 1], [1, 2]], [1.0, 1.0]).root_at_outgroup([1])


@settings(max_examples=40)
@given(trees(max_nodes=20, min_points=2), st.data())
def test_outgroups_are_splits(tree: Tree, data: st.DataObject) -> None:
    splits = naive_splits(tree)
    side = sorted(data.draw(st.sampled_from(sorted(splits, key=sorted))))
    new, root = tree.root_at_outgroup(side)
    assert_allclose(new.distances(), tree.distances(), atol=1e-9)
    rooted = new.rooted(root)
    branch = np.arange(new.n_nodes)
    for node in rooted.order[1:]:
        if rooted.parent[node] != root:
            branch[node] = branch[rooted.parent[node]]
    inside = set(branch[side].tolist())
    assert inside.isdisjoint(branch[[i for i in range(len(tree)) if i not in side]].tolist())


def test_support_goes_to_both_halves() -> None:
    nan = float("nan")
    tree = Tree(4, QUARTET.edges, QUARTET.weights, support=[nan, nan, 0.5, nan, nan])
    new, _ = tree.root_at_midpoint()
    assert new.support is not None
    assert_array_equal(new.support, [nan, nan, 0.5, nan, nan, 0.5])


def test_deep_trees() -> None:
    deep = caterpillar(100_000)
    new, root = deep.root_at_midpoint()
    assert new.rooted(root).depth[: len(deep)].max() == pytest.approx(
        deep.block([0], [len(deep) - 1])[0, 0] / 2, rel=0.1
    )
    assert deep.root_at_outgroup(range(1000))[0].n_nodes == deep.n_nodes + 1
