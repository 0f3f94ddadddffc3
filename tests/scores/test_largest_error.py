"""The lower bound on the largest error: by hand, against the best of all small trees, and on tree metrics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep.scores.largest_error import choose_roots, largest_error_bound, root_errors


def cycle(n: int) -> np.ndarray:
    steps = np.abs(np.arange(n)[:, None] - np.arange(n))
    return np.minimum(steps, n - steps).astype(float)


def topologies(n: int) -> list[list[tuple[int, int]]]:
    """Return the edges of all binary trees with leaves 0 ... n - 1, each built leaf by leaf."""
    found = [[(0, n), (1, n), (2, n)]] if n > 2 else [[(0, 1)]]
    for leaf in range(3, n):
        new = n + leaf - 2
        found = [
            [*(e for e in edges if e != cut), (cut[0], new), (cut[1], new), (leaf, new)]
            for edges in found
            for cut in edges
        ]
    return found


def paths(n: int, edges: list[tuple[int, int]]) -> np.ndarray:
    """Return which edges separate which pair of leaves: one row per pair."""
    i, j = np.triu_indices(n, 1)
    rows = np.empty((len(i), len(edges)))
    for k, (start, _) in enumerate(edges):
        rest = [e for e in edges if e != edges[k]]
        side = {start}
        for _ in edges:
            side |= {v for e in rest if side & set(e) for v in e}
        inside = np.isin(np.arange(n), list(side))
        rows[:, k] = inside[i] != inside[j]
    return rows


def least_error(d: np.ndarray) -> float:
    """Return the largest error of the best tree: one linear program for each topology."""
    n = len(d)
    if n < 3:
        return 0.0
    true = d[np.triu_indices(n, 1)]
    best = np.inf
    for edges in topologies(n):
        rows = paths(n, edges)
        slack = np.ones((len(rows), 1))
        left = np.block([[rows, -slack], [-rows, -slack]])
        price = np.append(np.zeros(len(edges)), 1.0)
        best = min(best, linprog(price, left, np.concatenate([true, -true])).fun)
    return best


def chain_error(d: np.ndarray, root: int) -> float:
    """Return the root error by the definition: chain products as in Floyd's algorithm."""
    product = (d[root][:, None] + d[root] - d) / 2
    chain = product.copy()
    for k in range(len(d)):
        chain = np.maximum(chain, np.minimum(chain[:, k : k + 1], chain[k]))
    np.fill_diagonal(chain, 0)
    np.fill_diagonal(product, 0)
    return float((chain - product).max())


def test_a_square_by_hand() -> None:
    # From any root, the two neighbors have product 0 with each other and 1 with the opposite point.
    # Their chain product through the opposite point is therefore 1, and the root error is 1.
    square = cycle(4)
    assert root_errors(square, np.arange(4), 1).tolist() == [1.0] * 4
    assert largest_error_bound(square) == pytest.approx(1 / 3)
    # The star with edges of length 3/4 has distances 3/2 and errors of 1/2.
    assert least_error(square) == pytest.approx(1 / 2)


def test_long_chains_count() -> None:
    # Two points of a cycle far from the root are connected by a chain of three steps or more.
    for n in range(5, 12):
        assert root_errors(cycle(n), np.arange(n), 2) == pytest.approx(
            [chain_error(cycle(n), a) for a in range(n)]
        )


@given(any_symmetric(max_points=12))
def test_root_errors_are_those_of_the_definition(d: np.ndarray) -> None:
    n = len(d)
    found = root_errors(d, np.arange(n), 1)
    np.testing.assert_allclose(found, [chain_error(d, a) for a in range(n)], atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(any_symmetric(max_points=5) | integer_metrics(max_points=5))
def test_no_tree_is_below_the_bound(d: np.ndarray) -> None:
    assert largest_error_bound(d) <= least_error(d) + 1e-9


@given(tree_metrics())
def test_the_bound_of_a_tree_metric_is_0(d: np.ndarray) -> None:
    assert largest_error_bound(d) <= 1e-12 * d.max(initial=0.0)


@given(integer_metrics(), st.integers(1, 30))
def test_more_roots_raise_the_bound(d: np.ndarray, roots: int) -> None:
    few = largest_error_bound(d, roots=roots, n_jobs=1)
    assert few <= largest_error_bound(d, n_jobs=2)


def test_roots_are_different_points_and_fewer_for_many() -> None:
    rng = np.random.default_rng(0)
    assert sorted(choose_roots(2000, rng)) == list(range(2000))
    assert len(set(choose_roots(20_000, rng))) == 20
    assert len(choose_roots(10**6, rng)) == 8
    with pytest.raises(ValueError, match="roots must be a positive whole number, not 0"):
        largest_error_bound(cycle(4), roots=0)


def test_missing_distances_are_refused() -> None:
    nan = float("nan")
    metric = tr.MatrixMetric([[0, 1, 1], [1, 0, nan], [1, nan, 0]], missing=True)
    with pytest.raises(tr.MetricError, match="largest_error_bound needs all distances"):
        largest_error_bound(metric)
