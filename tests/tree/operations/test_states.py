"""States of nodes: by hand, against dense Gaussian conditioning, and as weighted means of neighbors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.tree.strategies import caterpillar, naive_distances, trees

seeds = st.integers(0, 2**32 - 1)


def dense_states(tree, values, variance):
    """Condition the normal distribution of all nodes on the noisy values, from an almost flat prior at node 0.

    Cov(a, b) is the length of the common path from node 0, as in a Brownian motion from node 0.
    """
    d = naive_distances(tree)
    shared = (d[0][:, None] + d[0] - d) / 2
    covariance = shared + 1e7 * max(1.0, d.max())
    n = len(tree)
    gain = covariance[:, :n] @ np.linalg.inv(covariance[:n, :n] + np.diag(variance))
    mean = values.mean(axis=0)
    return mean + gain @ (values - mean)


def neighbors(tree, node):
    """Return the neighbors of a node and the lengths of their edges."""
    ends = [
        (int(a + b - node), w) for (a, b), w in zip(tree.edges, tree.weights, strict=True) if node in (a, b)
    ]
    return [end for end, _ in ends], np.array([w for _, w in ends])


def test_three_leaves_by_hand():
    # The weights of the leaves of the star are 1 / 1, 1 / 2 and 1 / 4, with the sum 7 / 4.
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 4.0])
    values = np.array([[7.0, 0.0], [14.0, 0.0], [0.0, 28.0]])
    expected = [(7 + 14 / 2) / 1.75, (28 / 4) / 1.75]
    assert star.states(values) == pytest.approx(np.vstack([values, expected]))


def test_three_noisy_leaves_by_hand():
    # Noise makes the edges of the leaves longer: 1 + 1, 2 + 0 and 4 + 4. The weights are 1/2, 1/2
    # and 1/8, so the center is (1/2 * 2 + 1/2 * 4 + 1/8 * 15) / (9/8) = 4.875 / 1.125 = 13 / 3.
    # Leaf 0 is half-way from the center to its value, and so is leaf 2.
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 4.0])
    states = star.states([2.0, 4.0, 15.0], noise_variance=[1.0, 0.0, 4.0])
    assert states == pytest.approx([(2 + 13 / 3) / 2, 4, (15 + 13 / 3) / 2, 13 / 3])


@given(trees(max_nodes=14), seeds, st.sampled_from([0.1, 1.0]), st.booleans())
@settings(deadline=None)
def test_conditional_expectation(tree, seed, size, some_exact):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(len(tree), 2))
    variance = size * rng.exponential(size=len(tree)) + 1e-3
    if some_exact and (tree.weights > 0.01).all():
        variance[rng.random(len(tree)) < 0.5] = 0.0
    states = tree.states(values, noise_variance=variance)
    assert states == pytest.approx(dense_states(tree, values, variance), abs=1e-4)


@given(trees(), seeds)
@settings(deadline=None)
def test_steiner_nodes_are_means_of_their_neighbors(tree, seed):
    values = np.random.default_rng(seed).normal(size=(len(tree), 3))
    states = tree.states(values)
    assert np.array_equal(states[: len(tree)], values)
    assert states.min() >= values.min() - 1e-9
    assert states.max() <= values.max() + 1e-9
    for node in range(len(tree), tree.n_nodes):
        ends, lengths = neighbors(tree, node)
        # A neighbor beside another point may have a value of its own.
        if all(neighbors(tree, near)[1].min() > 0 for near in [node, *ends]):
            expected = (states[ends] / lengths[:, None]).sum(axis=0) / (1 / lengths).sum()
            assert states[node] == pytest.approx(expected)
        steiner = [end for end, length in zip(ends, lengths, strict=True) if length == 0 and end >= len(tree)]
        for end in steiner:
            assert states[end] == pytest.approx(states[node])


@given(trees(), seeds, st.booleans())
@settings(deadline=None)
def test_noisy_points_are_between_their_value_and_their_neighbors(tree, seed, single):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=len(tree)).astype(np.float32 if single else np.float64)
    variance = rng.uniform(0.1, 2, len(tree))
    states = tree.states(values, noise_variance=variance)
    assert states.dtype == values.dtype
    for point in range(len(tree)):
        ends, lengths = neighbors(tree, point)
        if len(ends) and lengths.min() > 0.01:
            weights = np.append(1 / lengths, 1 / variance[point])
            expected = weights @ np.append(states[ends], values[point]) / weights.sum()
            assert states[point] == pytest.approx(expected, abs=1e-4)


@given(trees(), seeds, st.sampled_from([1e-30, 1e30]))
@settings(deadline=None)
def test_the_unit_of_lengths_does_not_matter(tree, seed, unit):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=len(tree))
    variance = rng.uniform(0, 1, len(tree))
    states = tree.states(values, noise_variance=variance)
    scaled = tree.with_weights(tree.weights * unit)
    assert scaled.states(values, noise_variance=variance * unit) == pytest.approx(states)


def test_points_at_the_same_place():
    # Two points with different exact values at node 3: it has their mean, and both keep their values.
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [0.0, 0.0, 1.0])
    assert tree.states([0.0, 2.0, 9.0]) == pytest.approx([0, 2, 9, 1])
    # An exact point outweighs a noisy one, and equal noise gives the mean.
    assert tree.states([0.0, 2.0, 9.0], noise_variance=[1.0, 0.0, 1.0])[[0, 3]] == pytest.approx([2, 2])
    pair = tr.Tree(2, [[0, 1]], [0.0])
    assert pair.states([0.0, 2.0], noise_variance=3.0) == pytest.approx([1, 1])


def test_very_different_lengths():
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1e-120, 1.0, 1e120])
    assert tree.states([1.0, 2.0, 3.0]) == pytest.approx([1, 2, 3, 1])
    tiny = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [5e-324, 5e-324, 1e-323])
    assert tiny.states([0.0, 1.0, 4.0])[3] == pytest.approx(1.2)


def test_steiner_nodes_without_points_below():
    # Node 3 is a leaf, so nothing but the rest of the tree tells its state.
    tree = tr.Tree(2, [[0, 2], [2, 1], [2, 3]], [1.0, 1.0, 1.0])
    assert tree.states([0.0, 4.0]) == pytest.approx([0, 4, 2, 2])


def test_single_point_and_deep_trees():
    assert tr.Tree(1, np.empty((0, 2), int), []).states([3.0], noise_variance=1.0) == pytest.approx([3])
    tree = caterpillar(20_000)
    assert tree.states(np.ones((20_000, 1))) == pytest.approx(np.ones((tree.n_nodes, 1)))


def test_linear_in_the_coordinate_along_a_path():
    tree = tr.Tree(2, [[0, 2], [2, 3], [3, 1]], [1.0, 2.0, 3.0])
    assert tree.states([0, 12]) == pytest.approx([0, 12, 2, 6])


def test_tables_are_matched_by_label():
    pandas = pytest.importorskip("pandas")
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0], labels=["a", "b", "c"])
    table = pandas.DataFrame({"x": [3.0, 1.0, 2.0], "y": [0, 6, 3]}, index=["c", "a", "b"])
    assert tree.states(table) == pytest.approx(np.array([[1, 6], [2, 3], [3, 0], [2, 3]]))
    assert tree.states(table["x"]) == pytest.approx([1, 2, 3, 2])


def test_states_of_diffused_points_are_near_the_true_ancestors():
    # The squared error of an ancestor with three neighbors at distance 1 is about 1 / 3 to 1 / 2.
    rng = np.random.default_rng(0)
    tree = tr.datasets.random_tree(200, shape="binary", weights=(1.0, 1.0), rng=0)
    steps = rng.normal(size=(tree.n_nodes, 400))
    rooted = tree.rooted()
    true = np.zeros_like(steps)
    for node in rooted.order[1:]:
        true[node] = true[rooted.parent[node]] + steps[node]
    noise = rng.normal(size=(200, 400)) * 2
    states = tree.states(true[:200] + noise, noise_variance=4.0)
    error = ((states - true) ** 2).mean(axis=1)
    assert 0.3 < error[200:].mean() < 1.2
    assert error[:200].mean() < 1.6  # 4 without the tree


@pytest.mark.parametrize(
    ("values", "variance", "message"),
    [
        ([1.0, 2.0], 0.0, "values of shape 2 for 3 points"),
        (1.0, 0.0, "shape a single value"),
        (["a", "b", "c"], 0.0, "use real numbers"),
        ([[1.0], [np.nan], [2.0]], 0.0, "value 0 of point 1 is nan"),
        ([1.0, 2.0, 3.0], -1.0, "noise_variance is -1.0"),
        ([1.0, 2.0, 3.0], [1.0, np.inf, 1.0], "noise_variance is inf"),
        ([1.0, 2.0, 3.0], [1.0, 2.0], "noise_variance of shape"),
    ],
)
def test_invalid_values(values, variance, message):
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=message):
        tree.states(values, noise_variance=variance)
