"""Minimum evolution: against plain twins that compute every length from scratch, all topologies, and scikit-bio."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep._core.parallel import Workers
from treerep.fitting.evolution._regraft import regraft

Edges = list[tuple[int, int]]


def learn(d: np.ndarray) -> tr.Tree:
    return tr.fit(d, method="minimum_evolution")


def run(d: np.ndarray, start: "Edges | None" = None) -> tuple[np.ndarray, np.ndarray]:
    """Edges and lengths before negative ones are set to 0, from a comb by default."""
    with Workers(1) as workers:
        return regraft(np.array(comb(len(d)) if start is None else start), d, workers)


def comb(n: int) -> "Edges":
    """The tree that grows when each point is inserted at the edge of the last one."""
    edges: Edges = [(0, 1)]
    for point in range(2, n):
        last = next(e for e in edges if point - 1 in e)
        edges.remove(last)
        edges += [
            (sum(last) - (point - 1), n + point - 2),
            (n + point - 2, point - 1),
            (n + point - 2, point),
        ]
    return edges


def random_matrix(n: int, seed: int) -> np.ndarray:
    d = np.triu(np.random.default_rng(seed).uniform(1.0, 2.0, (n, n)), 1)
    return d + d.T


# A plain twin: trees are lists of edges, points are nodes 0 ... n-1, and every length is computed from scratch.


def path_matrix(n: int, edges: Edges) -> np.ndarray:
    """Row for each pair i < j of points, column for each edge: 1 if it lies between them."""
    rows = {(i, j): np.zeros(len(edges)) for i, j in itertools.combinations(range(n), 2)}
    for k, side in enumerate(one_side(edges)):
        for (i, j), row in rows.items():
            row[k] = (i in side) != (j in side)
    return np.array(list(rows.values()))


def one_side(edges: Edges) -> Iterator[set[int]]:
    """For every edge the nodes on the side of its second end."""
    for u, v in edges:
        side, todo = {v}, [v]
        while todo:
            node = todo.pop()
            for a, b in edges:
                for here, there in ((a, b), (b, a)):
                    if here == node and there not in side and {here, there} != {u, v}:
                        side.add(there)
                        todo.append(there)
        yield side


def splits(n: int, edges: Edges) -> set[frozenset[int]]:
    """The topology: for every edge the points on the side without point 0."""
    found = set()
    for side in one_side(edges):
        points = frozenset(p for p in side if p < n)
        found.add(frozenset(range(n)) - points if 0 in points else points)
    return found


def length(d: np.ndarray, edges: Edges) -> float:
    """Pauplin's formula."""
    paths = path_matrix(len(d), edges)
    return float((2.0 ** (1 - paths.sum(axis=1)) * d[np.triu_indices(len(d), 1)]).sum())


def insertions(n: int, edges: Edges, point: int) -> Iterator[Edges]:
    """Every tree with one point more; its new node is n + point."""
    for k, (u, v) in enumerate(edges):
        middle = n + point
        yield [*edges[:k], *edges[k + 1 :], (u, middle), (middle, v), (middle, point)]


def topologies(n: int) -> Iterator[Edges]:
    trees: list[Edges] = [[(0, 1)]]
    for point in range(2, n):
        trees = [new for tree in trees for new in insertions(n, tree, point)]
    yield from trees


def as_edges(array: np.ndarray) -> Edges:
    return [(int(u), int(v)) for u, v in array]


# By hand


def test_four_points_by_hand() -> None:
    d = np.array([[0, 2, 3, 5], [2, 0, 4, 4], [3, 4, 0, 2], [5, 4, 2, 0]])
    # 01|23 has the smallest sum. Middle: (3 + 5 + 4 + 4)/4 - (2 + 2)/2 = 2; point 0: (2 + (3 + 5)/2 - (4 + 4)/2)/2 = 1.
    tree = learn(d)
    assert_array_equal(tree.edges, [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]])
    assert_array_equal(tree.weights, [1.0, 1.0, 0.5, 1.5, 2.0])
    assert tree.total_length == (2 + 2) / 2 + (3 + 5 + 4 + 4) / 4  # 2^(1-2) and 2^(1-3)


def test_negative_lengths_become_zero() -> None:
    d = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 4.0], [1.0, 4.0, 0.0]])
    assert run(d)[1].min() == -1.0  # point 0: (1 + 1 - 4)/2
    assert_array_equal(learn(d).weights, [0.0, 2.0, 2.0])


# Against the twins


@pytest.mark.parametrize("n", [3, 4, 9, 14])
def test_edge_lengths(n: int) -> None:
    d = random_matrix(n, n)
    edges, lengths = run(d)
    assert_allclose(lengths.sum(), length(d, as_edges(edges)), rtol=1e-12)
    assert_allclose(lengths, balanced_lengths(d, as_edges(edges)), atol=1e-12)


def balanced_lengths(d: np.ndarray, edges: Edges) -> list[float]:
    """Edge by edge: weights 2^-depth within each of the subtrees at its ends, and the formula for four of them."""
    n = len(d)

    def weights(root: int, without: int) -> np.ndarray:
        w, todo = np.zeros(n), [(root, without, 1.0)]
        while todo:
            node, back, share = todo.pop()
            if node < n:
                w[node] = share
            todo += [(sum(e) - node, node, share / 2) for e in edges if node in e and back not in e]
        return w

    def subtrees(node: int, without: int) -> list[np.ndarray]:
        return [weights(sum(e) - node, node) for e in edges if node in e and without not in e]

    found = []
    for u, v in edges:
        if min(u, v) < n:
            leaf, node = min(u, v), max(u, v)
            a, b = subtrees(node, leaf)
            found.append((d[leaf] @ a + d[leaf] @ b - a @ d @ b) / 2)
        else:
            (a, b), (c, e) = subtrees(u, v), subtrees(v, u)
            found.append((a @ d @ c + a @ d @ e + b @ d @ c + b @ d @ e) / 4 - (a @ d @ b + c @ d @ e) / 2)
    return found


def test_tree_metrics_give_the_shortest_of_all_trees() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2):
        edges = next(itertools.islice(topologies(6), int(rng.integers(105)), None))
        paths = path_matrix(6, edges)
        d = np.zeros((6, 6))
        d[np.triu_indices(6, 1)] = paths @ rng.uniform(0.2, 1.0, len(edges))
        d += d.T
        found = as_edges(run(d)[0])
        assert splits(6, found) == splits(6, edges)
        assert_allclose(length(d, found), min(length(d, tree) for tree in topologies(6)))


# Against scikit-bio


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [8, 30])
def test_against_scikit_bio(n: int, seed: int) -> None:
    """From the tree of `bme` and `nni`, the search only makes the tree shorter."""
    tree_module = pytest.importorskip("skbio.tree")
    from skbio import DistanceMatrix

    d = random_matrix(n, seed)
    table = DistanceMatrix(d, [f"p{i}" for i in range(n)])
    theirs = tree_module.nni(tree_module.bme(table), table)
    length_of_theirs = sum(node.length for node in theirs.traverse(include_self=False))
    start = skbio_edges(theirs, n)
    assert_allclose(length(d, start), length_of_theirs)
    assert run(d, start)[1].sum() <= length_of_theirs * (1 + 1e-12)


def skbio_edges(tree, n: int) -> Edges:  # type: ignore[no-untyped-def]
    numbers = {node: n + k for k, node in enumerate(tree.non_tips(include_self=True))}
    numbers |= {node: int(node.name[1:]) for node in tree.tips()}
    return [(numbers[node.parent], numbers[node]) for node in tree.traverse(include_self=False)]


# What always holds


@settings(max_examples=60)
@given(tree_metrics(30))
def test_tree_metrics_are_recovered(d: np.ndarray) -> None:
    assert_allclose(learn(d).distances(), d, atol=1e-11 * d.max(initial=0.0))


@settings(max_examples=30)
@given(tree_metrics(12), st.integers(1, 12))
def test_duplicates_are_at_distance_zero(d: np.ndarray, copies: int) -> None:
    owner = np.random.default_rng(copies).integers(0, len(d), len(d) + copies)
    d = d[np.ix_(owner, owner)]
    assert_allclose(learn(d).distances(), d, atol=1e-11 * d.max())


@settings(max_examples=60)
@given(st.one_of(any_symmetric(), integer_metrics()))
def test_any_matrix_gives_a_binary_tree(d: np.ndarray) -> None:
    if len(d) < 3:
        return
    edges, _ = run(d)
    assert_array_equal(np.bincount(edges.ravel()), [1] * len(d) + [3] * (len(d) - 2))
    assert len(learn(d)) == len(d)


@settings(max_examples=20)
@given(integer_metrics())
def test_layout_dtype_and_scale_do_not_matter(d: np.ndarray) -> None:
    reference = learn(d)
    for variant in (np.asfortranarray(d), d.astype(np.uint8), d.astype(np.float32)):
        assert learn(variant) == reference
    for scale in (2.0**500, 2.0**-500):  # about 1e150 and 1e-150
        scaled = learn(d * scale)
        assert_array_equal(scaled.edges, reference.edges)
        assert_array_equal(scaled.weights, reference.weights * scale)


# Edge cases


@pytest.mark.parametrize("n", [1, 2, 3, 4, 50])
def test_all_distances_equal(n: int) -> None:
    d = 2.0 * (1 - np.eye(n))
    assert_allclose(learn(d).distances(), d, atol=1e-13)
    assert_array_equal(learn(0 * d).distances(), 0 * d)


def test_a_long_path_in_any_order() -> None:
    place = np.random.default_rng(0).permutation(1500)
    d = np.abs(np.subtract.outer(place, place))
    assert_allclose(learn(d).distances(), d, atol=1e-11 * 1500)


def test_labels_are_kept() -> None:
    space = tr.MatrixMetric(random_matrix(5, 0), labels=list("abcde"))
    assert tr.fit(space, method="minimum_evolution").labels == tuple("abcde")


def test_too_many_points_are_refused_before_memory_runs_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 100)
    with pytest.raises(MemoryError, match="minimum_evolution on 10 points needs"):
        learn(random_matrix(10, 0))
