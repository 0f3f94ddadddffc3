import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tree.strategies import trees
from treerep.drawing.layouts._passes import (
    last_below,
    path_sums,
    rooted_view,
    sibling_ranks,
    turn_flat,
)
from treerep.embedding.sarkar.construction import center
from treerep.tree.tree import Tree


@st.composite
def rooted_trees(draw: st.DrawFn):
    tree = draw(trees())
    return rooted_view(tree, draw(st.integers(0, tree.n_nodes - 1)))


@given(rooted_trees())
@settings(max_examples=40)
def test_passes_agree_with_loops_over_the_nodes(view):
    n = len(view.up)
    depth, last, children = np.zeros(n), np.arange(n), [[] for _ in range(n)]
    for p in range(1, n):
        depth[p] = depth[view.up[p]] + view.length[p]
        children[view.up[p]].append(p)
    for p in range(n - 1, 0, -1):
        last[view.up[p]] = max(last[view.up[p]], last[p])
    np.testing.assert_allclose(path_sums(view.up, view.length), depth, atol=1e-12)
    np.testing.assert_array_equal(last_below(view), last)
    rank, count = sibling_ranks(view.up)
    assert count.tolist() == [len(family) for family in children]
    assert all(rank[child] == k for family in children for k, child in enumerate(family))


def test_a_tree_hangs_from_its_center():
    path = Tree(5, [[0, 1], [1, 2], [2, 3], [3, 4]], [1.0, 1.0, 1.0, 1.0])
    assert center(path) == 2
    assert rooted_view(path, None).position[2] == 0
    assert rooted_view(path, 4).position[4] == 0


def test_nodes_at_one_place_are_merged():
    # 2 and 3 are one point, from which 0, 1 and 4 rooted_view.
    tree = Tree(2, [[0, 2], [2, 3], [3, 1], [3, 4]], [1.0, 0.0, 2.0, 3.0])
    view = rooted_view(tree, 2, merge=True)
    assert view.position[2] == view.position[3] == 0
    assert sorted(view.length) == [0.0, 1.0, 2.0, 3.0]
    assert view.up.tolist() == [-1, 0, 0, 0]


def test_a_million_deep_path_is_no_problem():
    n = 1_000_000
    assert path_sums(np.arange(n) - 1, np.ones(n))[-1] == n - 1


@pytest.mark.parametrize("angle", [0.3, 2.0, 4.0])
def test_pictures_lie_flat(angle):
    flat = np.array([0.0, 1.0, 2.0, 5.0, 3.0 + 0.5j, 3.0 - 0.5j])
    np.testing.assert_allclose(turn_flat(flat * np.exp(1j * angle)), flat, atol=1e-12)


def test_a_picture_without_a_longest_side_stays():
    square = np.array([1.0, 1j, -1.0, -1j])
    np.testing.assert_array_equal(turn_flat(square), square)
