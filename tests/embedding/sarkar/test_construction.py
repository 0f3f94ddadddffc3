"""Sarkar's construction: hand-worked stars and paths, exact edges, and the distortion that was asked for."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.rounding import FUNCTIONS
from tests.tree.strategies import caterpillar, trees
from treerep.embedding.sarkar.construction import sarkar
from treerep.embedding.tree_embedding import TreeEmbedding
from treerep.tree.tree import Tree


def star(n: int, weights: float = 1.0) -> Tree:
    return Tree(n, [(i, n) for i in range(n)], np.full(n, weights))


def ratios(embedding: TreeEmbedding, tree: Tree, nodes: int | None = None) -> np.ndarray:
    """Distances of the embedding in units of those of the tree, all pairs that are apart."""
    chosen = np.arange(len(tree) if nodes is None else nodes)
    truth = tree.block(chosen, chosen)
    return embedding.block(chosen, chosen)[truth > 0] / truth[truth > 0]


def test_star_by_hand() -> None:
    # Leaves at angle t around the center: sinh(d / 2) = sinh(a) sin(t / 2).
    for n, angles in [
        (2, [np.pi]),
        (3, [2 * np.pi / 3]),
        (4, [np.pi / 2, np.pi]),
        (5, [0.4 * np.pi, 0.8 * np.pi]),
    ]:
        embedding = sarkar(star(n), dim=2, scale=3.0, exponent=0)
        expected = 2 * np.arcsinh(np.sinh(3.0) * np.sin(np.array(angles) / 2)) / 3
        found = np.unique(embedding.pairs(0, range(1, n)).round(12))
        assert_allclose(found, np.sort(expected), rtol=1e-11)
    # Four leaves in space: a tetrahedron, cosines -1 / 3.
    solid = sarkar(star(4), dim=3, scale=3.0)
    expected = np.arccosh(np.cosh(3.0) ** 2 + np.sinh(3.0) ** 2 / 3) / 3
    assert_allclose(solid.pairs(0, [1, 2, 3]), expected, rtol=1e-13)


@pytest.mark.parametrize("exponent", [0.0, 0.4])
def test_a_path_stays_straight(exponent: float) -> None:
    path = Tree(5, [(i, i + 1) for i in range(4)], [1.0, 0.5, 2.0, 1e-7])
    for scale in (0.01, 1.0, 1000.0, None):
        embedding = sarkar(path, dim=3, scale=scale, exponent=exponent)
        assert_allclose(embedding.block(range(5), range(5)), path.distances(), rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n: int) -> None:
    for hidden in (0.0, 1.0):
        tree = tr.datasets.random_tree(n, hidden=hidden)
        embedding = tr.embed(tree)
        assert len(embedding) == n
        assert (np.abs(ratios(embedding, tree) - 1) <= 0.05).all()
    nothing = Tree(3, [(0, 1), (1, 2)], [0.0, 0.0])
    assert not tr.embed(nothing).block(range(3), range(3)).any()


@given(
    trees(max_nodes=25),
    st.sampled_from([2, 3, 6]),
    st.sampled_from([0.0, 0.4]),
    st.sampled_from([1e-6, 0.3, 5.0, 1e4]),
)
@settings(max_examples=60)
def test_edges_are_exact_and_nothing_is_too_long(tree: Tree, dim: int, exponent: float, scale: float) -> None:
    embedding = sarkar(tree, dim=dim, scale=scale, exponent=exponent)
    assert_allclose(embedding.pairs(*tree.edges.T), tree.weights, rtol=1e-14, atol=0)
    found = ratios(embedding, tree, tree.n_nodes)
    assert (found <= 1 + 1e-13).all()
    assert (found >= 0).all()


@given(
    st.lists(st.floats(1e-3, 10.0), min_size=2, max_size=8),
    st.sampled_from([2, 4]),
    st.sampled_from([0.0, 0.4]),
)
@settings(max_examples=40)
def test_a_larger_scale_shortens_less(weights: list[float], dim: int, exponent: float) -> None:
    # A theorem where paths turn once. (A path that turns twice may gain and lose again at small scales.)
    tree = star(len(weights)).with_weights(weights)
    found = [
        ratios(sarkar(tree, dim=dim, scale=scale, exponent=exponent), tree)
        for scale in (0.1, 1.0, 3.0, 10.0, 100.0)
    ]
    for small, large in itertools.pairwise(found):
        assert (large >= small - 1e-12).all()


@pytest.mark.parametrize("exponent", [0.0, 0.4])
def test_the_loss_falls_as_the_scale_grows(exponent: float) -> None:
    tree = tr.datasets.random_tree(60, weights=(0.5, 1.0))
    lost = [1 - ratios(sarkar(tree, scale=scale, exponent=exponent), tree) for scale in (32.0, 64.0, 128.0)]
    for before, after in itertools.pairwise(lost):
        assert_allclose(after, 0.5 * before, rtol=1e-4, atol=1e-12)


@given(
    trees(max_nodes=25, min_points=2),
    st.sampled_from([2, 3, 5]),
    st.floats(1.001, 10.0),
    st.sampled_from([0.0, 0.4, 1.0]),
)
@settings(max_examples=80)
def test_the_wished_distortion_is_reached(tree: Tree, dim: int, wished: float, exponent: float) -> None:
    embedding = sarkar(tree, dim=dim, distortion=wished, exponent=exponent)
    assert (ratios(embedding, tree) >= 1 / wished).all()
    assert tr.worst_distortion(embedding, tree) <= wished


@pytest.mark.parametrize("wished", [1.01, 1.1])
@pytest.mark.parametrize("dim", [2, 3, 4])
@pytest.mark.parametrize(
    "tree",
    [
        pytest.param(star(40), id="star"),
        pytest.param(star(200), id="large star"),
        pytest.param(caterpillar(60), id="caterpillar"),
        pytest.param(tr.datasets.random_tree(150, weights=(1, 1)), id="unit weights"),
        pytest.param(tr.datasets.random_tree(150), id="weighted"),
        pytest.param(tr.datasets.random_tree(100, shape="binary"), id="binary"),
    ],
)
def test_and_not_by_far(tree: Tree, dim: int, wished: float) -> None:
    embedding = sarkar(tree, dim=dim, distortion=wished)
    assert tr.worst_distortion(embedding, tree) <= wished
    # Half the scale would not do.
    assert 1 / ratios(sarkar(tree, dim=dim, scale=0.5 * embedding.scale), tree).min() > wished


def test_a_star_needs_a_scale_that_grows_as_the_logarithm() -> None:
    # The least angle is 2 pi / n, which costs -2 ln sin(pi / n) of a distance of 2.
    for n in (100, 10_000):
        scale = sarkar(star(n), distortion=1.1).scale
        assert scale == pytest.approx(-np.log(np.sin(np.pi / n)) / (1 - 1 / 1.1), rel=0.01)


def test_tiny_edges_and_wide_ranges_of_lengths() -> None:
    tree = tr.datasets.random_tree(60, hidden=0.5)
    for span in (8, 200):
        wide = tree.with_weights(
            10.0 ** np.random.default_rng(0).uniform(-span / 2, span / 2, len(tree.weights))
        )
        embedding = tr.embed(wide)
        assert tr.worst_distortion(embedding, wide) <= 1.05


@pytest.mark.parametrize("dim", [2, 4])
@pytest.mark.parametrize("exponent", [0.0, 0.4])
def test_coordinates_of_deep_trees_of_short_edges(dim: int, exponent: float) -> None:
    # Edges that nearly go straight on: their rounding errors must not grow from node to node.
    spine = np.arange(102, 202)
    lengths = np.where(np.arange(99) % 3, np.random.default_rng(0).uniform(0.001, 0.01, 99), 0.0)
    edges = [*itertools.pairwise(spine), *enumerate(spine), (100, spine[0]), (101, spine[-1])]
    tree = Tree(102, edges, np.append(lengths, np.full(102, 0.5)))
    points = sarkar(tree, dim=dim, scale=1.0, exponent=exponent).poincare
    apart = tr.PointMetric(points, "poincare").pairs(*tree.edges.T)
    assert_allclose(apart, tree.weights, rtol=0, atol=1e-11)


@pytest.mark.parametrize("length", [1e-200, 1e-3, 1e200])
def test_the_scale_is_right_for_edges_of_any_length(length: float) -> None:
    embedding = tr.embed(Tree(3, [[0, 3], [1, 3], [2, 3]], [length] * 3))
    assert_allclose(
        embedding.scale * length,
        tr.embed(Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0] * 3)).scale,
        rtol=0.01,
    )
    found = embedding.pairs([0, 0, 1], [1, 2, 2]) / (2 * length)
    assert (found >= 1 / 1.05).all() and (found <= 1 + 1e-12).all()


@pytest.mark.parametrize("lengths", [[0, 0, 1e300], [1e-310, 1e-310, 0], [1e300] * 3])
def test_edges_out_of_the_range_of_scales_are_one_line(lengths: list[float]) -> None:
    tree = Tree(3, [[0, 3], [1, 3], [2, 3]], lengths)
    with pytest.raises(tr.MetricError, match="edge lengths range from .*: rescale the distances"):
        tr.embed(tree)


def test_lengths_beyond_float64_are_refused() -> None:
    tree = Tree(3, [(0, 1), (1, 2)], [1e-200, 1e100])
    with pytest.raises(
        ValueError,
        match="edge lengths range from 1e-200 to 1e[+]100: set a scale instead of a distortion",
    ):
        tr.embed(tree)
    assert_allclose(tr.embed(tree, scale=1.0).pairs([0, 1], [1, 2]), tree.weights, rtol=FUNCTIONS)


def test_traffic_makes_the_average_smaller() -> None:
    tree = tr.datasets.random_tree(400, weights=(1, 1))
    graph = tr.GraphMetric(tree.edges)
    average = {}
    for exponent in (0.0, 0.4):
        embedding = tr.embed(tree, scale=64.0, exponent=exponent)
        average[exponent] = tr.average_distortion(embedding, tree)
        assert average[exponent] <= 0.012
        assert tr.worst_distortion(embedding, tree) <= 1.05
        assert tr.mean_average_precision(embedding, graph) == 1.0
    assert average[0.4] < 0.7 * average[0.0]


@given(trees(max_nodes=30))
@settings(max_examples=40)
def test_root_at_the_center(tree: Tree) -> None:
    embedding = tr.embed(tree, scale=1.0)
    lengths = dict(nx.all_pairs_dijkstra_path_length(tree.to_networkx()))
    farthest = np.array([max(lengths[node].values()) for node in range(tree.n_nodes)])
    root = int(np.flatnonzero(embedding.parent < 0)[0])
    assert farthest[root] <= farthest.min() * (1 + 1e-12)
    assert embedding.radii[root] == 0


@given(trees(max_nodes=30), st.data())
@settings(max_examples=40)
def test_any_root(tree: Tree, data: st.DataObject) -> None:
    root = data.draw(st.integers(0, tree.n_nodes - 1))
    embedding = sarkar(tree, scale=2.0, root=root)
    view = tree.rooted(root)
    assert_array_equal(embedding.parent, view.parent)
    assert_array_equal(embedding.weights, view.length)
    # The order in which nodes are visited is a preorder: every parent before its children, subtrees in one piece.
    up = embedding.oracle.up
    assert (up[1:] < np.arange(1, len(up))).all()
    ends = np.arange(1, len(up) + 1)
    for p in range(len(up) - 1, 0, -1):
        ends[up[p]] = max(ends[up[p]], ends[p])
    assert all(
        up[p] >= q or p >= ends[q] for q in range(len(up)) for p in range(q + 1, len(up)) if p < ends[q]
    )


def test_labels_and_rng_free() -> None:
    tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
    embedding = tr.embed(tree, root="b", scale=1.0)
    assert embedding.labels == ("a", "b", "c")
    assert embedding.radii[1] == 0
    assert repr(embedding) == "TreeEmbedding(3 points, 1 Steiner node, dim 2)"
    assert_array_equal(tr.embed(tree, rng=1).directions, tr.embed(tree, rng=2).directions)


@pytest.mark.parametrize("dim", [2, 10])
def test_large_and_deep_trees(dim: int) -> None:
    tree = caterpillar(100_000)  # 200,000 nodes, 100,000 deep
    embedding = tr.embed(tree, dim=dim)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(tree), 3)
    found = embedding.block(rows, np.arange(len(tree))) / np.maximum(
        tree.block(rows, np.arange(len(tree))), 1e-300
    )
    found[np.arange(3), rows] = 1.0
    assert (found <= 1 + 1e-9).all() and (found >= 1 / 1.05).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 1}, "dim=1 is too small: embedding a tree needs at least 2 dimensions"),
        ({"scale": 0}, "scale must be a positive number"),
        ({"distortion": 1}, "distortion must be a number above 1, not 1"),
        ({"distortion": 1.1, "scale": 1.0}, "set scale or distortion, not both"),
        ({"distortion": "low"}, "distortion must be a number above 1, not 'low'"),
        ({"distortion": [1.1]}, r"distortion must be a number above 1, not \[1.1\]"),
        ({"scale": True}, "scale must be a positive number, not True"),
        ({"exponent": -1}, "exponent must be a number from 0 to 2"),
        ({"exponent": "high"}, "exponent must be a number from 0 to 2, not 'high'"),
        ({"exponent": np.ones(2)}, "exponent must be a number from 0 to 2"),
        ({"root": 17}, "point 17 does not exist"),
        ({"root": "x"}, "'x' is not in the tree"),
        ({"epochs": 3}, "sarkar does not accept epochs"),
    ],
)
def test_options_that_make_no_sense(options, message) -> None:
    with pytest.raises((ValueError, IndexError), match=message):
        tr.embed(star(4), **options)


def test_only_trees() -> None:
    with pytest.raises(
        TypeError,
        match=r"^method='sarkar' embeds trees: fit a tree to the data first$",
    ):
        tr.embed([[0.0, 1.0], [1.0, 0.0]])


@pytest.mark.parametrize("method", ["sarkar", "hmds"])
def test_too_many_dimensions(method: str) -> None:
    with pytest.raises(
        MemoryError,
        match=r"^4 points in 10,000,000,000,000 dimensions needs .*: use a smaller dim$",
    ):
        tr.embed(tr.Tree(4, [[0, 1], [1, 2], [2, 3]], [1.0] * 3), method=method, dim=10**13)
    if method == "sarkar":  # frames are matrices
        with pytest.raises(MemoryError, match="a tree of 5 nodes in 10,000,000 dimensions"):
            sarkar(star(4), dim=10**7)
