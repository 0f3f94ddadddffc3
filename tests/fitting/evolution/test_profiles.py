"""Minimum evolution on profiles: lengths by definition, local optima by brute force, exact trees."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.strategies import tree_metrics
from treerep._core.parallel import Workers
from treerep.fitting.evolution._first_tree import first_tree
from treerep.fitting.evolution._profile_kernels import Rounding
from treerep.fitting.evolution._profile_spaces import VectorSpace, has_profiles, profile_space
from treerep.fitting.evolution.profiles import ProfileSearch, shortest_tree

seeds = st.integers(0, 2**32 - 1)


def search_on(points, start=None, least=1e-12):
    """Return a search that starts from a star, or from the edges of a tree."""
    n = len(points)
    table = np.zeros((3 * n + 256, points.shape[1]), points.dtype)
    table[:n] = points
    star = np.column_stack([np.arange(n), np.full(n, n)])
    return ProfileSearch(
        VectorSpace(table),
        n,
        star if start is None else start,
        Rounding(least, 1e-13),
        Workers(1),
    )


def topology(search):
    """Return the tree of a search with edges of length 1."""
    edges, _ = search.edges()
    return tr.Tree(search.n, edges, np.ones(len(edges)))


def balanced_length(tree, distances):
    """Pauplin (2000): the sum over pairs of 2^(1 - p) d, if p edges lie between two leaves."""
    hops = np.rint(tree.distances())
    pairs = np.triu_indices(len(distances), 1)
    return float((2.0 ** (1 - hops[pairs]) * distances[pairs]).sum())


def exchanged(tree):
    """Yield the trees that differ from a binary tree by one exchange of neighboring subtrees."""
    edges = np.asarray(tree.edges)
    for u, v in edges[(edges >= tree.n_points).all(axis=1)]:
        at_u, at_v = (
            [k for k, edge in enumerate(edges) if a in edge and b not in edge] for a, b in ((u, v), (v, u))
        )
        for other in at_v:
            new = edges.copy()
            new[at_u[0]] = np.where(new[at_u[0]] == u, v, new[at_u[0]])
            new[other] = np.where(new[other] == v, u, new[other])
            yield tr.Tree(tree.n_points, new, np.ones(len(edges)))


def points_of_tree(distances):
    """Return points whose squared distances are those of a tree (Gower: they always exist)."""
    n = len(distances)
    center = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * center @ distances @ center)
    return vectors * np.sqrt(np.maximum(values, 0))


def test_four_points_by_hand():
    # Corners of a 1 x 3 rectangle. Squared distances: 1 across, 9 along, 10 on the diagonal.
    # 01|23 has the inner edge (9 + 10 + 10 + 9) / 4 - (1 + 1) / 2 = 8.5, and outer edges
    # (1 + 9 - 10) / 2 with the sibling: (1 + (9 + 10) / 2 - (9 + 10) / 2) / 2 = 0.5.
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 3.0]])
    wrong = np.array([[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]])
    search = search_on(corners, wrong)
    search.run()
    edges, lengths = search.edges()
    assert sorted(lengths) == pytest.approx([0.5, 0.5, 0.5, 0.5, 8.5])
    tree = tr.Tree(4, edges, lengths)
    assert tree.pairs([0, 2, 0], [1, 3, 2]) == pytest.approx([1, 1, 9.5])


@given(seeds, st.integers(3, 14))
@settings(deadline=None)
def test_length_by_definition(seed, n):
    points = np.random.default_rng(seed).normal(size=(n, 5))
    distances = tr.PointMetric(points, "sqeuclidean").block(range(n), range(n))
    search = search_on(points)
    assert search.length() == pytest.approx(balanced_length(topology(search), distances))


@given(seeds, st.integers(4, 10))
@settings(deadline=None, max_examples=30)
def test_lengths_of_root_mean_squares_by_definition(seed, n):
    points = np.random.default_rng(seed).normal(size=(n, 3))
    squares = tr.PointMetric(points, "sqeuclidean").block(range(n), range(n))
    edges, lengths = search_on(points).edges(roots=True)

    def branches(node, behind):
        return [int(a + b - node) for a, b in edges if node in (a, b) and behind not in (a, b)]

    def weights(node, behind):
        """The balanced weights of the points behind an edge: each branching halves them."""
        if node < n:
            return np.eye(n)[node]
        return sum(weights(child, node) for child in branches(node, behind)) / 2

    def apart(a, b):
        return np.sqrt(a @ squares @ b)

    for (u, v), length in zip(edges.tolist(), lengths, strict=True):
        parts = [[weights(x, node) for x in branches(node, other)] for node, other in ((u, v), (v, u))]
        parts.sort(key=len)
        c, d = parts[1]
        if len(parts[0]) == 0:  # a leaf
            x = np.eye(n)[min(u, v)]
            expected = (apart(x, c) + apart(x, d) - apart(c, d)) / 2
        else:
            a, b = parts[0]
            across = apart(a, c) + apart(a, d) + apart(b, c) + apart(b, d)
            expected = across / 4 - (apart(a, b) + apart(c, d)) / 2
        assert length == pytest.approx(expected, abs=1e-9)


@given(seeds, st.integers(4, 12), st.sampled_from([1, 2, 20]))
@settings(deadline=None, max_examples=50)
def test_no_exchange_makes_the_tree_shorter(seed, n, dim):
    points = np.random.default_rng(seed).normal(size=(n, dim))
    distances = tr.PointMetric(points, "sqeuclidean").block(range(n), range(n))
    search = search_on(points)
    search.run()
    length = balanced_length(topology(search), distances)
    assert search.length() == pytest.approx(length)
    for other in exchanged(topology(search)):
        assert balanced_length(other, distances) >= length - 1e-9 * abs(length)


@given(seeds, st.integers(4, 200), st.booleans())
@settings(deadline=None, max_examples=100)
def test_every_pass_makes_the_tree_shorter(seed, n, few_values):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (n, 3)).astype(float) if few_values else rng.normal(size=(n, 8))
    search = search_on(points, least=1e-9)
    length = search.length()
    for reach in (0, 16, 0, 4, 16):
        search.marks.changed[:] = True
        changes = search.improve(reach)
        shorter = search.length()
        assert shorter <= length - 1e-10 * changes
        length = shorter


@given(tree_metrics(max_nodes=30))
@settings(deadline=None)
def test_tree_metrics_are_exact(distances):
    if len(distances) < 2:
        return
    points = points_of_tree(distances)
    for method in ("minimum_evolution", "auto"):
        tree = tr.fit(points, metric="sqeuclidean", method=method)
        assert tree.distances() == pytest.approx(distances, abs=1e-9 * distances.max(initial=1))


def diffused(generations, dim, rng):
    """Return points that diffused down a binary tree, and the true tree."""
    points = np.zeros((1, dim))
    for _ in range(generations):
        points = np.repeat(points, 2, axis=0)
        points = points + rng.normal(size=points.shape)
    n = len(points)
    nodes = np.arange(1, n)  # of a heap: n - 1 inner nodes, then n leaves
    parent = np.concatenate([nodes, np.arange(n, 2 * n)]) // 2

    def name(heap):
        return np.where(heap >= n, heap - n, heap + n - 1)

    below = np.arange(1, 2 * n)
    edges = np.column_stack([name(below[1:]), name(parent[1:])])
    return points, tr.Tree(n, edges, np.ones(len(edges))).contracted()


def test_every_split_of_diffusing_points_is_found():
    points, truth = diffused(8, 2000, np.random.default_rng(0))
    tree = tr.fit(points.astype(np.float32), metric="sqeuclidean")
    assert tree.difference(truth).robinson_foulds == 0


def test_noise_changes_the_lengths_of_the_points_only():
    points, _ = diffused(7, 500, np.random.default_rng(9))
    rng = np.random.default_rng(10)
    deviation = rng.uniform(0.1, 2.0, len(points))
    noisy = points + deviation[:, None] * rng.normal(size=points.shape)
    plain = tr.fit(noisy, metric="sqeuclidean")
    corrected = tr.fit(tr.PointMetric(noisy, "sqeuclidean", noise=deviation))
    assert corrected.difference(plain).robinson_foulds == 0
    depth = corrected.distances() - plain.distances()
    expected = -500 * (deviation[:, None] ** 2 + deviation**2)
    np.fill_diagonal(expected, 0)
    assert depth == pytest.approx(expected)
    truth = tr.PointMetric(points, "sqeuclidean")
    kept = [float(tr.scores.neighbors_kept(tree, truth, k=5)) for tree in (plain, corrected)]
    assert kept[1] > kept[0] + 0.02


def test_from_a_sampled_start_to_nearly_the_length_of_neighbor_joining():
    points, truth = diffused(11, 300, np.random.default_rng(1))
    metric = tr.PointMetric(points.astype(np.float32), "sqeuclidean")
    assert len(metric) > 2000
    found = tr.fit(metric, method="minimum_evolution")
    joined = tr.fit(metric, method="neighbor_joining")
    assert found.difference(truth).normalized <= joined.difference(truth).normalized
    assert found.weights.sum() <= 1.0001 * joined.weights.sum()


def test_any_number_of_threads_gives_the_same_tree():
    points, _ = diffused(11, 20, np.random.default_rng(2))
    metric = tr.PointMetric(points, "sqeuclidean")
    one, two, four = (tr.fit(metric, method="minimum_evolution", n_jobs=jobs) for jobs in (1, 2, 4))
    assert one == two == four


@pytest.mark.parametrize("model", ["p", "jc69", "k2p", "f81", "f84", "tn93", "poisson", "kimura"])
def test_separations_of_sequences_are_their_distances(model):
    rng = np.random.default_rng(3)
    letters = "ACGT" if model not in ("poisson", "kimura") else "ARNDCQEGHILKMFPSTWYV"
    ancestor = rng.choice(list(letters), 400)
    rows = []
    for _ in range(3):
        row = np.where(rng.random(400) < 0.2, rng.choice(list(letters), 400), ancestor)
        rows.append("".join(np.where(rng.random(400) < 0.1, "-", row)))
    gamma = None if model in ("p", "kimura") else 0.7
    metric = tr.SequenceMetric(rows, model, gamma=gamma)
    assert three_separations(metric) == pytest.approx(metric.pairs([0, 0, 1], [1, 2, 2]), rel=1e-5)


def test_separations_of_characters_are_their_distances():
    rng = np.random.default_rng(4)
    codes = rng.integers(-1, 3, (3, 60))
    for weights in (None, rng.random(60)):
        metric = tr.CharacterMetric(codes, weights=weights)
        expected = metric.pairs([0, 0, 1], [1, 2, 2])
        assert three_separations(metric) == pytest.approx(expected, rel=1e-5)


def three_separations(metric):
    """Return the path lengths in the tree of three points, which are their separations."""
    star = np.array([[0, 3], [1, 3], [2, 3]])
    with Workers(1) as workers:
        search = ProfileSearch(profile_space(metric), 3, star, Rounding(0.0, 0.0), workers)
        edges, lengths = search.edges()
    tree = tr.Tree(3, edges, lengths)
    return tree.pairs([0, 0, 1], [1, 2, 2])


def test_sequences_find_most_of_the_true_splits():
    alignment = tr.datasets.random_alignment(150, sites=2000, depth=0.3, rng=5)
    metric = tr.SequenceMetric(alignment.sequences, labels=alignment.tree.labels)
    for method in ("auto", "minimum_evolution"):
        assert tr.fit(metric, method=method).difference(alignment.tree).normalized < 0.1


def test_what_has_profiles():
    assert has_profiles(tr.PointMetric([[0.0], [1.0]], "sqeuclidean"))
    assert not has_profiles(tr.PointMetric([[0.0], [1.0]]))
    assert has_profiles(tr.CharacterMetric([[0], [1]]))
    assert has_profiles(tr.SequenceMetric(["ACGT", "ACGA"]))
    assert not has_profiles(tr.SequenceMetric(["ACGT", "ACGA"], "logdet", saturated="cap"))
    assert not has_profiles(tr.MatrixMetric([[0, 1], [1, 0]]))


@pytest.mark.parametrize("kind", ["equal", "equally far", "two clusters", "random"])
def test_first_tree_has_all_points_as_leaves(kind):
    n = 4000
    points = {
        "equal": np.zeros((n, 1)),
        "equally far": np.eye(n, dtype=np.float32),
        "two clusters": np.repeat([[0.0], [1.0]], n // 2, axis=0),
        "random": np.random.default_rng(6).normal(size=(n, 2)),
    }[kind]
    with Workers(2) as workers:
        edges, _ = first_tree(tr.PointMetric(points, "sqeuclidean"), workers)
    tree = tr.Tree(n, edges, np.ones(len(edges)))
    assert (np.bincount(edges.ravel(), minlength=n)[:n] == 1).all()
    assert tree.n_nodes == 2 * n - 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_search_ends_far_from_the_origin_and_with_outliers(dtype):
    rng = np.random.default_rng(11)
    points = rng.normal(size=(300, 4))
    points[:3] *= 1e6
    points[-100:] = 1000 + 1e-3 * rng.normal(size=(100, 4))
    tree = tr.fit(points.astype(dtype), metric="sqeuclidean")
    assert np.isfinite(tree.weights).all()


def test_equal_points_stay_together():
    points = np.repeat(np.random.default_rng(7).normal(size=(5, 3)), 600, axis=0)
    tree = tr.fit(points, metric="sqeuclidean")
    assert tree.pairs(np.arange(600), np.zeros(600, int)).max() == 0
    assert tree.pairs(0, 600) > 0


@pytest.mark.parametrize("seed", range(10))
def test_the_search_ends_on_cells(data_folder: Path, seed):
    # Real cells are far from a tree, and moves of an early version never ended on them.
    with np.load(data_folder / "single_cell" / "pbmc68k_reduced.npz") as file:
        genes = file["X"]
    half = np.random.default_rng(seed).permutation(genes.shape[1])[: genes.shape[1] // 2]
    centered = genes[:, half] - genes[:, half].mean(axis=0)
    left, values, _ = np.linalg.svd(centered, full_matrices=False)
    search = search_on((left * values)[:, :50].astype(np.float32), least=1e-3)
    search.run()
    length = search.length()
    search.marks.changed[:] = True
    assert search.improve(reach=16) <= 2
    assert search.length() <= length * (1 + 1e-6)


def test_a_time_limit_ends_the_search():
    points = np.random.default_rng(8).normal(size=(3000, 30)).astype(np.float32)
    metric = tr.PointMetric(points, "sqeuclidean")
    with Workers(1) as workers:
        edges, lengths = shortest_tree(metric, workers, time_limit=1e-9)
    assert len(edges) == len(lengths) == 2 * len(points) - 3
