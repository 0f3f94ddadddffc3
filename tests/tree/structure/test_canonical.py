"""Equal trees become equal arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from treerep.tree.structure.canonical import canonical_edges
from treerep.tree.tree import Tree

from ..strategies import naive_distances, renumbered, trees

SEEDS = st.integers(0, 2**32 - 1)


def naive_canonical(tree: Tree) -> tuple[list[list[int]], list[float]]:
    """The definition, by recursion and sorting."""
    graph = tree.to_networkx()

    def below(node: int, parent: int) -> int:
        return min([node, *(below(child, node) for child in graph[node] if child != parent)])

    number: dict[int, int] = {}

    def visit(node: int, parent: int) -> None:
        steiner = sum(v >= tree.n_points for v in number)
        number[node] = node if node < tree.n_points else tree.n_points + steiner
        for child in sorted((c for c in graph[node] if c != parent), key=lambda c: below(c, node)):
            visit(child, node)

    visit(0, -1)
    rows = [(*sorted((number[u], number[v])), w) for u, v, w in graph.edges.data("weight")]
    return [list(row[:2]) for row in sorted(rows)], [row[2] for row in sorted(rows)]


def test_by_hand() -> None:
    # 0 - 5 - (1, 6 - (2, 3)), 4 in the middle of 0 - 4 - 5.
    tree = Tree(5, [[6, 3], [5, 6], [5, 1], [2, 6], [4, 5], [4, 0]], [1, 2, 3, 4, 5, 6])
    canonical = tree.canonical()
    assert canonical.edges.tolist() == [[0, 4], [1, 5], [2, 6], [3, 6], [4, 5], [5, 6]]
    assert canonical.weights.tolist() == [6, 3, 4, 1, 5, 2]


@given(trees())
def test_agrees_with_the_definition(tree: Tree) -> None:
    canonical = tree.canonical()
    edges, weights = naive_canonical(tree)
    assert canonical.edges.tolist() == edges
    assert canonical.weights.tolist() == weights
    assert Tree(canonical.n_points, canonical.edges, canonical.weights) == canonical
    assert canonical.canonical() == canonical


@pytest.mark.parametrize("pairs", [3, 63, 64, 65, 66, 300, 40_000])
def test_a_node_with_many_children(pairs: int) -> None:
    # Pairs of points, each pair below its own node, and all of these nodes below one center.
    rng = np.random.default_rng(pairs)
    n = 2 * pairs
    pair_of = rng.permutation(n) // 2
    center = n + pairs
    edges = np.concatenate(
        [
            np.column_stack([np.arange(n), n + pair_of]),
            np.column_stack([np.arange(n, n + pairs), np.full(pairs, center)]),
        ]
    )
    # In preorder from point 0: its pair, the center, and the other pairs by their smallest points.
    _, first = np.unique(pair_of, return_index=True)
    rank = np.argsort(np.argsort(first))
    number = np.where(rank == 0, n, n + 1 + rank)
    expected = np.concatenate(
        [
            np.column_stack([np.arange(n), number[pair_of]]),
            [[n, n + 1]],
            np.column_stack([np.full(pairs - 1, n + 1), np.arange(n + 2, n + pairs + 1)]),
        ]
    )
    found, _ = canonical_edges(n, edges, np.ones(len(edges)))
    assert_array_equal(found, expected)
    nodes = rng.permutation(n).astype(np.int32)
    renamed = np.concatenate([nodes, np.arange(n, center + 1)])[edges]
    found, _ = canonical_edges(n, renamed, np.ones(len(edges)), nodes)
    assert_array_equal(found, expected)


@given(trees(leaves=True), SEEDS)
def test_does_not_depend_on_steiner_numbers_and_edge_order(tree: Tree, seed: int) -> None:
    assert renumbered(tree, np.random.default_rng(seed)).canonical() == tree.canonical()


@given(trees(leaves=True))
def test_keeps_distances_and_labels(tree: Tree) -> None:
    named = Tree(tree.n_points, tree.edges, tree.weights, [f"p{i}" for i in range(len(tree))])
    canonical = named.canonical()
    assert canonical.labels == named.labels
    n = len(tree)
    assert np.allclose(naive_distances(canonical)[:n, :n], naive_distances(tree)[:n, :n], rtol=1e-14, atol=0)


@given(trees(min_points=3, leaves=True), SEEDS)
def test_accepts_gaps(tree: Tree, seed: int) -> None:
    n, rng = tree.n_points, np.random.default_rng(seed)
    limit = max(2 * n, tree.n_nodes)
    number = np.concatenate([np.arange(n), n + rng.permutation(limit - n)[: tree.n_nodes - n]])
    edges, weights = canonical_edges(n, number[tree.edges].astype(np.int32), tree.weights)
    assert Tree(n, edges, weights) == tree.canonical()


@pytest.mark.parametrize(
    ("n_points", "edges", "message"),
    [
        (3, [[0, 3], [1, 3], [4, 5]], r"node 2 is not connected to node 0"),
        (3, [[0, 3], [1, 3], [2, 5]], r"node 2 is not connected to node 0"),
        (2, [[0, 2], [2, 3]], r"node 1 is not connected to node 0"),
        (2, [[1, 2], [2, 3]], r"node 1 is not connected to node 0"),
        (3, [[0, 1], [1, 2], [2, 0]], r"edge 2 \(2, 0\) closes a cycle"),
        (2, [[0, 0]], r"edge 0 \(0, 0\) closes a cycle and node 1"),
        (2, [[0, 4]], r"edge 0 is \(0, 4\), .* ids must be 0 to 3"),
    ],
)
def test_refuses(n_points: int, edges: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        canonical_edges(n_points, edges, np.ones(len(edges)))


def test_wrong_number_of_weights() -> None:
    with pytest.raises(ValueError, match=r"weights of shape \(1,\)"):
        canonical_edges(3, [[0, 1], [1, 2]], [1.0])


def test_arguments_stay_as_they_are() -> None:
    edges, weights = np.array([[3, 2], [3, 1], [0, 3]]), np.array([1.0, 2.0, 3.0])
    first, second = edges.copy(), weights.copy()
    canonical_edges(3, edges, weights)
    assert_array_equal(edges, first)
    assert_array_equal(weights, second)
