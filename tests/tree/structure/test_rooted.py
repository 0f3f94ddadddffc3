"""Trees in preorder against plain loops over their nodes."""

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.tree.strategies import trees
from treerep.tree.structure.rooted import (
    Preorder,
    edges_of,
    heads,
    lower_ends,
    merged,
    points_below,
    preorder,
    rerooted,
)
from treerep.tree.tree import Tree


def ancestors(view: Preorder, k: int) -> list[int]:
    """Return k and all positions above it, the lowest first."""
    found = [k]
    while view.up[found[-1]] >= 0:
        found.append(int(view.up[found[-1]]))
    return found


def check_preorder(view: Preorder) -> None:
    """Check that fields agree: subtrees are in one piece, and parents come first."""
    n = len(view.up)
    assert view.up[0] == -1 and view.length[0] == 0
    assert_array_equal(view.position[view.order], np.arange(n))
    for k in range(n):
        below = [j for j in range(n) if k in ancestors(view, j)]
        assert below == list(range(k, k + view.size[k]))


def same_edges(view: Preorder, tree: Tree) -> bool:
    found, expected = nx.Graph(), nx.Graph()
    found.add_weighted_edges_from(np.column_stack(edges_of(view)).tolist())
    expected.add_weighted_edges_from(np.column_stack([tree.edges, tree.weights]).tolist())
    return nx.utils.graphs_equal(found, expected)


@given(trees(), st.data())
@settings(max_examples=40)
def test_sizes_and_points_below_are_those_of_plain_loops(tree: Tree, data: st.DataObject) -> None:
    view = preorder(tree.edges, tree.weights, data.draw(st.integers(0, tree.n_nodes - 1)))
    check_preorder(view)
    assert same_edges(view, tree)
    found = points_below(view, tree.n_points)
    for k, size in enumerate(view.size):
        assert found[k] == np.count_nonzero(view.order[k : k + size] < tree.n_points)


@given(trees(), st.data())
@settings(max_examples=40)
def test_a_rerooted_tree_is_the_same_tree(tree: Tree, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, tree.n_nodes - 1))
    view = rerooted(tree._view, at)
    check_preorder(view)
    assert view.order[0] == tree._view.order[at]
    assert same_edges(view, tree)


@given(trees(), st.data())
@settings(max_examples=40)
def test_heads_are_those_of_climbing(tree: Tree, data: st.DataObject) -> None:
    view = tree._view
    marks = st.lists(st.booleans(), min_size=tree.n_nodes, max_size=tree.n_nodes)
    joined = np.array(data.draw(marks))
    for k, head in enumerate(heads(view.up, joined)):
        assert head == next(j for j in ancestors(view, k) if j == 0 or not joined[j])


@given(trees())
@settings(max_examples=40)
def test_merged_nodes_are_those_at_distance_zero(tree: Tree) -> None:
    view = merged(tree._view)
    check_preorder(view)
    assert (view.length[1:] > 0).all()
    graph = nx.Graph()
    graph.add_nodes_from(range(tree.n_nodes))
    graph.add_edges_from(tree.edges[tree.weights == 0].tolist())
    groups = {frozenset(np.flatnonzero(view.position == k).tolist()) for k in range(len(view.up))}
    assert groups == {frozenset(group) for group in nx.connected_components(graph)}


@given(trees())
@settings(max_examples=40)
def test_lower_ends_hold_their_edge(tree: Tree) -> None:
    view = tree._view
    lower = lower_ends(tree.edges, view)
    assert_array_equal(view.length[lower], tree.weights)
    ends = np.column_stack([view.order[lower], view.order[view.up[lower]]])
    assert_array_equal(np.sort(ends, axis=1), np.sort(tree.edges, axis=1))
