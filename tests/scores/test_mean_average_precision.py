import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from tests.metrics import Table
from treerep.metric.base import MetricError
from treerep.scores import _streaming as streaming
from treerep.scores.mean_average_precision import mean_average_precision


class Network(Table):
    """A graph with its shortest-path distances."""

    def __init__(self, adjacency):
        rows = csr_array(np.asarray(adjacency, dtype=float))
        super().__init__(shortest_path(rows, unweighted=True), adjacency=rows)


def edges(n, *pairs):
    adjacency = np.zeros((n, n))
    for i, j in pairs:
        adjacency[i, j] = adjacency[j, i] = 1
    return adjacency


def naive(distances, adjacency, ties):
    """The definition, pair by pair."""
    n = len(distances)
    precisions = []
    for v in range(n):
        neighbors = [u for u in range(n) if adjacency[v][u]]
        if not neighbors:
            continue
        row = distances[v]
        tolerance = 1e-9 * max(row)
        total = 0.0
        for u in neighbors:
            ball = []
            for x in range(n):
                nearer = row[x] < row[u] - tolerance
                tied = abs(row[x] - row[u]) <= tolerance
                if x != v and (nearer or (tied and (ties == "definition" or x <= u))):
                    ball.append(x)
            total += len(set(ball) & set(neighbors)) / len(ball)
        precisions.append(total / len(neighbors))
    return sum(precisions) / len(precisions)


def random_symmetric(seed, n, values):
    rng = np.random.default_rng(seed)
    upper = np.triu(values(rng, (n, n)), 1)
    return upper + upper.T


def random_adjacency(seed, n, density):
    adjacency = random_symmetric(seed, n, lambda rng, shape: (rng.random(shape) < density).astype(float))
    adjacency[0, 1] = adjacency[1, 0] = 1
    return adjacency


# The star with center 0 and leaves 1, 2, 3, and distances in which leaf 3 is as near to 1 as the center is.
STAR = edges(4, (0, 1), (0, 2), (0, 3))
DISTANCES = [[0, 1, 2, 3], [1, 0, 2, 1], [2, 2, 0, 1], [3, 1, 1, 0]]
# v = 0: every other point is a neighbor, precision 1 for each: 1.
# v = 1: neighbor 0 at distance 1, tied with 3. definition: B = {0, 3}, 1/2. rank: 0 has the lower index, B = {0}, 1.
# v = 2: neighbor 0 at 2, tied with 1 (2), and 3 at 1 is nearer. definition: B = {0, 1, 3}, 1/3. rank: {0, 3}, 1/2.
# v = 3: neighbor 0 at 3, 1 and 2 at 1 are nearer: 1/3 either way.


def test_hand_worked():
    score = mean_average_precision(Table(DISTANCES), Network(STAR))
    assert score == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 3) / 4, abs=1e-15)
    assert (score.pairs, score.exact, score.low) == (4, True, score)
    assert repr(score) == "0.5417 (all 4 points)"
    rank = mean_average_precision(Table(DISTANCES), Network(STAR), ties="rank")
    assert rank == pytest.approx((1 + 1 + 1 / 2 + 1 / 3) / 4, abs=1e-15)


def test_zero_distances_exclude_the_point_by_index():
    # Everything in one place: with the definition B holds all others, so each leaf has precision 1/3.
    nowhere = np.zeros((4, 4))
    assert mean_average_precision(Table(nowhere), Network(STAR)) == pytest.approx((1 + 3 * (1 / 3)) / 4)
    # By rank the center, point 0, comes first for every leaf.
    assert mean_average_precision(Table(nowhere), Network(STAR), ties="rank") == 1.0


def test_points_without_neighbors_do_not_count():
    alone = edges(5, (0, 1), (0, 2), (0, 3))
    network = Table(np.zeros((5, 5)))
    network.adjacency = csr_array(alone)
    distances = np.full((5, 5), 9.0)
    distances[:4, :4] = DISTANCES
    score = mean_average_precision(Table(distances), network)
    assert score == mean_average_precision(Table(DISTANCES), Network(STAR))
    assert score.pairs == 4


@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(2, 30),
    seed=st.integers(0, 10**6),
    density=st.sampled_from([0.05, 0.3, 0.9]),
    ties=st.sampled_from(["definition", "rank"]),
    levels=st.sampled_from([1, 3, 10**6]),
    noise=st.sampled_from([0.0, 1e-13]),
)
def test_agrees_with_the_definition(n, seed, density, ties, levels, noise):
    adjacency = random_adjacency(seed, n, density)
    # Few levels make many ties (distance 0 among them); noise in the last digits must not break them.
    distances = random_symmetric(
        seed + 1, n, lambda rng, shape: rng.integers(0, levels, shape) + 1.0 * (levels > 3)
    )
    distances = distances + random_symmetric(seed + 2, n, lambda rng, shape: noise * rng.random(shape))
    graph = Table(distances)
    graph.adjacency = csr_array(adjacency)
    score = mean_average_precision(Table(distances), graph, ties=ties)
    assert score == pytest.approx(naive(distances.tolist(), adjacency, ties), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 40), seed=st.integers(0, 10**6), density=st.sampled_from([0.0, 0.1, 0.5]))
def test_own_distances_of_a_graph_are_perfect(n, seed, density):
    adjacency = random_adjacency(seed, n, density)
    for k in range(n - 1):
        adjacency[k, k + 1] = adjacency[k + 1, k] = 1
    network = Network(adjacency)
    assert mean_average_precision(network, network) == 1.0
    # Monotone changes keep who is near: any power of the distances is perfect, too.
    assert mean_average_precision(Table(network.distances**0.3), network) == 1.0
    # Reversing the order is as bad as can be, never better.
    assert mean_average_precision(Table((n + 1.0) * (1 - np.eye(n)) - network.distances), network) <= 1.0


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 40), seed=st.integers(0, 10**6), factor=st.sampled_from([1e-9, 1.0, 1e9]))
def test_rank_and_definition_agree_without_ties(n, seed, factor):
    graph = Table(np.zeros((n, n)))
    graph.adjacency = csr_array(random_adjacency(seed, n, 0.3))
    order = np.random.default_rng(seed).permutation(n * n).reshape(n, n) + 1.0
    distances = Table(factor * (np.triu(order, 1) + np.triu(order, 1).T))
    definition = mean_average_precision(distances, graph)
    assert mean_average_precision(distances, graph, ties="rank") == pytest.approx(definition, rel=1e-12)
    assert 0 < definition <= 1


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 40), seed=st.integers(0, 10**6))
def test_definition_is_never_kinder_than_the_kindest_rank(n, seed):
    # Whatever the index order, rank takes part of the ties where the definition takes all; for a single neighbor per
    # point (a perfect matching) that can only help.
    matching = edges(2 * n, *[(2 * k, 2 * k + 1) for k in range(n)])
    graph = Table(np.zeros((2 * n, 2 * n)))
    graph.adjacency = csr_array(matching)
    distances = Table(random_symmetric(seed, 2 * n, lambda rng, shape: rng.integers(1, 4, shape)))
    assert mean_average_precision(distances, graph, ties="rank") >= mean_average_precision(distances, graph)


@pytest.mark.parametrize("rows", [None, 50])
@pytest.mark.parametrize("ties", ["definition", "rank"])
def test_same_bits_for_every_number_of_threads_and_block_size(ties, rows, monkeypatch):
    n = 150
    graph = Table(np.zeros((n, n)))
    graph.adjacency = csr_array(random_adjacency(3, n, 0.1))
    distances = Table(random_symmetric(4, n, lambda rng, shape: rng.integers(1, 20, shape)))
    results = set()
    for entries in (1, 2000, 1 << 18):
        monkeypatch.setattr(streaming, "BLOCK_ENTRIES", entries)
        for n_jobs in (1, 2, 4):
            score = mean_average_precision(distances, graph, ties=ties, rows=rows, n_jobs=n_jobs)
            results.add((float(score).hex(), score.low.hex(), score.high.hex()))
    assert len(results) == 1


def test_sampled_interval_stays_between_zero_and_one():
    score = mean_average_precision(Table(DISTANCES), Network(STAR), rows=2, rng=1)
    assert (score.exact, score.pairs) == (False, 2)
    assert 0 <= score.low <= score <= score.high <= 1
    assert "(from 2 of 4 points)" in repr(score)


def test_no_edges_is_perfect():
    graph = Table(np.zeros((3, 3)))
    graph.adjacency = csr_array((3, 3))
    score = mean_average_precision(Table(np.ones((3, 3)) - np.eye(3)), graph)
    assert (score, score.pairs, score.exact) == (1.0, 0, True)


def test_takes_sparse_matrices():
    pytest.importorskip("treerep.metric.graph")
    expected = mean_average_precision(Table(DISTANCES), Network(STAR))
    assert mean_average_precision(DISTANCES, csr_array(STAR)) == expected


def test_refuses_what_is_no_graph():
    with pytest.raises(
        TypeError,
        match=r"^mean average precision needs a graph, but MatrixMetric has no edges[^\n]*$",
    ):
        mean_average_precision(DISTANCES, DISTANCES)
    with pytest.raises(ValueError, match="ties must be one of 'definition', 'rank', not 'random'"):
        mean_average_precision(DISTANCES, Network(STAR), ties="random")
    with pytest.raises(ValueError, match="approx has 2 points and graph has 4"):
        mean_average_precision([[0, 1], [1, 0]], Network(STAR))


def test_refuses_self_loops_and_repeated_neighbors():
    loop = Table(DISTANCES)
    loop.adjacency = csr_array(STAR + np.diag([0.0, 1, 0, 0]))
    twice = Table(DISTANCES)
    twice.adjacency = csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2, 2, 2, 2])), shape=(4, 4))
    for graph in (loop, twice):
        with pytest.raises(ValueError, match="list every neighbor once"):
            mean_average_precision(DISTANCES, graph)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_names_the_first_bad_distance(value):
    distances = np.array(DISTANCES, dtype=float)
    distances[1, 3] = distances[3, 1] = value
    with pytest.raises(MetricError, match=rf"^approx has d\(1, 3\) = {value}: [^\n]*$"):
        mean_average_precision(Table(distances), Network(STAR), n_jobs=2)
