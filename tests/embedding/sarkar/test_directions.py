"""Directions around a node: known solids, closed forms against descent, and what holds for every tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial import KDTree

from tests.tree.strategies import trees
from treerep.embedding.sarkar._directions import (
    least_angle,
    place_edges,
    spread_directions,
)
from treerep.tree.tree import Tree


def chords(points: np.ndarray) -> np.ndarray:
    return KDTree(points).query(points, k=2)[0][:, 1]


@pytest.mark.parametrize("dim", [2, 3, 4, 5, 9])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 18, 40, 65, 300])
def test_unit_vectors_all_different_in_order(count: int, dim: int) -> None:
    points = spread_directions(count, dim)
    assert points.shape == (count, dim)
    assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-14)
    assert_array_equal(points[0], -np.eye(dim)[0])
    assert (np.diff(points[1:, 0]) < 1e-9).all()  # falling angle to the first
    if count > 1:
        # Better than a tenth of what volume allows, so no two are together.
        assert chords(points).min() > 0.4 * count ** (-1 / (dim - 1))


def test_known_solids() -> None:
    assert_allclose(
        spread_directions(6, 2) @ [-1, 0],
        np.cos([0, np.pi, 2 * np.pi / 3, 2 * np.pi / 3, np.pi / 3, np.pi / 3]),
    )
    for count in (3, 4, 5, 6):
        simplex = spread_directions(count, 5)
        cosines = simplex @ simplex.T
        assert_allclose(cosines[~np.eye(count, dtype=bool)], -1 / (count - 1), atol=1e-14)
    octahedron = spread_directions(6, 3)
    assert_allclose(np.sort((octahedron @ octahedron.T).ravel()), [-1] * 6 + [0] * 24 + [1] * 6, atol=2e-2)
    # Of twelve directions in space, those of an icosahedron have least energy: neighbors at 63.43 degrees.
    assert_allclose(chords(spread_directions(12, 3)), 2 * np.sin(np.arctan(2) / 2), atol=2e-2)


@pytest.mark.parametrize("dim", [2, 3, 4, 6, 7, 12])
@pytest.mark.parametrize("count", [65, 100, 1000, 2049])
def test_the_least_angle_is_one(count: int, dim: int) -> None:
    points = spread_directions(count, dim)
    least = 2 * np.arcsin(chords(points).min() / 2)
    assert least_angle(points, count) == pytest.approx(least, rel=1e-6)


@given(st.lists(st.floats(1.0, 1e6), min_size=3, max_size=3))
@settings(max_examples=25)
def test_three_directions_of_least_energy(traffic: list[float]) -> None:
    # A node with two branches of as many points as `traffic` says, and the parent.
    counts = [1 + round(t) % 40 for t in traffic]
    turns = hub_turns(counts, exponent=0.7)
    weights = np.array(sorted(counts[1:], reverse=True), float) ** 0.7
    first = float(counts[0]) ** 0.7

    def energy(angles: np.ndarray) -> float:
        a, b = angles
        sines = np.abs(np.sin([0.5 * (a - np.pi), 0.5 * (b - np.pi), 0.5 * (a - b)]))
        return -(
            first * weights[0] * np.log(sines[0])
            + first * weights[1] * np.log(sines[1])
            + weights[0] * weights[1] * np.log(sines[2])
        )

    found = np.arctan2(turns[:, 1], turns[:, 0])
    best = minimize(energy, found + 0.1, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert energy(found) <= best.fun + 1e-9 * abs(best.fun)


def hub_turns(counts: list[int], dim: int = 2, exponent: float = 0.5) -> np.ndarray:
    """Turns of the branches 1, 2, ... of a hub, most points first; branch 0 leads to the root."""
    n = sum(counts)
    edges, start, heads = [], 0, []
    for count in counts:
        edges += [(start + i, start + i + 1) for i in range(count - 1)]
        heads.append(start)
        start += count
    edges += [(head, n) for head in heads]
    tree = Tree(n, edges, np.ones(len(edges)))
    view = tree._view_from(counts[0] - 1)  # the far end of branch 0
    around = place_edges(view, n, dim, exponent)
    order = sorted(heads[1:], key=lambda head: -counts[heads.index(head)])
    return around.turns[view.position[order]]


@pytest.mark.parametrize("dim", [2, 4])
def test_traffic_parts_what_is_heavy(dim: int) -> None:
    counts = [500, 400, 30, 20, 5, 1]
    weights = np.array(counts, float) ** 0.5

    def energy(points: np.ndarray) -> float:
        i, j = np.triu_indices(len(points), 1)
        return float(-(weights[i] * weights[j] * np.log(np.linalg.norm(points[i] - points[j], axis=1))).sum())

    first = -np.eye(dim)[:1]
    equal, traffic = (np.concatenate([first, hub_turns(counts, dim, exponent)]) for exponent in (0.0, 0.5))
    assert energy(traffic) < energy(equal) - 0.03 * abs(energy(equal))
    assert traffic[1, 0] > 0.8  # the heaviest branch goes on nearly straight
    # A search from many starts finds nothing much better.
    best = min(
        minimize(lambda x: energy(np.concatenate([first, unit(x.reshape(-1, dim))])), start.ravel()).fun
        for start in [
            traffic[1:],
            *np.random.default_rng(0).standard_normal((4, len(counts) - 1, dim)),
        ]
    )
    assert energy(traffic) < best + 0.02 * abs(best)


def unit(points: np.ndarray) -> np.ndarray:
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@given(trees(), st.sampled_from([2, 3, 5]), st.sampled_from([0.0, 0.5]))
@settings(max_examples=60)
def test_every_tree_gets_directions(tree: Tree, dim: int, exponent: float) -> None:
    view = tree._view
    around = place_edges(view, tree.n_points, dim, exponent)
    assert_allclose(np.linalg.norm(around.turns, axis=1), 1, rtol=1e-14)
    zero = view.length == 0
    assert_array_equal(around.turns[zero], np.tile(np.eye(dim)[0], (zero.sum(), 1)))
    assert_array_equal(around.head[zero][1:], around.head[view.up[zero]][1:])
    placed = []
    for v in range(tree.n_nodes):
        members = around.members[around.starts[v] : around.starts[v + 1]]
        assert_array_equal(around.head[view.up[members]], v)
        placed += members.tolist()
        if len(members):
            others = -np.eye(dim)[:1] if v else np.empty((0, dim))
            directions = np.concatenate([around.turns[members], others])
            assert len(directions) == 1 or chords(directions).min() > 1e-3
    assert sorted(placed) == np.flatnonzero(view.length > 0).tolist()


@pytest.mark.parametrize("dim", [2, 3, 7])
def test_a_star_of_many_leaves(dim: int) -> None:
    n = 100_000
    tree = Tree(n, np.column_stack([np.zeros(n - 1, int), np.arange(1, n)]), np.ones(n - 1))
    around = place_edges(tree._view, n, dim, 0.5)
    sample = around.turns[1::97]
    assert chords(sample).min() > 0.9 * 2 * np.sin(0.5 * least_angle(around.turns[1:], n - 1))
