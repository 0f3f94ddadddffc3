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
from treerep.fitting.evolution import minimum_evolution as module
from treerep.fitting.evolution.minimum_evolution import Search

CRITERIA = ("balanced", "ols")
Edges = list[tuple[int, int]]


def learn(d: np.ndarray, criterion: str = "balanced", nni: bool = True) -> tr.Tree:
    return tr.fit(d, method="minimum_evolution", criterion=criterion, nni=nni)


def run(d: np.ndarray, criterion: str, nni: bool) -> tuple[np.ndarray, np.ndarray]:
    """Edges and lengths before negative ones are set to 0."""
    with Workers(1) as workers:
        search = Search(d, criterion == "balanced", workers)
        search.insert()
        search.average()
        if nni:
            search.exchange()
        return search.tree()


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


def length(d: np.ndarray, edges: Edges, criterion: str) -> float:
    n = sum(node < len(d) for edge in edges for node in edge)  # points in the tree so far: all are leaves
    paths = path_matrix(n, edges)
    distances = d[:n, :n][np.triu_indices(n, 1)]
    if criterion == "balanced":
        return float((2.0 ** (1 - paths.sum(axis=1)) * distances).sum())
    return float(np.linalg.lstsq(paths, distances, rcond=None)[0].sum())


def insertions(n: int, edges: Edges, point: int) -> Iterator[Edges]:
    """Every tree with one point more; its new node is n + point."""
    for k, (u, v) in enumerate(edges):
        middle = n + point
        yield [*edges[:k], *edges[k + 1 :], (u, middle), (middle, v), (middle, point)]


def naive_insertion(d: np.ndarray, criterion: str) -> Edges:
    edges: Edges = [(0, 1)]
    for point in range(2, len(d)):
        edges = min(insertions(len(d), edges, point), key=lambda tree: length(d, tree, criterion))
    return edges


def topologies(n: int) -> Iterator[Edges]:
    trees: list[Edges] = [[(0, 1)]]
    for point in range(2, n):
        trees = [new for tree in trees for new in insertions(n, tree, point)]
    yield from trees


def neighbors(n: int, edges: Edges) -> Iterator[Edges]:
    """Every tree that is one exchange away."""
    for u, v in edges:
        if min(u, v) >= n:
            at_u, at_v = ([sum(e) - x for e in edges if x in e and {*e} != {u, v}] for x in (u, v))
            for other in at_v:
                swap = {
                    frozenset((u, at_u[0])): (v, at_u[0]),
                    frozenset((v, other)): (u, other),
                }
                yield [swap.get(frozenset(e), e) for e in edges]


def as_edges(array: np.ndarray) -> Edges:
    return [(int(u), int(v)) for u, v in array]


# By hand


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("nni", [True, False])
def test_four_points_by_hand(criterion: str, nni: bool) -> None:
    d = np.array([[0, 2, 3, 5], [2, 0, 4, 4], [3, 4, 0, 2], [5, 4, 2, 0]])
    # 01|23 has the smallest sum. Middle: (3 + 5 + 4 + 4)/4 - (2 + 2)/2 = 2; point 0: (2 + (3 + 5)/2 - (4 + 4)/2)/2 = 1.
    tree = learn(d, criterion, nni)
    assert_array_equal(tree.edges, [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]])
    assert_array_equal(tree.weights, [1.0, 1.0, 0.5, 1.5, 2.0])
    assert tree.total_length == (2 + 2) / 2 + (3 + 5 + 4 + 4) / 4  # 2^(1-2) and 2^(1-3)


def test_a_wrong_insertion_is_repaired_by_an_exchange() -> None:
    found = 0
    for seed in range(30):
        d = random_matrix(7, seed)
        before, after = (sum(run(d, "balanced", nni)[1]) for nni in (False, True))
        assert after <= before
        found += after < before - 1e-9
    assert found > 3


def test_negative_lengths_become_zero() -> None:
    d = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 4.0], [1.0, 4.0, 0.0]])
    assert run(d, "balanced", True)[1].min() == -1.0  # point 0: (1 + 1 - 4)/2
    assert_array_equal(learn(d).weights, [0.0, 2.0, 2.0])


# Against the twins


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(6))
def test_insertion_is_that_of_the_plain_twin(criterion: str, seed: int) -> None:
    n = 6 + seed % 3
    d = random_matrix(n, seed)
    edges, _ = run(d, criterion, nni=False)
    assert splits(n, as_edges(edges)) == splits(n, naive_insertion(d, criterion))


@pytest.mark.parametrize("nni", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n", [3, 4, 9, 14])
def test_edge_lengths(criterion: str, n: int, nni: bool) -> None:
    d = random_matrix(n, n)
    edges, lengths = run(d, criterion, nni)
    paths = path_matrix(n, as_edges(edges))
    distances = d[np.triu_indices(n, 1)]
    if criterion == "ols":
        assert_allclose(lengths, np.linalg.lstsq(paths, distances, rcond=None)[0], atol=1e-12)
    else:
        # Pauplin's formula for the whole tree.
        assert_allclose(lengths.sum(), (2.0 ** (1 - paths.sum(axis=1)) * distances).sum(), rtol=1e-12)
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


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_no_exchange_makes_the_result_shorter(criterion: str, seed: int) -> None:
    n = 9
    d = random_matrix(n, 100 + seed)
    array, lengths = run(d, criterion, nni=True)
    edges = as_edges(array)
    own = length(d, edges, criterion)
    assert_allclose(lengths.sum(), own)
    others = [length(d, other, criterion) for other in neighbors(n, edges)]
    assert len(others) == 2 * (n - 3)
    assert min(others) >= own - 1e-9


@pytest.mark.parametrize("criterion", CRITERIA)
def test_averages_after_an_exchange_are_those_from_scratch(criterion: str) -> None:
    exchanges = 0
    for n in (5, 9, 20, 60):
        balanced = criterion == "balanced"
        with Workers(1) as workers:
            search = Search(random_matrix(n, n), balanced, workers)
            search.insert()
            inner = search.sides.point < 0
            inserted = search.sides.pair.copy()
            search.average()
            assert_allclose(inserted[inner], search.sides.pair[inner], rtol=1e-12)
            before = search.length()
            while module.exchange_best(search.sides, search.matrix, search.workspace, 1e-12, balanced, 1, 1):
                pair, cross = search.sides.pair.copy(), search.sides.cross.copy()
                search.average()
                inside = inner[::2] & inner[1::2]
                assert_allclose(pair[inner], search.sides.pair[inner], rtol=1e-12)
                assert_allclose(cross[inside], search.sides.cross[inside], rtol=1e-12)
                assert search.length() < before
                before = search.length()
                exchanges += 1
    assert exchanges > 10


@pytest.mark.parametrize("criterion", CRITERIA)
def test_tree_metrics_give_the_shortest_of_all_trees(criterion: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(2):
        edges = next(itertools.islice(topologies(6), int(rng.integers(105)), None))
        paths = path_matrix(6, edges)
        d = np.zeros((6, 6))
        d[np.triu_indices(6, 1)] = paths @ rng.uniform(0.2, 1.0, len(edges))
        d += d.T
        found = as_edges(run(d, criterion, nni=True)[0])
        assert splits(6, found) == splits(6, edges)
        assert_allclose(
            length(d, found, criterion),
            min(length(d, tree, criterion) for tree in topologies(6)),
        )


# Against scikit-bio


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [8, 30])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_against_scikit_bio(criterion: str, n: int, seed: int) -> None:
    tree_module = pytest.importorskip("skbio.tree")
    from skbio import DistanceMatrix

    d = random_matrix(n, seed)
    table = DistanceMatrix(d, [f"p{i}" for i in range(n)])
    theirs = (tree_module.bme if criterion == "balanced" else tree_module.gme)(table)
    assert splits(n, as_edges(run(d, criterion, nni=False)[0])) == skbio_splits(theirs, n)
    theirs = tree_module.nni(theirs, table, balanced=criterion == "balanced")
    edges, lengths = run(d, criterion, nni=True)
    assert splits(n, as_edges(edges)) == skbio_splits(theirs, n)
    assert_allclose(lengths.sum(), sum(node.length for node in theirs.traverse(include_self=False)))


def skbio_splits(tree, n: int) -> set[frozenset[int]]:  # type: ignore[no-untyped-def]
    found = set()
    for node in tree.traverse(include_self=False):
        points = frozenset(int(tip.name[1:]) for tip in node.tips(include_self=True))
        found.add(frozenset(range(n)) - points if 0 in points else points)
    return found


# What always holds


@settings(max_examples=60)
@given(tree_metrics(30), st.sampled_from(CRITERIA), st.booleans())
def test_tree_metrics_are_recovered(d: np.ndarray, criterion: str, nni: bool) -> None:
    tree = learn(d, criterion, nni)
    assert_allclose(tree.distances(), d, atol=1e-11 * d.max(initial=0.0))


@settings(max_examples=30)
@given(tree_metrics(12), st.integers(1, 12), st.sampled_from(CRITERIA))
def test_duplicates_are_at_distance_zero(d: np.ndarray, copies: int, criterion: str) -> None:
    owner = np.random.default_rng(copies).integers(0, len(d), len(d) + copies)
    d = d[np.ix_(owner, owner)]
    assert_allclose(learn(d, criterion).distances(), d, atol=1e-11 * d.max())


@settings(max_examples=60)
@given(st.one_of(any_symmetric(), integer_metrics()), st.sampled_from(CRITERIA))
def test_any_matrix_gives_a_binary_tree_and_exchanges_only_shorten_it(d: np.ndarray, criterion: str) -> None:
    if len(d) < 3:
        return
    (_, before), (edges, after) = run(d, criterion, nni=False), run(d, criterion, nni=True)
    assert after.sum() <= before.sum() + 1e-9 * d.max()
    degrees = np.bincount(edges.ravel())
    assert_array_equal(degrees, [1] * len(d) + [3] * (len(d) - 2))
    assert len(learn(d, criterion)) == len(d)


@settings(max_examples=20)
@given(integer_metrics(), st.sampled_from(CRITERIA))
def test_layout_dtype_and_scale_do_not_matter(d: np.ndarray, criterion: str) -> None:
    reference = learn(d, criterion)
    for variant in (np.asfortranarray(d), d.astype(np.uint8), d.astype(np.float32)):
        assert learn(variant, criterion) == reference
    for scale in (2.0**500, 2.0**-500):  # about 1e150 and 1e-150
        scaled = learn(d * scale, criterion)
        assert_array_equal(scaled.edges, reference.edges)
        assert_array_equal(scaled.weights, reference.weights * scale)


# Edge cases


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 50])
def test_all_distances_equal(n: int, criterion: str) -> None:
    d = 2.0 * (1 - np.eye(n))
    assert_allclose(learn(d, criterion).distances(), d, atol=1e-13)
    assert_array_equal(learn(0 * d, criterion).distances(), 0 * d)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_long_path_in_any_order(criterion: str) -> None:
    place = np.random.default_rng(0).permutation(1500)
    d = np.abs(np.subtract.outer(place, place))
    assert_allclose(learn(d, criterion).distances(), d, atol=1e-11 * 1500)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_looking_up_more_often_gives_the_same_tree(criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    d = random_matrix(40, 0)
    reference = learn(d, criterion)
    monkeypatch.setattr(module, "_BUDGET", 1)
    assert learn(d, criterion) == reference


def test_an_interrupt_is_noticed() -> None:
    with Workers(1) as workers:
        search = Search(random_matrix(10, 0), True, workers)
        workers.stopped.set()
        for step in (search.insert, search.average, search.exchange):
            with pytest.raises(KeyboardInterrupt):
                step()


def test_labels_are_kept() -> None:
    space = tr.MatrixMetric(random_matrix(5, 0), labels=list("abcde"))
    assert tr.fit(space, method="minimum_evolution").labels == tuple("abcde")


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValueError, match="criterion must be one of 'balanced', 'ols', not 'wls'"):
        learn(random_matrix(4, 0), "wls")
    with pytest.raises(ValueError, match="nni must be True or False, not 'yes'"):
        tr.fit(random_matrix(4, 0), method="minimum_evolution", nni="yes")  # type: ignore[call-overload]


def test_too_many_points_are_refused_before_memory_runs_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 100)
    with pytest.raises(MemoryError, match="minimum_evolution on 10 points needs"):
        learn(random_matrix(10, 0))
