"""Method linf: by hand, against the best of all small trees, each move against scipy, and on tree metrics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import treerep as tr
from tests.scores.test_largest_error import cycle, least_error
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from tests.trees import assert_same
from treerep.refinement.largest._soft_move_kernels import Errors, new_workspace, soften
from treerep.refinement.moves.search import binary_edges, binary_preorder
from treerep.tree.structure.rooted import edges_of


def error(tree: tr.Tree, d: np.ndarray) -> float:
    return float(np.abs(tree.distances() - d).max())


def metric_of(d: np.ndarray) -> np.ndarray:
    """Return the shortest paths, for which the triangle inequality holds."""
    closed = d + 0.1 * (1 - np.eye(len(d)))
    for k in range(len(d)):
        closed = np.minimum(closed, closed[:, k : k + 1] + closed[k])
    return closed


def test_the_best_tree_of_a_square_is_a_star() -> None:
    # A tree of the square with the error 1/2 has all distances in [1/2, 3/2], and 3/2 for opposite
    # points. The star with edges of length 3/4 is such a tree. Half the hyperbolicity is 1/2, too.
    square = cycle(4)
    assert error(tr.fit(square, method="linf"), square) == pytest.approx(0.5, abs=1e-3)
    assert error(tr.fit(square, method="linf", moves=False), square) == 1.0


@settings(max_examples=20, deadline=None)
@given((any_symmetric(max_points=5) | integer_metrics(max_points=5)).map(metric_of))
def test_the_error_is_at_most_three_times_that_of_the_best_tree(d: np.ndarray) -> None:
    best = least_error(d)
    moved = error(tr.fit(d, method="linf"), d)
    rooted = error(tr.fit(d, method="linf", moves=False), d)
    assert best - 1e-9 <= moved <= rooted + 1e-12
    assert rooted <= 3 * best + 1e-9


def test_moves_come_close_to_the_best_of_105_trees() -> None:
    d = cycle(6)
    best = least_error(d)
    assert best <= error(tr.fit(d, method="linf"), d) <= 1.02 * best


@given(any_symmetric(max_points=20), st.integers(0, 9))
def test_moves_never_raise_the_error(d: np.ndarray, seed: int) -> None:
    if len(d) > 1:
        moved, rooted = (tr.fit(d, method="linf", rng=seed, moves=moves) for moves in (True, False))
        assert error(moved, d) <= error(rooted, d)


@given(tree_metrics())
def test_tree_metrics_come_back(d: np.ndarray) -> None:
    tree = tr.fit(d, method="linf")
    assert_allclose(tree.distances(), d, atol=1e-9 * d.max(initial=0.0))


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-20, 2.0**1000])
def test_the_unit_of_the_distances_does_not_matter(unit: float) -> None:
    d = cycle(9)
    tree = tr.fit(d, method="linf")
    assert_same(tr.fit(d * unit, method="linf"), tree.with_weights(tree.weights * unit))


def test_small_errors_of_a_long_tree_are_reduced() -> None:
    """The rate depends on the errors, not on the distances, which are 10,000 times as large."""
    rng = np.random.default_rng(0)
    tree = tr.datasets.random_tree(60, rng=1, weights=(100, 200))
    noise = np.triu(rng.uniform(-0.1, 0.1, (60, 60)), 1)
    d = tree.distances() + noise + noise.T
    moved, rooted = (error(tr.fit(d, method="linf", moves=moves), d) for moves in (True, False))
    assert moved < 0.75 * rooted
    assert moved <= 0.1001


def test_time_limit_and_options() -> None:
    d = cycle(12)
    rooted = tr.fit(d, method="linf", moves=False)
    assert error(tr.fit(d, method="linf", time_limit=1e-9), d) == error(rooted, d)
    with pytest.raises(ValueError, match="moves must be True or False, not 'no'"):
        tr.fit(d, method="linf", moves="no")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="time_limit must be a positive number of seconds"):
        tr.fit(d, method="linf", time_limit=0)


class Steps:
    """One move at a time, with the errors of a random tree."""

    def __init__(self, n: int, seed: int, rate: float) -> None:
        rng = np.random.default_rng(seed)
        upper = np.triu(rng.uniform(1, 4, (n, n)), 1)
        self.d = upper + upper.T
        tree = tr.fit(self.d, method="neighbor_joining")
        tree = tree.with_weights(rng.exponential(size=len(tree.weights)))
        self.rate = rate
        self.rooted = binary_preorder(*binary_edges(tree.contracted()), 0)
        q = self.tree().distances() - self.d
        self.errors = Errors(np.exp(rate * q), rate, 2 * np.abs(q).max())
        self.start = self.tree()

    def tree(self) -> tr.Tree:
        return tr.Tree(len(self.d), *edges_of(self.rooted))

    def objective(self, tree: tr.Tree) -> float:
        q = self.rate * (tree.distances() - self.d)[np.triu_indices(len(self.d), 1)]
        return float(2 * np.cosh(q).sum())

    def move(self, node: int) -> None:
        workspace = new_workspace(len(self.d))
        soften(self.rooted, self.errors, workspace, np.array([node]), 0, 1)


def places(tree: tr.Tree, leaf: int) -> list[tuple[list[tuple[int, int]], list[float], int]]:
    """Return the tree without a leaf, and then with the leaf on each edge: edges, lengths, the edge."""
    graph = tree.to_networkx()
    (p,) = graph[leaf]
    graph.remove_node(leaf)
    a, b = graph[p]
    length = sum(graph.edges[p, v]["weight"] for v in (a, b))
    graph.remove_node(p)
    graph.add_edge(a, b, weight=length)
    rest = list(graph.edges(data="weight"))
    found = []
    for k, (u, v, length) in enumerate(rest):
        others = [e for i, e in enumerate(rest) if i != k]
        edges = [(x, y) for x, y, _ in others] + [(u, p), (p, v), (p, leaf)]
        found.append((edges, [w for _, _, w in others], length))
    return found


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 2.0, 8.0]))
def test_a_point_moves_to_the_best_place_that_scipy_finds(seed: int, rate: float) -> None:
    steps = Steps(7, seed, rate)
    steps.move(3)
    best = steps.objective(steps.start)
    for edges, others, length in places(steps.start, 3):

        def cost(x: np.ndarray, edges=edges, others=others, length=length) -> float:
            lengths = [*others, x[0] * length, (1 - x[0]) * length, x[1]]
            return float(np.log(steps.objective(tr.Tree(7, edges, lengths))))

        for along in (0.1, 0.9):
            found = minimize(cost, [along, 1.0], bounds=[(0, 1), (0, 50)], method="L-BFGS-B")
            best = min(best, np.exp(found.fun))
    after = steps.objective(steps.tree())
    assert after <= best * (1 + 1e-6)
    assert after == pytest.approx(best, rel=1e-3)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 4.0]))
def test_every_move_lowers_the_objective_and_keeps_the_errors_up_to_date(seed: int, rate: float) -> None:
    steps = Steps(12, seed, rate)
    before = steps.objective(steps.start)
    for node in np.random.default_rng(seed).permutation(22):
        steps.move(int(node))
        after = steps.objective(steps.tree())
        assert after <= before * (1 + 1e-12)
        before = after
    q = steps.tree().distances() - steps.d
    assert_allclose(np.log(steps.errors.growth) / rate, q, atol=1e-9)
