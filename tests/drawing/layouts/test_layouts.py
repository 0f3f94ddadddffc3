import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.tree.strategies import caterpillar, trees
from treerep.drawing.draw import LAYOUTS
from treerep.drawing.layouts.circular import circular
from treerep.drawing.layouts.equal_daylight import equal_daylight
from treerep.drawing.layouts.euclidean_sarkar import euclidean_sarkar
from treerep.drawing.layouts.hyperbolic import disk_embedding, hyperbolic
from treerep.drawing.layouts.radial import radial
from treerep.drawing.layouts.rectangular import rectangular
from treerep.drawing.layouts.slanted import slanted
from treerep.tree.tree import Tree

BY_NAME = {
    "radial": radial,
    "rectangular": rectangular,
    "slanted": slanted,
    "circular": circular,
    "hyperbolic": hyperbolic,
    "equal_daylight": equal_daylight,
    "euclidean_sarkar": euclidean_sarkar,
}
EXACT = [radial, equal_daylight, euclidean_sarkar]
#        2
# 0 - 4 - 5 - 3      with 1 hanging from 4, lengths 1 but for 3 in the middle
QUARTET = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0, 1.0, 3.0, 1.0, 1.0])


def lengths(tree, spots):
    return np.linalg.norm(spots[tree.edges[:, 0]] - spots[tree.edges[:, 1]], axis=1)


def crossings(tree, spots):
    """Pairs of edges without a common end whose open segments meet: by the signs of four areas."""
    found = 0
    for e, (a, b) in enumerate(tree.edges):
        for c, d in tree.edges[e + 1 :]:
            if len({a, b, c, d}) == 4:
                p, q, r, s = spots[[a, b, c, d]]
                one, two = area(p, q, r) * area(p, q, s), area(r, s, p) * area(r, s, q)
                found += one < -1e-18 and two < -1e-18
    return found


def area(p, q, r):
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def test_every_layout_is_known_by_its_name():
    assert set(LAYOUTS) == set(BY_NAME)


@pytest.mark.parametrize("place", BY_NAME.values())
@given(tree=trees())
@settings(max_examples=15)
def test_every_node_of_every_tree_has_a_place(place, tree):
    spots = place(tree)
    assert spots.shape == (tree.n_nodes, 2)
    assert np.isfinite(spots).all()


@pytest.mark.parametrize("place", EXACT)
@given(tree=trees(), data=st.data())
@settings(max_examples=25)
def test_edges_of_the_plane_have_their_exact_lengths(place, tree, data):
    root = data.draw(st.none() | st.integers(0, tree.n_nodes - 1))
    np.testing.assert_allclose(lengths(tree, place(tree, root=root)), tree.weights, atol=1e-12)


@pytest.mark.parametrize("place", [radial, equal_daylight])
@given(tree=trees(max_nodes=20))
@settings(max_examples=25)
def test_edges_do_not_cross(place, tree):
    assert crossings(tree, place(tree)) == 0


def test_crossings_are_found():
    path = Tree(4, [[0, 1], [1, 2], [2, 3]], [1.0, 1.0, 1.0])
    assert crossings(path, np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])) == 1


# Radial: by hand. Every leaf has a quarter of the circle; seen from the middle edge, leaves are at 45 degrees.
def test_radial_quartet():
    spots = radial(QUARTET) @ [1, 1j]
    along = (spots[5] - spots[4]) / 3
    np.testing.assert_allclose(abs(along.real), 1.0)  # laid flat
    np.testing.assert_allclose(np.sort(np.angle((spots[2:4] - spots[5]) / along)), [-np.pi / 4, np.pi / 4])
    np.testing.assert_allclose(np.sort(np.angle((spots[:2] - spots[4]) / -along)), [-np.pi / 4, np.pi / 4])


def test_a_root_that_is_a_leaf_has_its_share_of_the_circle():
    spots = radial(QUARTET, root=0) @ [1, 1j]
    one, two, middle = spots[[0, 1, 5]] - spots[4]
    np.testing.assert_allclose(
        [abs(np.angle(one / two)), abs(np.angle(two / middle))], [np.pi / 2, 3 * np.pi / 4]
    )


# Rectangular.
def test_rectangular_quartet():
    spots = rectangular(QUARTET, root=4)
    assert spots.tolist() == [
        [1.0, 0.0],
        [1.0, -1.0],
        [4.0, -2.0],
        [4.0, -3.0],
        [0.0, -1.5],
        [3.0, -2.5],
    ]


@given(tree=trees(), data=st.data())
@settings(max_examples=25)
def test_rectangular_leaves_have_rows_of_their_own_and_depths(tree, data):
    root = data.draw(st.integers(0, tree.n_nodes - 1))
    spots = rectangular(tree, root=root)
    hung = tree.rooted(root)
    np.testing.assert_allclose(spots[:, 0], hung.depth, atol=1e-12)
    leaves = np.setdiff1d(np.arange(tree.n_nodes), hung.parent)
    assert sorted(spots[leaves, 1]) == [-float(row) for row in range(len(leaves) - 1, -1, -1)]


# Sarkar's in the plane.
def test_edges_leave_a_node_at_equal_angles():
    rng = np.random.default_rng(3)
    tree = tr.datasets.random_tree(40, rng=5)
    spots = euclidean_sarkar(tree, root=int(rng.integers(40)))
    for v in range(tree.n_nodes):
        others = tree.edges[(tree.edges == v).any(axis=1)].sum(axis=1) - v
        angles = np.sort(np.arctan2(*(spots[others] - spots[v]).T[::-1]))
        gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
        np.testing.assert_allclose(gaps, 2 * np.pi / len(others), atol=1e-9)


def test_sarkar_in_the_plane_by_hand():
    # From 1 the edges to 0, 2 and 3 leave at 120 degrees; 4 goes straight on behind 0.
    tree = Tree(5, [[1, 0], [1, 2], [1, 3], [0, 4]], [1.0, 2.0, 2.0, 4.0])
    h = math.sqrt(3)
    expected = [[1, 0], [0, 0], [-1, h], [-1, -h], [5, 0]]
    np.testing.assert_allclose(euclidean_sarkar(tree, root=1), expected, atol=1e-12)


# Equal daylight.
def test_daylight_is_equal_around_the_node_of_a_star():
    star = Tree(5, [[k, 5] for k in range(5)], [1.0, 2.0, 3.0, 4.0, 5.0])
    spots = equal_daylight(star)
    angles = np.sort(np.arctan2(*(spots[:5] - spots[5]).T[::-1]))
    np.testing.assert_allclose(np.diff(angles), 2 * np.pi / 5, atol=1e-9)


def test_daylight_opens_what_the_radial_layout_crams():
    # A bush of 30 leaves and two single ones: at the center the bush has nearly the whole circle, until it is turned.
    leaves = np.arange(32)
    edges = [[k, 32 + (k >= 2)] for k in leaves] + [[32, 33]]
    tree = Tree(32, edges, [1.0] * 32 + [3.0])
    gaps = []
    for place in (radial, equal_daylight):
        spots = place(tree)
        one, two = (spots[:2] - spots[32]) @ [1, 1j]
        gaps.append(abs(np.angle(one / two)))
    assert gaps[0] < 0.25  # a thirty-second of the circle
    assert gaps[1] > 1.0


def test_daylight_changes_the_shape_of_a_large_tree_within_its_budget(monkeypatch):
    import treerep.drawing.layouts.equal_daylight as module

    looked = []
    share = module._share_daylight
    monkeypatch.setattr(
        module,
        "_share_daylight",
        lambda spots, v, plan: looked.append(v) or share(spots, v, plan),
    )
    monkeypatch.setattr(module, "_MOST_ANGLES", 5_000)
    tree = tr.datasets.random_tree(1_000, rng=1)
    np.testing.assert_allclose(lengths(tree, equal_daylight(tree)), tree.weights, atol=1e-9)
    assert len(looked) == 5


# Hyperbolic.
def test_the_hyperbolic_layout_fills_the_disk():
    for tree in (QUARTET, tr.datasets.random_tree(500, rng=2), caterpillar(50)):
        radii = np.linalg.norm(hyperbolic(tree), axis=1)
        assert 0.7 < np.median(radii[: tree.n_points]) < 1
        assert radii.max() <= math.tanh(4.5) + 1e-12


def test_the_hyperbolic_layout_is_sarkars():
    embedding = disk_embedding(QUARTET)
    np.testing.assert_allclose(embedding.pairs([0, 4], [4, 5]), [1.0, 3.0])
    np.testing.assert_array_equal(hyperbolic(QUARTET), embedding.poincare)


def test_hyperbolic_without_length():
    assert (hyperbolic(Tree(2, [[0, 1]], [0.0])) == 0).all()
    assert hyperbolic(Tree(1, np.empty((0, 2), int), [])).tolist() == [[0.0, 0.0]]


def test_layouts_begin_at_a_root_by_name():
    named = Tree(4, QUARTET.edges, QUARTET.weights, labels="abcd")
    for place in BY_NAME.values():
        np.testing.assert_array_equal(place(named, root="c"), place(QUARTET, root=2))


@pytest.mark.parametrize("place", BY_NAME.values())
def test_deep_trees(place, monkeypatch):
    import treerep.drawing.layouts.equal_daylight as module

    monkeypatch.setattr(module, "_MOST_ANGLES", 1e6)
    tree = caterpillar(100_000)
    spots = place(tree)
    assert np.isfinite(spots).all()
    if place in EXACT:
        np.testing.assert_allclose(lengths(tree, spots), tree.weights, atol=1e-9)
