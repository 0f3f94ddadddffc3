import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tree.strategies import trees
from treerep.drawing.layouts._passes import hang, laid_flat, last_below, path_sums, sibling_ranks
from treerep.embedding.sarkar.construction import center
from treerep.tree.tree import Tree


@st.composite
def hung_trees(draw: st.DrawFn):
    tree = draw(trees())
    return hang(tree, draw(st.integers(0, tree.n_nodes - 1)))


@given(hung_trees())
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
    np.testing.assert_array_equal(last_below(view.up), last)
    rank, count = sibling_ranks(view.up)
    assert count.tolist() == [len(family) for family in children]
    assert all(rank[child] == k for family in children for k, child in enumerate(family))


def test_a_tree_hangs_from_its_centre():
    path = Tree(5, [[0, 1], [1, 2], [2, 3], [3, 4]], [1.0, 1.0, 1.0, 1.0])
    assert center(path) == 2
    assert hang(path, None).place[2] == 0
    assert hang(path, 4).place[4] == 0


def test_nodes_at_one_place_are_merged():
    # 2 and 3 are one point, from which 0, 1 and 4 hang.
    tree = Tree(2, [[0, 2], [2, 3], [3, 1], [3, 4]], [1.0, 0.0, 2.0, 3.0])
    view = hang(tree, 2, merge=True)
    assert view.place[2] == view.place[3] == 0
    assert sorted(view.length) == [0.0, 1.0, 2.0, 3.0]
    assert (view.up == 0).all()


def test_a_million_deep_path_is_no_problem():
    n = 1_000_000
    up = np.maximum(np.arange(n) - 1, 0)
    assert path_sums(up, np.ones(n))[-1] == n - 1
    assert (last_below(up) == n - 1).all()


@pytest.mark.parametrize("angle", [0.3, 2.0, 4.0])
def test_pictures_lie_flat(angle):
    flat = np.array([0.0, 1.0, 2.0, 5.0, 3.0 + 0.5j, 3.0 - 0.5j])
    np.testing.assert_allclose(laid_flat(flat * np.exp(1j * angle)), flat, atol=1e-12)


def test_a_picture_without_a_longest_side_stays():
    square = np.array([1.0, 1j, -1.0, -1j])
    np.testing.assert_array_equal(laid_flat(square), square)
