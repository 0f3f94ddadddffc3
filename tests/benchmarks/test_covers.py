"""Covers by trees: distances, slopes, starts and fitted lengths."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

import treerep as tr
from benchmarks.cover_lengths import CoverNeighborhoods, CoverPairs, cover_distances
from benchmarks.covers import SHORT, Problem, best_of, far_apart, violations
from treerep._core.parallel import Workers
from treerep.refinement.lengths._path_sum_kernels import SMOOTH
from treerep.refinement.lengths._splits import find_tree_splits, gather
from treerep.refinement.lengths.least_distortion import SMOOTHING


def cycle(n: int) -> tr.GraphMetric:
    points = np.arange(n)
    ends = np.concatenate([points, (points + 1) % n])
    others = np.concatenate([(points + 1) % n, points])
    return tr.GraphMetric(csr_array((np.ones(2 * n), (ends, others)), shape=(n, n)))


def random_trees(n: int, count: int, rng: np.random.Generator) -> list[tr.Tree]:
    """Return random recursive trees without Steiner nodes."""
    trees = []
    for _ in range(count):
        order = rng.permutation(n)
        edges = [(order[k], order[rng.integers(k)]) for k in range(1, n)]
        trees.append(tr.Tree(n, edges, rng.uniform(0.2, 1.0, n - 1)))
    return trees


@pytest.fixture
def problem():
    with Workers(1) as workers:
        yield Problem(cycle(6), workers)


def paired(trees: list[tr.Tree], problem: Problem) -> tuple[CoverPairs, np.ndarray]:
    """Return the pairs of a cover, and its lengths."""
    splits = [find_tree_splits(tree) for tree in trees]
    pairs = CoverPairs(splits, problem.table, None, 2.0, problem.workers)
    old = [gather(own, tree.weights) for own, tree in zip(splits, trees, strict=True)]
    return pairs, np.concatenate(old) / pairs.unit


def test_three_paths_cover_a_cycle(problem):
    # A path misses one edge, so the pairs whose shortest path uses this edge are too long. Opposite
    # points have two shortest paths. Without edge 0-5: 0-5, 0-4 and 1-5 are too long.
    def path(first: int) -> tr.Tree:
        points = (first + np.arange(6)) % 6
        return tr.Tree(6, np.column_stack([points[:-1], points[1:]]), np.ones(5))

    assert cover_distances([path(0)])[0, 5] == 5
    two = cover_distances([path(0), path(1)])  # the second path misses edge 0-1
    truth = problem.distances * problem.unit
    wrong = {(i, j) for i, j in np.argwhere(two != truth).tolist() if i < j}
    assert wrong == {(1, 5)}  # its only shortest path is 1-0-5
    np.testing.assert_array_equal(cover_distances([path(0), path(1), path(3)]), truth)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_value_and_slopes_agree_with_simple_code(problem, count):
    trees = random_trees(6, count, np.random.default_rng(count))
    pairs, length = paired(trees, problem)
    value, _ = pairs.sums(SMOOTH, length, SMOOTHING)
    least = np.min([tree.distances() for tree in trees], axis=0)
    expected = 0.0
    for i, j in itertools.combinations(range(6), 2):
        q = least[i, j] / problem.distances[i, j] - 1
        expected += np.sqrt(q**2 + SMOOTHING**2)
    assert value == pytest.approx(expected)
    for eps in (0.1, SMOOTHING):  # smooth minimum, and minimum
        slope = pairs.sums(SMOOTH, length, eps)[1]
        measured = approx_fprime(length, lambda x: pairs.sums(SMOOTH, x, eps)[0], 1e-7)  # noqa: B023
        np.testing.assert_allclose(slope, measured, atol=2e-4)


def test_slopes_of_neighborhoods_agree_with_differences(problem):
    trees = random_trees(6, 3, np.random.default_rng(3))
    pairs, length = paired(trees, problem)
    near = CoverNeighborhoods(problem.neighbors, pairs, trees, problem.graph)
    slope = near.smooth_loss(length, 0.3)[1]
    assert np.abs(slope).max() > 0.01
    measured = approx_fprime(length, lambda x: near.smooth_loss(x, 0.3)[0], 1e-7)
    np.testing.assert_allclose(slope, measured, atol=1e-5)


def test_narrow_steps_give_the_precision_of_the_minimum(problem):
    trees = random_trees(6, 3, np.random.default_rng(4))
    pairs, length = paired(trees, problem)
    near = CoverNeighborhoods(problem.neighbors, pairs, trees, problem.graph)
    assert near.smooth_loss(length, 1e-6)[0] == pytest.approx(near.loss(length))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4))
def test_lengths_never_become_worse(seed, count):
    rng = np.random.default_rng(seed)
    with Workers(1) as workers:
        problem = Problem(tr.PointMetric(rng.normal(size=(12, 2))), workers)
        trees = random_trees(12, count, rng)
        before = problem.distortion(trees)
        # The optimizer compares errors that are smoothed by at most SMOOTHING.
        assert problem.distortion(problem.fit_lengths(trees, SHORT)) <= before + SMOOTHING


@settings(max_examples=10, deadline=None)
@given(st.integers(5, 12), st.integers(1, 4))
def test_spanning_trees_are_never_too_short_and_more_are_better(n, count):
    with Workers(1) as workers:
        problem = Problem(cycle(n), workers)
    pool = problem.shortest_paths(range(n))
    chosen = best_of(problem, pool, count + 1)
    assert (cover_distances(chosen) >= problem.distances).all()
    assert problem.distortion(chosen) <= problem.distortion(chosen[:count])


def test_roots_are_far_apart(problem):
    assert sorted(far_apart(problem.distances, 2)) == [0, 3]


def test_violations_are_counted():
    line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    assert violations(line) == 0.0
    line[0, 2] = line[2, 0] = 5.0
    # 2 of the 27 triples (i, j, k) are broken: 0, 1, 2 and 2, 1, 0.
    assert violations(line) == pytest.approx(2 / 27, abs=0.01)
