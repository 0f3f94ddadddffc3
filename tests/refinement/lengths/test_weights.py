import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, lsq_linear, minimize, nnls

from tests.metrics import Table
from tests.strategies import any_symmetric
from tests.tree.strategies import caterpillar, naive_splits, trees
from treerep._core.parallel import Workers
from treerep.fitting.fit import fit
from treerep.metric.as_metric import as_metric
from treerep.metric.base import MetricError
from treerep.metric.matrix import MatrixMetric
from treerep.refinement.lengths import _pairs as module
from treerep.refinement.lengths import least_squares
from treerep.refinement.lengths._descent_kernels import dot
from treerep.refinement.lengths._path_sum_kernels import (
    FACTORS,
    PRODUCT,
    RELATIVE,
    SMOOTH,
    SQUARES,
    add_down,
    add_up,
    cut_sums,
    find_chains,
    row_sums,
    solve_cuts,
)
from treerep.refinement.lengths._principal_pivoting import principal_pivoting
from treerep.refinement.lengths._splits import gather, measured
from treerep.refinement.lengths.least_distortion import Memory, least_distortion
from treerep.refinement.lengths.weights import Pairs, find_tree_splits, fit_weights
from treerep.scores import _streaming as streaming
from treerep.scores.distortion import average_distortion
from treerep.tree.tree import Tree

QUARTET = [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]]


def path_matrix(tree):
    """A row per pair of points i < j, a column per edge: 1 if it lies between them. By walking every path."""
    column = {frozenset(edge): k for k, edge in enumerate(tree.edges.tolist())}
    pairs = list(itertools.combinations(range(len(tree)), 2))
    A = np.zeros((len(pairs), len(tree.edges)))
    for row, (i, j) in enumerate(pairs):
        for u, v in itertools.pairwise(tree.path(i, j).tolist()):
            A[row, column[frozenset((u, v))]] = 1.0
    return A


def factors(d, power):
    """Distance 0 counts like the smallest positive one."""
    return np.where(d > 0, d, d.min(where=d > 0, initial=np.inf) if d.any() else 1.0) ** (-power / 2)


def upper(matrix):
    return np.asarray(matrix, float)[np.triu_indices(len(matrix), 1)]


def random_metric(seed, n, zeros=0.0):
    rng = np.random.default_rng(seed)
    d = rng.uniform(0.5, 3.0, (n, n)) * (rng.random((n, n)) >= zeros)
    return np.triu(d, 1) + np.triu(d, 1).T


# By hand.


def test_three_leaves():
    # Any three distances fit: (3 + 4 - 5) / 2 = 1, (3 + 5 - 4) / 2 = 2, (4 + 5 - 3) / 2 = 3.
    fit = fit_weights(
        Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0]),
        as_metric([[0, 3, 4], [3, 0, 5], [4, 5, 0]]),
    )
    assert fit.tree.weights == pytest.approx([1.0, 2.0, 3.0], abs=1e-12)
    assert fit.start == 1 + 4 + 9
    assert fit.value == pytest.approx(0.0, abs=1e-24)
    assert fit.pairs == 3 and fit.exact and fit.residual <= 1e-9


def test_three_leaves_with_a_bound():
    # (1 + 1 - 4) / 2 < 0: leaf 0 stays at 0, so that d(0, 1) = b, d(0, 2) = c, d(1, 2) = b + c with b = c by symmetry:
    # (b - 1)^2 * 2 + (2 b - 4)^2 is least where 4 (b - 1) + 4 (2 b - 4) = 0, b = 5/3, with the value 8/9 + 4/9.
    fit = fit_weights(
        Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0]),
        as_metric([[0, 1, 1], [1, 0, 4], [1, 4, 0]]),
    )
    assert fit.tree.weights == pytest.approx([0.0, 5 / 3, 5 / 3], abs=1e-12)
    assert fit.value == pytest.approx(4 / 3, rel=1e-12)


def test_four_leaves():
    # Least squares on a quartet: inner = (ac + ad + bc + bd) / 4 - (ab + cd) / 2, a = ab / 2 + (ac + ad - bc - bd) / 4.
    d = np.array([[0, 3, 7, 8], [3, 0, 6, 9], [7, 6, 0, 4], [8, 9, 4, 0]], float)
    fit = fit_weights(Tree(4, QUARTET, np.ones(5)), MatrixMetric(d))
    a, b, inner = 1.5 + (7 + 8 - 6 - 9) / 4, 1.5 - (7 + 8 - 6 - 9) / 4, 30 / 4 - 7 / 2
    c, e = 2 + (7 + 6 - 8 - 9) / 4, 2 - (7 + 6 - 8 - 9) / 4
    assert fit.tree.weights == pytest.approx([a, b, inner, c, e], abs=1e-12)


def test_four_leaves_that_want_no_inner_edge():
    # inner < 0, so that the star remains: w_i = (R_i - T / 3) / 2 with R_i the row sums and T the sum over pairs.
    d = np.array([[0, 6, 4, 5], [6, 0, 5, 4], [4, 5, 0, 6], [5, 4, 6, 0]], float)
    fit = fit_weights(Tree(4, QUARTET, np.ones(5)), MatrixMetric(d))
    assert fit.tree.weights == pytest.approx([2.5, 2.5, 0.0, 2.5, 2.5], abs=1e-12)


def test_relative_squares_of_one_edge():
    # One edge 0 - 1 of an inner point: d(0,1) = 1, d(1,2) = 2, d(0,2) = 4, weights a, b.
    # sum ((x - d) / d)^2: a - 1 + (a + b - 4) / 16 = 0, (b - 2) / 4 + (a + b - 4) / 16 = 0.
    d = as_metric([[0, 1, 4], [1, 0, 2], [4, 2, 0]])
    fit = fit_weights(Tree(3, [[0, 1], [1, 2]], [1.0, 1.0]), d, power=2.0)
    expected = np.linalg.solve([[17 / 16, 1 / 16], [1 / 16, 5 / 16]], [1 + 1 / 4, 1 / 2 + 1 / 4])
    assert fit.tree.weights == pytest.approx(expected, rel=1e-10)


def test_average_distortion_of_one_edge():
    # Two points: any positive distance is met exactly, and the smoothed value is the smoothing itself.
    fit = fit_weights(Tree(2, [[0, 1]], [1.0]), as_metric([[0, 5], [5, 0]]), objective="l1")
    assert fit.tree.weights == pytest.approx([5.0], rel=1e-6)
    assert fit.value == pytest.approx(1e-3, rel=1e-6)


# Against other solvers.


def check_against_nnls(tree, distances, power):
    A, d = path_matrix(tree), upper(distances)
    u = factors(d, power)
    fit = fit_weights(tree, Table(distances), power=power)
    scaled = u[:, None] * A
    w = fit.tree.weights
    value = np.sum((scaled @ w - u * d) ** 2)
    # What rounding is measured against: the distances, or where all are 0 the tree that the search starts from.
    size = max(np.sum((u * d) ** 2), np.sum((scaled @ tree.weights) ** 2), 1e-300)
    assert (w >= 0).all()
    assert fit.value == pytest.approx(value, abs=1e-12 * size)
    assert fit.start == pytest.approx(
        np.sum((scaled @ tree.weights - u * d) ** 2), rel=1e-9, abs=1e-12 * size
    )
    assert fit.residual <= 1e-9 and fit.exact
    if A.any():
        # lsq_linear can stop too early here, where columns are equal.
        x, norm = nnls(scaled, u * d)
        assert value <= norm**2 + 1e-10 * size
        # The fitted distances are unique even where the weights are not.
        assert scaled @ w == pytest.approx(scaled @ x, abs=1e-8 * np.sqrt(size))


@settings(max_examples=60)
@given(
    trees(16, 2),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.5, 1.0, 2.0]),
)
def test_matches_nnls(tree, seed, power):
    check_against_nnls(tree, random_metric(seed, len(tree), zeros=0.1), power)


@settings(max_examples=60)
@given(trees(16, 2), st.integers(0, 2**32 - 1))
def test_guessing_which_edges_are_free_finds_the_same(tree, seed):
    """What many points are fitted by."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(least_squares, "_MANY_POINTS", 0)
        check_against_nnls(tree, random_metric(seed, len(tree), zeros=0.1), 0.0)


def test_guesses_are_few():
    d = random_metric(0, 300)
    tree = fit(Table(d), method="treerep")
    splits = find_tree_splits(tree)
    with Workers(1) as workers:
        problem = least_squares.Quadratic(Pairs(splits, Table(d), None, 0.0, workers))
        length = np.maximum(np.random.default_rng(0).normal(size=len(splits.up)), 0.0)
        gradient = problem.pairs.sums(SQUARES, length)[1]
        solved = []
        precondition = problem.precondition
        problem.precondition = lambda *given: solved.append(1) or precondition(*given)
        found = principal_pivoting(problem, length, gradient)
        assert found is not None
        assert problem.residual(found, problem.pairs.sums(SQUARES, found)[1]) < 1e-10
    assert len(solved) < 20
    assert (found == 0).sum() > 50, "bounds should be active here"


@pytest.mark.parametrize("rows", [None, np.arange(0, 40, 2)])
def test_held_edges_keep_their_lengths_and_the_others_fit(rows):
    d = random_metric(0, 40)
    tree = fit(Table(d), method="treerep")
    splits = find_tree_splits(tree)
    rng = np.random.default_rng(1)
    given = rng.random(len(splits.up))
    held = rng.random(len(given)) < 0.5
    with Workers(1) as workers:
        pairs = Pairs(splits, Table(d), rows, 0.0, workers)
        found = least_squares.least_squares(pairs, given, 1e-9, np.inf, held)
        before, after = (pairs.sums(SQUARES, length)[0] for length in (given, found.length))
        relative = Pairs(splits, Table(d), rows, 2.0, workers)
        close = least_distortion(relative, given, 1e-9, np.inf, held=held)
    assert_array_equal(found.length[held], given[held])
    assert_array_equal(close.length[held], given[held])
    assert after < before and close.value < close.start


@pytest.mark.parametrize("power", [0.0, 2.0])
def test_matches_lsq_linear_on_weights(power):
    tree = caterpillar(12)
    tree = tree.contracted()
    d = np.abs(tree.distances() + np.random.default_rng(1).normal(0, 0.7, (12, 12)))
    d = np.triu(d, 1) + np.triu(d, 1).T
    A, t = path_matrix(tree), upper(d)
    u = factors(t, power)
    reference = lsq_linear(u[:, None] * A, u * t, (0.0, np.inf), method="bvls", tol=1e-15)
    fit = fit_weights(tree, MatrixMetric(d), power=power)
    assert fit.tree.weights == pytest.approx(reference.x, abs=1e-8)
    assert (reference.x <= 1e-9).sum() > 2, "bounds should be active here"


@pytest.mark.parametrize("seed", range(4))
def test_average_distortion_near_the_linear_programme(seed):
    tree = caterpillar(11, seed).contracted()
    d = random_metric(seed, 11)
    A, t = path_matrix(tree), upper(d)
    # min mean s with -s <= A w / t - 1 <= s, w >= 0
    rows, edges = A.shape
    R = A / t[:, None]
    programme = linprog(
        np.r_[np.zeros(edges), np.full(rows, 1 / rows)],
        np.block([[R, -np.eye(rows)], [-R, -np.eye(rows)]]),
        np.r_[np.ones(rows), -np.ones(rows)],
    )
    fit = fit_weights(tree, MatrixMetric(d), objective="l1")
    plain = float(average_distortion(fit.tree, MatrixMetric(d)))
    assert fit.start == pytest.approx(np.sqrt((R @ tree.weights - 1) ** 2 + 1e-6).mean(), rel=1e-12)
    assert programme.fun <= plain <= fit.value <= programme.fun + 1e-3 + 2e-3 * programme.fun


def test_average_distortion_matches_a_slow_solver():
    tree = caterpillar(10, 3).contracted()
    d = random_metric(5, 10)
    A = path_matrix(tree) / upper(d)[:, None]

    def smooth(w):
        q = A @ w - 1
        root = np.sqrt(q * q + 1e-6)
        return root.mean(), A.T @ (q / root) / len(q)

    best = min(
        minimize(
            smooth,
            x,
            jac=True,
            method="SLSQP",
            bounds=[(0, None)] * A.shape[1],
            options={"maxiter": 2000},
        ).fun
        for x in (tree.weights, np.ones(A.shape[1]))
    )
    fit = fit_weights(tree, MatrixMetric(d), objective="l1")
    assert fit.value == pytest.approx(smooth(fit.tree.weights)[0], rel=1e-12)
    assert fit.value <= best * (1 + 1e-3)


# Properties.


@settings(max_examples=50)
@given(trees(25, 2), st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from(["l2", "l1"]))
def test_exact_trees_are_fixed_points(tree, power, objective):
    fit = fit_weights(tree, tree, objective=objective, power=power)
    assert fit.tree == tree
    assert fit.residual == pytest.approx(0.0, abs=1e-9)
    assert fit.value == pytest.approx(1e-3 * (fit.value > 1e-10), abs=1e-10)


@settings(max_examples=50)
@given(trees(25, 2), st.sampled_from([0.0, 1.0, 2.0]))
def test_exact_trees_come_back(tree, power):
    truth = tree.distances()
    fit = fit_weights(tree.with_weights(np.ones(len(tree.edges))), MatrixMetric(truth), power=power)
    size = max(truth.max(), 1e-300)
    near = (truth > 0) | (power == 0)
    assert fit.tree.distances()[near] == pytest.approx(truth[near], abs=1e-8 * size)


@settings(max_examples=60)
@given(
    any_symmetric(14),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["l2", "l1"]),
    st.sampled_from([0.0, 1.5]),
)
def test_never_worse(distances, seed, objective, power):
    rng = np.random.default_rng(seed)
    n = len(distances)
    parent = (rng.random(n - 1) * np.arange(1, n)).astype(int)
    tree = Tree(n, np.column_stack([np.arange(1, n), parent]), rng.exponential(size=n - 1))
    fit = fit_weights(tree, Table(distances), objective=objective, power=power)
    assert fit.value <= fit.start
    assert (fit.tree.weights >= 0).all()
    assert np.array_equal(fit.tree.edges, tree.edges)
    again = fit_weights(fit.tree, Table(distances), objective=objective, power=power)
    assert again.start == pytest.approx(fit.value, rel=1e-9, abs=1e-12 * max(np.sum(distances**2), 1e-300))


@pytest.mark.parametrize("shape", ["caterpillar", "path", "star"])
def test_long_paths_converge(shape):
    n = 2000
    rng = np.random.default_rng(0)
    if shape == "caterpillar":
        tree = caterpillar(n).contracted()
    elif shape == "path":
        tree = Tree(
            n,
            np.column_stack([np.arange(n - 1), np.arange(1, n)]),
            rng.uniform(0.1, 1.0, n - 1),
        )
    else:
        tree = Tree(n, np.column_stack([np.arange(n), np.full(n, n)]), rng.uniform(0.1, 1.0, n))
    truth = tree.distances()
    ones = tree.with_weights(np.ones(len(tree.edges)))
    fit = fit_weights(ones, MatrixMetric(truth))
    assert fit.tree.weights == pytest.approx(tree.weights, abs=1e-9)
    noise = np.triu(rng.normal(0, 0.3 * truth.mean(), (n, n)), 1)
    fit = fit_weights(ones, Table(np.abs(truth + noise + noise.T)))
    assert fit.residual <= 1e-9 and fit.exact
    assert fit.value < fit.start


def test_long_path_with_relative_errors():
    n = 400
    rng = np.random.default_rng(1)
    tree = Tree(n, np.column_stack([np.arange(n - 1), np.arange(1, n)]), rng.uniform(0.1, 1.0, n - 1))
    noise = np.exp(np.triu(rng.normal(0, 0.3, (n, n)), 1))
    fit = fit_weights(tree, Table(tree.distances() * noise * noise.T), power=2.0)
    assert fit.residual <= 1e-9 and fit.exact


@settings(max_examples=30)
@given(
    trees(20, 2),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e150, 1e-150]),
    st.sampled_from([0.0, 2.0]),
)
def test_scale_does_not_matter(tree, seed, scale, power):
    d = random_metric(seed, len(tree))
    plain = fit_weights(tree, Table(d), power=power).tree.weights
    scaled = fit_weights(tree.with_weights(tree.weights * scale), Table(d * scale), power=power).tree.weights
    assert scaled / scale == pytest.approx(plain, abs=1e-7)


# Edge cases.


def test_two_points():
    tree = Tree(2, [[0, 2], [2, 3], [3, 1], [3, 4]], [1.0, 3.0, 0.0, 7.0])
    fit = fit_weights(tree, as_metric([[0, 8], [8, 0]]))
    # The chain 0 - 2 - 3 - 1 keeps its proportions; nothing measures the edge 3 - 4.
    assert fit.tree.weights == pytest.approx([2.0, 6.0, 0.0, 7.0], abs=1e-12)


def test_a_chain_without_length_is_shared_evenly():
    fit = fit_weights(Tree(2, [[0, 2], [2, 1]], [0.0, 0.0]), as_metric([[0, 8], [8, 0]]))
    assert fit.tree.weights == pytest.approx([4.0, 4.0])


def test_one_point():
    fit = fit_weights(Tree(1, np.empty((0, 2), int), []), Table([[0.0]]))
    assert fit.value == 0.0 and fit.pairs == 0


def test_all_distances_zero():
    for power in (0.0, 2.0):
        fit = fit_weights(Tree(4, QUARTET, np.ones(5)), Table(np.zeros((4, 4))), power=power)
        assert fit.tree.weights == pytest.approx(np.zeros(5), abs=1e-12)
    assert fit_weights(Tree(4, QUARTET, np.ones(5)), Table(np.zeros((4, 4))), objective="l1").value == 0.0


def test_small_integers_and_labels():
    d = np.array([[0, 3, 7, 8], [3, 0, 6, 9], [7, 6, 0, 4], [8, 9, 4, 0]])
    tree = Tree(4, QUARTET, np.ones(5), labels="abcd")
    fit = fit_weights(tree, MatrixMetric(d.astype(np.uint8), labels="abcd"))
    assert fit.tree.labels == tuple("abcd")
    assert fit.tree == fit_weights(tree, MatrixMetric(d.astype(float), labels="abcd")).tree


def test_bad_arguments():
    tree, metric = Tree(2, [[0, 1]], [1.0]), as_metric([[0, 5], [5, 0]])
    with pytest.raises(ValueError, match="objective must be one of 'l2', 'l1', not 'l3'"):
        fit_weights(tree, metric, objective="l3")
    with pytest.raises(ValueError, match="power must be a number from 0 to 2, not 3"):
        fit_weights(tree, metric, power=3)
    with pytest.raises(ValueError, match="2 points and metric has 3"):
        fit_weights(tree, as_metric([[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
    with pytest.raises(MetricError, match=r"Table.block returned d\(., .\) = nan"):
        fit_weights(tree, Table([[0, np.nan], [np.nan, 0]]))


@pytest.mark.parametrize("objective", ["l2", "l1"])
def test_out_of_time(objective):
    tree = caterpillar(60)
    fit = fit_weights(tree, Table(random_metric(0, 60)), objective=objective, power=1.0, time_limit=0.0)
    assert fit.value <= fit.start
    assert fit.residual > 1e-9 and not fit.exact


# Threads, memory, samples.


@pytest.mark.parametrize(("objective", "power"), [("l2", 0.0), ("l2", 1.0), ("l1", 0.0)])
@pytest.mark.parametrize("rows", ["all", 9])
def test_threads_and_memory_change_no_bit(monkeypatch, objective, power, rows):
    monkeypatch.setattr(streaming, "BLOCK_ENTRIES", 100)
    tree, metric = caterpillar(40), Table(random_metric(2, 40, zeros=0.05))
    options = {"objective": objective, "power": power, "rows": rows}
    one = fit_weights(tree, metric, n_jobs=1, **options)
    assert one.tree.weights.tolist() == fit_weights(tree, metric, n_jobs=3, **options).tree.weights.tolist()
    monkeypatch.setattr(module, "available_memory", lambda: 0)
    assert one.tree.weights.tolist() == fit_weights(tree, metric, n_jobs=2, **options).tree.weights.tolist()


@settings(max_examples=25)
@given(
    trees(20, 2),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([SQUARES, SMOOTH]),
)
def test_samples_are_unbiased(tree, seed, power, what):
    metric = Table(random_metric(seed, len(tree), zeros=0.1))
    splits, n = find_tree_splits(tree), len(tree)
    length = np.random.default_rng(seed).random(len(splits.up))
    with Workers(1) as workers:
        value, gradient = Pairs(splits, metric, None, power, workers).sums(what, length, 0.1)
        parts = [
            Pairs(splits, metric, np.array([i]), power, workers).sums(what, length, 0.1) for i in range(n)
        ]
    # Every row is as likely as any other: the mean over all samples of one row is the expectation.
    assert np.mean([part[0] for part in parts]) == pytest.approx(value, rel=1e-9)
    assert np.mean([part[1] for part in parts], axis=0) == pytest.approx(gradient, abs=1e-9)


@pytest.mark.parametrize(("objective", "power"), [("l2", 0.0), ("l2", 2.0), ("l1", 0.0)])
def test_sampled_rows_serve_all_pairs(objective, power):
    tree = caterpillar(80).contracted()
    noise = np.random.default_rng(0).uniform(0.9, 1.1, (80, 80))
    metric = Table(tree.distances() * np.sqrt(noise * noise.T))
    start = tree.with_weights(np.full(len(tree.edges), 0.3))
    fit = fit_weights(start, metric, objective=objective, power=power, rows=20, rng=1)
    assert fit.pairs == 20 * 79 and not fit.exact
    before, after = (float(average_distortion(t, metric)) for t in (start, fit.tree))
    assert after < 0.5 * before
    assert fit.tree == fit_weights(start, metric, objective=objective, power=power, rows=20, rng=1).tree
    assert fit.tree != fit_weights(start, metric, objective=objective, power=power, rows=20, rng=2).tree
    assert fit.value < fit.start


def test_as_many_rows_as_points_are_all_pairs():
    tree, metric = caterpillar(20), Table(random_metric(0, 20))
    assert fit_weights(tree, metric, rows=20) == fit_weights(tree, metric)


def split_paths(splits):
    """Path matrix over the nodes of the splits, (n, n, K), and the common ancestors of all pairs, (n, n)."""
    n, K = len(splits.points), len(splits.up)
    below = np.array([[splits.first[k] <= i < splits.last[k] for k in range(K)] for i in range(n)])
    below[:, 0] = False
    paths = below[:, None, :] != below[None, :, :]
    both = below[:, None, :] & below[None, :, :]
    tops = np.where(both.any(2), K - 1 - np.argmax(both[:, :, ::-1], axis=2), 0)
    return paths.astype(float), tops


@settings(max_examples=60)
@given(trees(25, 2))
def test_splits_are_those_of_the_tree(tree):
    splits = find_tree_splits(tree)
    n, K = tree.n_points, len(splits.up)
    found = {}
    for k in range(1, K):
        side = {int(p) for p in splits.points[splits.first[k] : splits.last[k]]}
        far = frozenset(set(range(n)) - side if 0 in side else side)
        found[far] = found.get(far, 0.0) + tree.weights[splits.edge == k].sum()
    expected = naive_splits(tree)
    assert len(expected) == K - 1, "every split once"
    assert {key: pytest.approx(value) for key, value in expected.items()} == found
    # A centroid: no branch has more than half of the points.
    assert (2 * (splits.last - splits.first)[1:] <= n).all()
    assert (splits.up[1:] < np.arange(1, K)).all() and splits.up[0] == -1
    assert sorted(splits.points) == list(range(n))
    assert (splits.first[splits.node] == np.arange(n)).all()


def test_find_chains_by_hand():
    # 0 - s - s - 1 with a bare leaf at the first s, then 2 below 1: positions 0 ... 5 hold 0, s, s, 1, 2, s.
    up, count = np.array([-1, 0, 1, 2, 3, 1], np.int32), np.array([3, 2, 2, 2, 1, 0], np.int32)
    bottom, above = np.empty(6, np.int32), np.empty(6, np.int32)
    find_chains(up, count, bottom, above)
    assert bottom.tolist() == [0, 3, 3, 3, 4, -1]
    assert above.tolist() == [-1, 0, 0, 0, 3, 0]


@settings(max_examples=40)
@given(trees(16, 2), st.integers(0, 2**32 - 1), st.booleans())
def test_row_sums_twin(tree, seed, whole):
    splits, rng = find_tree_splits(tree), np.random.default_rng(seed)
    n, K = len(splits.points), len(splits.up)
    paths, tops = split_paths(splits)
    length = rng.random(K)
    length[0] = 0.0
    t, u = rng.random((n, n)), rng.random((n, n)) * (rng.random((n, n)) < 0.8)
    start = int(rng.integers(n)) if whole else 0
    rows = np.arange(start, n) if whole else np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
    depth = length.copy()
    add_down(splits.up, depth)
    x = paths @ length
    q = u * (x - t)
    root = np.sqrt(q * q + 0.01)
    relative = u * x - 1
    of_relative = np.sqrt(relative * relative + 0.01)
    twins = {
        SQUARES: (q * q, u * q),
        SMOOTH: (np.where(u > 0, root, 0), u * q / root),
        PRODUCT: (u * u * x * x, u * u * x),
        FACTORS: ((u > 0).astype(float), u * u),
        RELATIVE: (np.where(u > 0, of_relative, 0), u * relative / of_relative),
    }
    used = np.zeros((n, n), bool)
    used[rows] = True
    used &= np.triu(used, 1) if whole else ~np.eye(n, dtype=bool)
    for what, (value, slope) in twins.items():
        at_point, at_node = np.zeros(n - start), np.zeros(K)
        block = (
            rows,
            start,
            whole,
            t[rows, start:].copy(),
            u[rows, start:].copy(),
            at_point,
            at_node,
        )
        assert row_sums(what, 0.1, measured(splits, depth), *block) == pytest.approx(
            value[used].sum(), abs=1e-10
        )
        slope = np.where(used, slope, 0.0)
        assert at_point == pytest.approx((slope.sum(0) + slope.sum(1))[start:], abs=1e-10)
        assert at_node == pytest.approx(-2 * np.bincount(tops.ravel(), slope.ravel(), minlength=K), abs=1e-10)
        sums = at_node.copy()
        sums[splits.node[start:]] += at_point
        add_up(splits.up, sums)
        assert sums[1:] == pytest.approx(np.einsum("ijk,ij->k", paths, slope)[1:], abs=1e-10)


@pytest.mark.parametrize("whole", [True, False])
def test_sums_over_the_paths_of_a_long_comb(whole):
    """More columns than a row computes at once, and hundreds of ancestors per point."""
    n = 1100
    tree = caterpillar(n, 3)
    splits = find_tree_splits(tree)
    d = np.triu(np.random.default_rng(0).uniform(0.5, 2.0, (n, n)), 1)
    metric = MatrixMetric(d + d.T)
    sample = None if whole else np.arange(0, n, 90)
    pairs = Pairs(splits, metric, sample, 2.0, Workers(1))
    length = gather(splits, tree.weights) / pairs.unit
    value, slope = pairs.sums(SMOOTH, length, 0.01)
    d = metric.distances + np.eye(n)
    rows = np.arange(n) if whole else sample
    use = np.triu(np.ones((n, n), bool), 1)[rows] if whole else ~np.eye(n, dtype=bool)[rows]
    q = tree.distances()[rows] / d[rows] - 1
    root = np.sqrt(q * q + 1e-4)
    assert value == pytest.approx(pairs.scale * root[use].sum(), rel=1e-12)
    r = np.where(use, q / (root * d[rows]), 0.0) * pairs.unit * pairs.scale
    # Points are numbered along the comb, so an edge of the spine separates i <= k from j > k.
    for edge in np.flatnonzero(tree.edges.min(axis=1) >= n)[[3, 400, 777, 1050]]:
        k = tree.edges[edge].min() - n
        below = rows <= k
        expected = r[below, k + 1 :].sum() + r[~below, : k + 1].sum()
        assert slope[splits.edge[edge]] == pytest.approx(expected, rel=1e-9)


@settings(max_examples=40)
@given(trees(20, 2), st.integers(0, 2**32 - 1))
def test_cut_sums_twin(tree, seed):
    splits, rng = find_tree_splits(tree), np.random.default_rng(seed)
    n, K = len(splits.points), len(splits.up)
    paths, _ = split_paths(splits)
    rows = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
    length, out = rng.random(K), np.empty(K)
    length[0] = 0.0
    sampled = np.array(
        [((rows >= a) & (rows < b)).sum() for a, b in zip(splits.first, splits.last, strict=True)]
    )
    cut_sums(splits.up, (splits.last - splits.first).astype(np.int64), sampled, length, out)
    A = paths[rows].reshape(-1, K)
    assert out == pytest.approx(A.T @ (A @ length), abs=1e-9)


@settings(max_examples=60)
@given(trees(20, 2), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.7, 1.0]))
def test_solve_cuts_twin(tree, seed, share):
    splits, rng = find_tree_splits(tree), np.random.default_rng(seed)
    K = len(splits.up)
    A = split_paths(splits)[0].reshape(-1, K)
    H = A.T @ A / 2
    free = rng.random(K) < share
    free[0] = False
    cut, length = rng.normal(size=K), np.empty(K)
    solve_cuts(splits.up, (splits.last - splits.first).astype(np.int64), free, cut, length)
    expected = np.zeros(K)
    expected[free] = np.linalg.solve(H[np.ix_(free, free)], cut[free])
    assert length == pytest.approx(expected, abs=1e-9)


# Quasi-Newton steps.


def two_loops(memory, way, free, diagonal):
    """Nocedal's recursion (Math. Comput. 35, 1980) in plain NumPy; the newest step is the last of the memory."""
    used = []
    for step, change in reversed(memory):
        s, y = np.where(free, step, 0.0), np.where(free, change, 0.0)
        if s @ y > 1e-14 * np.sqrt((s @ s) * (y @ y)):
            share = (s @ way) / (s @ y)
            way = way - share * y
            used.append((s, y, share))
    scale = (used[0][0] @ used[0][1]) / (used[0][1] @ (used[0][1] / diagonal)) if used else 1.0
    way = scale * way / diagonal
    for s, y, share in reversed(used):
        way = way + (share - (y @ way) / (s @ y)) * s
    return way


@given(st.integers(1, 40), st.integers(0, 30), st.integers(0, 2**32 - 1))
def test_turned_ways_are_those_of_plain_numpy(size, count, seed):
    rng = np.random.default_rng(seed)
    curvature, diagonal = np.exp(rng.normal(size=size)), rng.uniform(0.5, 2.0, size)
    free = rng.random(size) < 0.8
    memory, steps = Memory(size), []
    for _ in range(count):  # more than are remembered
        step = rng.normal(size=size)
        change = (
            rng.choice([1.0, 1.0, -1.0]) * curvature * step
        )  # of some, the curvature is negative: left out
        memory.add(step, change)
        steps.append((step, change))
    way = np.where(free, rng.normal(size=size), 0.0)
    expected = two_loops(steps[-20:], way, free, diagonal)
    found = memory.turned(way.copy(), free, diagonal)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * (np.abs(expected).max() + np.abs(way).max()))
    assert_allclose(dot(found, expected), found @ expected, rtol=1e-9, atol=1e-300)


def test_one_step_of_a_quadratic_gives_its_newton_way():
    # f = 2 x^2: a step of 1 changes the gradient by 4, so from the gradient 8 the way is -2.
    memory = Memory(1)
    memory.add(np.array([1.0]), np.array([4.0]))
    assert memory.turned(np.array([-8.0]), np.array([True]), np.array([3.0])).tolist() == [-2.0]
