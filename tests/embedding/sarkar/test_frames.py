"""Distances and coordinates from local frames, against Lorentz matrices of 200 digits and more."""

import pickle

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.embedding.sarkar.frames import distances, lorentz_points, random_frames
from tests.rounding import FUNCTIONS
from treerep.embedding.tree_embedding import TreeEmbedding
from treerep.metric._compiled import CompiledMetric
from treerep.metric.oracle.classes import FrameOracle

E1 = [1.0, 0.0]


@pytest.mark.parametrize("dim", [2, 3, 5])
@pytest.mark.parametrize("scale", [1e-100, 1e-6, 0.01, 1.0, 7.0, 60.0])
def test_against_many_digits(dim: int, scale: float) -> None:
    rng = np.random.default_rng([dim, round(np.log10(scale)) + 200])
    frames = random_frames(rng, 14, dim, path=scale == 1.0, spread=5 if scale == 7.0 else 0)
    embedding = TreeEmbedding(*frames, scale=scale)
    with mpmath.workdps(700):  # matrices of edges of length 60 lose many; tiny ones need twice their exponent
        points = lorentz_points(*frames, scale)
        expected = distances(points, scale)
        radii = np.array([float(mpmath.asinh(mpmath.norm(x[1:]))) for x in points])
        away = radii > 1e-150
        units = np.array(
            [
                [float(c / mpmath.norm(x[1:])) for c in x[1:]]
                for x, far in zip(points, away, strict=True)
                if far
            ]
        )
    nodes = np.arange(14)
    assert_allclose(embedding.pairs(nodes[:, None], nodes), expected, rtol=1e-13, atol=0)
    assert_allclose(embedding.block(nodes, nodes), expected, rtol=1e-13, atol=0)
    assert_allclose(embedding.radii, np.where(away, radii, 0), rtol=1e-13, atol=0)
    assert_allclose(embedding.directions[away], units, rtol=0, atol=1e-12)
    assert not embedding.directions[~away].any()


def test_two_edges_at_a_right_angle() -> None:
    # cosh c = cosh a cosh b (Pythagoras).
    embedding = TreeEmbedding([-1, 0, 0], [0, 1.0, 2.0], [E1, E1, [0.0, 1.0]])
    assert embedding.pairs(1, 2) == pytest.approx(np.arccosh(np.cosh(1.0) * np.cosh(2.0)), rel=FUNCTIONS)
    assert_allclose(embedding.poincare[1:], [[np.tanh(0.5), 0], [0, np.tanh(1.0)]], rtol=FUNCTIONS)


def test_a_straight_path_has_its_exact_length() -> None:
    embedding = TreeEmbedding([-1, 0, 1, 2], [0, 1e-9, 3.0, 1e150], [E1] * 4, scale=0.5)
    assert_allclose(embedding.pairs(0, [1, 2, 3]), [1e-9, 3.000000001, 1e150], rtol=FUNCTIONS)
    assert embedding.pairs(1, 2) == pytest.approx(3.0, rel=FUNCTIONS)


def test_a_path_that_turns_back_by_a_small_angle() -> None:
    # Both edges have length l; the angle between them is t. sinh(d / 2) = sinh(l) sin(t / 2).
    for length, angle in [(1e-8, 1e-5), (1.0, 1e-5), (30.0, 1e-3), (2000.0, 1e-4)]:
        back = [-np.cos(angle), np.sin(angle)]
        embedding = TreeEmbedding([-1, 0, 1], [0, length, length], [E1, E1, back])
        with mpmath.workdps(2000):
            half = mpmath.asinh(mpmath.sinh(length) * mpmath.sin(mpmath.mpf(angle) / 2))
        assert embedding.pairs(0, 2) == pytest.approx(float(2 * half), rel=1e-11)
        assert embedding.radii[2] == pytest.approx(float(2 * half), rel=1e-11)
        assert embedding.block([0], [0, 1, 2])[0, 2] == pytest.approx(float(2 * half), rel=1e-11)


def test_huge_lengths() -> None:
    embedding = TreeEmbedding(
        [-1, 0, 0, 1], [0, 1e150, 3e150, 2e150], [E1, E1, [-0.6, 0.8], [0.0, 1.0]], scale=1e3
    )
    assert_allclose(
        embedding.pairs([1, 0, 2, 3], [2, 3, 3, 1]),
        [4e150, 3e150, 6e150, 2e150],
        rtol=FUNCTIONS,
    )
    assert_allclose(embedding.radii, [0, 1e153, 3e153, 3e153], rtol=FUNCTIONS)


def test_deep_path() -> None:
    nodes = 200_000
    turns = np.tile([np.cos(0.1), np.sin(0.1)], (nodes, 1))
    embedding = TreeEmbedding(np.arange(-1, nodes - 1), np.r_[0, np.ones(nodes - 1)], turns, scale=30.0)
    # Every turn by 0.1 costs -2 ln cos(0.05), up to e^-30.
    cost = -2 * np.log(np.cos(0.05))
    expected = (nodes - 1) - (nodes - 2) * cost / 30
    assert embedding.pairs(0, nodes - 1) == pytest.approx(expected, rel=1e-11)
    assert embedding.block([nodes - 1], np.arange(nodes))[0, 0] == pytest.approx(expected, rel=1e-11)
    assert embedding.radii[-1] == pytest.approx(expected * 30, rel=1e-11)


def test_both_blocks_and_symmetry() -> None:
    frames = random_frames(np.random.default_rng(0), 60, 3)
    embedding = TreeEmbedding(*frames, scale=3.0, n_points=40)
    nodes = np.arange(60)
    assert_allclose(
        embedding.block(nodes, nodes),
        CompiledMetric.block(embedding, nodes, nodes),
        rtol=1e-12,
        atol=1e-15,
    )
    pairs = embedding.pairs(nodes[:, None], nodes)
    assert_array_equal(pairs, pairs.T)
    assert_array_equal(np.diag(pairs), 0)
    assert embedding.block([], [1, 2]).shape == (0, 2)
    assert embedding.block([1], []).shape == (1, 0)
    assert (len(embedding), embedding.n_nodes) == (40, 60)


def test_nodes_at_one_point() -> None:
    parent, weights, turns = random_frames(np.random.default_rng(1), 30, 2, zeros=0.5)
    embedding = TreeEmbedding(parent, weights, turns)
    same = np.flatnonzero((weights == 0) & (parent >= 0))
    assert_array_equal(embedding.pairs(same, parent[same]), 0)
    assert_array_equal(embedding.block(same, parent[same]).diagonal(), 0)
    assert_allclose(
        embedding.poincare[same], embedding.poincare[parent[same]], rtol=FUNCTIONS
    )  # and no warning


def test_what_it_is_made_of_comes_back() -> None:
    frames = random_frames(np.random.default_rng(2), 25, 4)
    embedding = TreeEmbedding(*frames, scale=2.5, n_points=20, labels=range(20))
    for name, array in zip(("parent", "weights", "turns"), frames, strict=True):
        expected = array.copy()
        assert_array_equal(getattr(embedding, name), expected)
    fields = embedding._fields()
    again = TreeEmbedding._from_fields({**fields, "scale": 2.5, "n_points": 20, "labels": embedding.labels})
    for other in (again, pickle.loads(pickle.dumps(embedding))):
        assert isinstance(other, TreeEmbedding)
        assert (other.scale, other.n_points, other.labels) == (2.5, 20, embedding.labels)
        for one, two in zip(other.oracle, embedding.oracle, strict=True):
            assert_array_equal(one, two)
            assert not one.flags.writeable
        assert_array_equal(other.directions, embedding.directions)


def test_files(tmp_path) -> None:
    embedding = TreeEmbedding(*random_frames(np.random.default_rng(3), 12, 3), scale=100.0)
    embedding.save(tmp_path / "tree.npz")
    back = tr.Embedding.load(tmp_path / "tree.npz")
    assert isinstance(back, TreeEmbedding)
    assert_array_equal(back.block(range(12), range(12)), embedding.block(range(12), range(12)))


def test_kernels_take_it() -> None:
    tree = tr.datasets.random_tree(40, weights=(1, 2))
    embedding = tr.embed(tree, scale=1e4)
    assert isinstance(embedding.oracle, FrameOracle)
    assert tr.fit(embedding, method="minimum_spanning_tree").isclose(tree, rtol=1e-12)


@pytest.mark.parametrize(
    ("parent", "weights", "turns", "message"),
    [
        ([0, 0], [0, 1.0], [E1] * 2, "0 roots"),
        ([-1, -1], [0, 1.0], [E1] * 2, "2 roots"),
        ([-1, 5], [0, 1.0], [E1] * 2, "ids up to 5"),
        ([-1, 2, 1], [0, 1.0, 1.0], [E1] * 3, "do not form a tree"),
        ([-1, 0], [0, -1.0], [E1] * 2, "the edge to node 1 has length -1.0"),
        ([-1, 0], [1.0, 1.0], [E1] * 2, "the edge to node 0 has length 1.0"),
        ([-1, 0], [0, np.nan], [E1] * 2, "the edge to node 1 has length nan"),
        ([-1, 0], [0, 1.0], [E1, [1.0, 1.0]], "the turn of node 1 has norm 1.41"),
        ([-1, 0], [0, 1.0], [[1.0]] * 2, "dim at least 2"),
        ([-1, 0], [0, 1.0, 2.0], [E1] * 2, "parent and weights of shape"),
        ([-1, 0, 1], [0, 1.0, 1.0], [E1, E1, [-1.0, 0.0]], "the edge to node 2 leads back"),
    ],
)
def test_what_is_no_tree_is_refused(parent, weights, turns, message) -> None:
    with pytest.raises(ValueError, match=message):
        TreeEmbedding(parent, weights, turns)


def test_other_refusals() -> None:
    with pytest.raises(ValueError, match="overflow float64: use a smaller scale"):
        TreeEmbedding([-1, 0], [0, 1e200], [E1] * 2, scale=1e200)
    with pytest.raises(ValueError, match="n_points=3 does not match 2 nodes"):
        TreeEmbedding([-1, 0], [0, 1.0], [E1] * 2, n_points=3)
    for n_points in (0, 1.5, True):
        with pytest.raises(ValueError, match="n_points must be a positive whole number"):
            TreeEmbedding([-1, 0], [0, 1.0], [E1] * 2, n_points=n_points)
    with pytest.raises(ValueError, match="weights must be an array of real numbers"):
        TreeEmbedding([-1, 0], ["a", "b"], [E1] * 2)
    with pytest.raises(ValueError, match="scale must be a positive number"):
        TreeEmbedding([-1, 0], [0, 1.0], [E1] * 2, scale=0)


def test_edges_at_the_root_may_lead_anywhere() -> None:
    embedding = TreeEmbedding([-1, 0, 1, 1], [0, 0.0, 1.0, 2.0], [E1, E1, [-1.0, 0.0], E1])
    assert embedding.pairs(2, 3) == pytest.approx(3.0, rel=FUNCTIONS)


def test_turns_whose_squares_underflow_are_refused() -> None:
    for size in (1e-170, 1e-155, 1e-146):
        with pytest.raises(
            tr.MetricError,
            match="the turn of node 1 is too close to the e_1 axis for float64: use e_1",
        ):
            TreeEmbedding([-1, 0, 1], [0.0, 1.0, 1.0], [E1, [1.0, size], E1])
    assert_allclose(TreeEmbedding([-1, 0, 1], [0.0, 1.0, 1.0], [E1, [1.0, 1e-144], E1]).pairs(0, 2), 2.0)
