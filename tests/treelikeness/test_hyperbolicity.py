import itertools
import pickle
import signal
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

import treerep as tr
from tests.metrics import Table
from tests.processes import started
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep._core import memory
from treerep._core.parallel import Workers
from treerep._core.progress import progress_bar
from treerep.metric.base import MetricError
from treerep.treelikeness._pace import Best, LimitReached, Pace
from treerep.treelikeness._spaces import read_space, triangle_inequality_holds
from treerep.treelikeness.base_points import bounds as base_point
from treerep.treelikeness.base_points.bounds import search_bases
from treerep.treelikeness.exact import far_apart, far_points
from treerep.treelikeness.exact.far_points import search_far_points
from treerep.treelikeness.sampling.quadruples import distinct_quadruples

hyperbolicity = tr.hyperbolicity

METHODS = ("exact", "sample", "auto")


def brute(d):
    """The definition: all n^4 quadruples at once."""
    d = np.asarray(d, dtype=float)
    first = d[:, :, None, None] + d[None, None]
    others = np.maximum(d[:, None, :, None] + d[None, :, None, :], d[:, None, None, :] + d[None, :, :, None])
    return max(0.0, float((first - others).max())) / 2


def value(d, witness):
    """The four-point value of a witness, from plain lookups."""
    a, b, c, e = witness
    return (float(d[a][b]) + float(d[c][e]) - max(float(d[a][c]) + d[b][e], float(d[a][e]) + d[b][c])) / 2


def from_bases(d, bases):
    """Bounds of delta from base points, and the quadruple of the lower bound."""
    metric = tr.MatrixMetric(d)
    with Workers(1) as workers:
        pace = Pace(workers, None)
        best = Best(progress_bar(1, "", ""))
        space = read_space(metric, pace)
        bound = search_bases(space, triangle_inequality_holds(metric), bases, best, pace)
    return best.h / 2, bound.high / 2, best.witness


def check(data, d, tolerance=0.0):
    """Exact equals brute force with a witness that proves it, and every base interval contains it."""
    d = np.asarray(d, dtype=float)
    slack = tolerance * d.max(initial=0.0)
    true = brute(d)
    exact = hyperbolicity(data, method="exact", n_jobs=1)
    assert abs(exact - true) <= slack
    assert exact.exact and exact.low == exact.high == exact.delta
    assert abs(exact.diameter - d.max(initial=0.0)) <= slack
    if exact > 0:
        assert abs(value(d, exact.witness) - exact) <= slack
    else:
        assert exact.witness is None
    low, high, witness = from_bases(d, 2)
    assert low - slack <= true <= high + slack
    if low > 0:
        assert abs(value(d, witness) - low) <= slack


@st.composite
def graphs(draw, max_vertices=25):
    """Connected graphs, from trees to dense ones, with long cycles among them, and random lengths."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_vertices))
    adjacency = np.triu(rng.random((n, n)) < draw(st.floats(0, 4)) / n, 1)
    for k in range(1, n):
        adjacency[rng.integers(max(0, k - draw(st.integers(1, n))), k), k] = True
    lengths = np.triu(rng.random((n, n)) + 0.01, 1)
    return adjacency | adjacency.T, lengths + lengths.T


# -- by hand ---------------------------------------------------------------------------------------------------------


def test_four_points_by_hand():
    # Sums: 5 + 6 = 11, 3 + 4 = 7, 4 + 5 = 9. delta = (11 - 9) / 2.
    d = np.array([[0, 5, 3, 4], [5, 0, 5, 4], [3, 5, 0, 6], [4, 4, 6, 0]])
    found = hyperbolicity(d)
    assert found == 1.0
    assert sorted(map(sorted, (found.witness[:2], found.witness[2:]))) == [[0, 1], [2, 3]]
    assert found.relative == 2 / 6


# Cycles: floor(n / 4), less 1/2 when n = 1 mod 4 (Wu and Zhang, Hyperbolicity and chordality of a graph, 2011).
@pytest.mark.parametrize("n", range(3, 42))
def test_cycles(n):
    assert hyperbolicity(nx.cycle_graph(n), method="exact") == n // 4 - (0.5 if n % 4 == 1 else 0)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 9), (3, 3), (4, 7), (8, 8)])
def test_grids(rows, columns):
    assert hyperbolicity(nx.grid_2d_graph(rows, columns), method="exact") == min(rows, columns) - 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 20])
def test_cliques_and_equal_distances(n):
    assert hyperbolicity(np.ones((n, n)) - np.eye(n)) == 0
    assert hyperbolicity(np.zeros((n, n)), normalize=True) == 0
    if n > 1:
        assert hyperbolicity(nx.complete_graph(n)) == 0


def test_an_edge_less_makes_a_clique_half_hyperbolic():
    graph = nx.complete_graph(6)
    graph.remove_edge(0, 1)
    assert hyperbolicity(graph) == 0.5


def test_petersen_and_hypercube_match_brute_force():
    for graph in (
        nx.petersen_graph(),
        nx.hypercube_graph(4),
        nx.barbell_graph(5, 3),
        nx.circular_ladder_graph(9),
    ):
        d = np.asarray(nx.floyd_warshall_numpy(graph))
        assert hyperbolicity(graph, method="exact") == brute(d)


# -- against brute force ----------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(1, 70), st.integers(1, 200))
def test_unweighted_graphs(graph, batch, band):
    adjacency, _ = graph
    d = shortest_path(adjacency.astype(float), unweighted=True)
    with pytest.MonkeyPatch.context() as patch:  # small pieces, so that few points make many of them
        patch.setattr(far_apart, "_FIRST_BATCH", batch)
        patch.setattr(far_apart, "_FIRST_BAND", band)
        check(csr_array(adjacency.astype(float)), d)
        check(d.astype(np.uint8), d)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.sampled_from([3, 20, 200, 40_000]))
def test_weighted_graphs(graph, largest):
    adjacency, lengths = graph
    real = shortest_path(adjacency * lengths)
    check(csr_array(adjacency * lengths), real, 1e-13)
    whole = adjacency * np.ceil(lengths * largest)
    check(csr_array(whole), shortest_path(whole))
    check(shortest_path(whole), shortest_path(whole))


@settings(max_examples=40, deadline=None)
@given(integer_metrics(), st.sampled_from([1, 100, 30_000, 2**30]))
def test_whole_metrics(d, scale):
    check(d * scale, d * scale)


@settings(max_examples=60, deadline=None)
@given(any_symmetric(), st.sampled_from(["float64", "float32", "uint8", "uint16"]))
def test_violated_triangles(d, dtype):
    d = (d * 40 if dtype.startswith("u") else d).astype(dtype)
    check(tr.MatrixMetric(d), d, 1e-6 if dtype == "float32" else 1e-12)
    check(Table(d), d, 1e-6 if dtype == "float32" else 1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 25), st.integers(1, 4), st.integers(-9, 9), st.integers(0, 2**32 - 1))
def test_points(n, dim, exponent, seed):
    points = np.random.default_rng(seed).standard_normal((n, dim)) * 10.0**exponent
    points[: n // 4] = points[0]  # duplicates
    everyone = np.arange(n)
    check(tr.PointMetric(points), tr.PointMetric(points).block(everyone, everyone), 1e-13)


@settings(max_examples=60, deadline=None)
@given(tree_metrics(), st.sampled_from(METHODS), st.sampled_from([1e-9, 1.0, 1e9]))
def test_tree_metrics_are_exactly_zero(d, method, scale):
    found = hyperbolicity(d * scale, method=method, quadruples=100)
    assert found == 0
    assert found.witness is None
    if method != "sample":
        assert found.exact and found.high == 0


@pytest.mark.parametrize("method", METHODS)
def test_trees_are_zero_by_what_they_are(method):
    tree = tr.datasets.random_tree(60)
    assert hyperbolicity(tree, method=method) == 0
    assert hyperbolicity(tree).diameter == tree.distances().max()
    assert hyperbolicity(tr.GraphMetric(tree.edges), method="exact") == 0


def test_duplicates_off_a_pair_at_distance_one():
    # Not the graph of that pair: d(1, 2) = 1 > d(1, 0) + d(0, 2) = 0, and the points 1, 2, 0, 0 say so.
    assert hyperbolicity([[0, 0, 0], [0, 0, 1], [0, 1, 0]], metric="precomputed") == 0.5


@pytest.mark.parametrize("short", [0.1, 1e-4, 1e-9])
def test_a_small_square_far_from_a_point(short):
    # Its sides are far below the diameter, and it alone is not tree-like: delta of a square is its side.
    graph = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 0], [4, 0], [4, 2]], weights=[short] * 4 + [1, 1])
    found = hyperbolicity(graph, method="exact")
    assert found == pytest.approx(short, rel=1e-6)
    assert set(found.witness) == {0, 1, 2, 3}
    whole = tr.GraphMetric(graph.adjacency * round(1 / short))
    assert hyperbolicity(whole, method="exact") == 1


@pytest.mark.parametrize("short", [1e-3, 1e-20])
def test_edges_that_vanish_beside_others(short):
    # A square whose corners are pairs of points: d(w, b) = d(a, b) + d(a, w) in floats for either end of a pair.
    edges = [(v, (v + 1) % 4) for v in range(4)] + [(v + 4, (v + 1) % 4) for v in range(4)]
    edges += [(v + 4, (v + 1) % 4 + 4) for v in range(4)] + [(v, v + 4) for v in range(4)]
    graph = tr.GraphMetric(np.array(edges), weights=[1.0] * 12 + [short] * 4)
    d = graph.block(np.arange(8), np.arange(8))
    check(graph, d, 1e-15)
    assert brute(d) >= 1


@pytest.mark.parametrize("violation", [1e-8, 3e-9, 1e-9])
def test_slight_violations_that_only_triangles_show(violation):
    # A star whose center is a little too near: four different points see nothing of it. 2 delta is a triangle's.
    legs = np.array([0.5, 0.8, 2.0, 0.9, 0.6])
    near = legs - violation * np.array([0.3, 0.25, 0, 0.2, 0.25])
    d = np.zeros((6, 6))
    d[:5, :5] = legs[:, None] + legs - 2 * np.diag(legs)
    d[5, :5] = d[:5, 5] = near
    check(d, d, 1e-15)
    assert hyperbolicity(d) > 0.27 * violation


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("unit", [0.1, 2.0**-10])
def test_defects_of_a_few_steps_count(unit, rounded):
    # A star with legs of 500 to 1,000 steps in which two distances are nine steps too long: once certified as 0.
    rng = np.random.default_rng(3)
    legs = rng.integers(500, 1000, 100)
    noise = np.triu(rng.integers(0, 2, (100, 100)), 1) * rounded
    steps = legs[:, None] + legs - 2 * np.diag(legs) + noise + noise.T
    for i, j in ((0, 1), (2, 3)):
        steps[i, j] = steps[j, i] = steps[i, j] + 9
    d = np.round(steps * unit, 10)
    assert tr.MatrixMetric(d).input_eps > 0 or not rounded
    least = (d[0, 1] + d[2, 3] - max(d[0, 2] + d[1, 3], d[0, 3] + d[1, 2])) / 2
    exact = hyperbolicity(d, method="exact")
    low, high, _ = from_bases(d, 4)
    assert exact.low == exact.high >= least * (1 - 1e-12) > 7 * unit
    assert low <= exact.low * (1 + 1e-12) and exact.low <= high * (1 + 1e-12)


@pytest.mark.parametrize("scale", [5e-324 * 2**40, 1e-306, 1e300])
def test_scales_at_the_ends_of_the_range(scale):
    d = np.array([[0, 5, 3, 4.5], [5, 0, 5, 4], [3, 5, 0, 6], [4.5, 4, 6, 0]])  # sums 11, 7, 9.5
    for method in METHODS:
        assert hyperbolicity(d * scale, method=method) / scale == pytest.approx(0.75, rel=1e-9)


# -- what the result says -------------------------------------------------------------------------------------------


def test_normalized_and_relative():
    plain, normal = (hyperbolicity(nx.cycle_graph(12), normalize=flag) for flag in (False, True))
    assert (plain.delta, plain.diameter, plain.relative) == (3.0, 6.0, 1.0)
    assert (normal.delta, normal.high, normal.relative) == (0.5, 0.5, 1.0)
    assert repr(plain) == "3 (exact, diameter 6)"
    assert plain.method == "exact"


def test_results_survive_a_pickle():
    found = hyperbolicity(nx.cycle_graph(12), method="sample", quadruples=50)
    again = pickle.loads(pickle.dumps(found))
    assert again == found and repr(again) == repr(found)
    assert (again.witness, again.mean, again.high) == (found.witness, found.mean, found.high)


@settings(max_examples=25, deadline=None)
@given(integer_metrics(12), st.integers(0, 100))
def test_sampled_means_cover_the_mean_of_all_quadruples(d, seed):
    if len(d) < 4:
        return
    found = hyperbolicity(d, method="sample", quadruples=20_000, rng=seed)
    sums = [
        sorted((d[a, b] + d[c, e], d[a, c] + d[b, e], d[a, e] + d[b, c]))
        for a, b, c, e in itertools.combinations(range(len(d)), 4)
    ]
    true = np.mean([(s[2] - s[1]) / 2 for s in sums])
    spread = found.mean_high - found.mean
    assert abs(found.mean - true) <= 3 * spread + 1e-12  # six standard errors
    assert found.low <= brute(d) <= found.high < np.inf
    if found > 0:
        assert value(d, found.witness) == found


def test_sampled_matrices_and_block_only_metrics_and_points_agree():
    points = np.random.default_rng(3).standard_normal((1001, 2))  # too many for a table of all distances
    metric = tr.PointMetric(points, "manhattan")
    d = metric.block(np.arange(1001), np.arange(1001))
    plain, normal = (
        [
            hyperbolicity(data, method="sample", quadruples=999, normalize=flag)
            for data in (metric, d, Table(d))
        ]
        for flag in (False, True)
    )
    assert len({(float(r), r.witness, r.mean) for r in plain}) == 1
    assert value(d, plain[0].witness) == plain[0]
    # What is known of the diameter: twice the least eccentricity; every distance; nothing.
    assert [r.high for r in plain[1:]] == [d.max(), np.inf] and d.max() / 2 <= plain[0].high < d.max()
    assert normal[1].low == normal[1].delta == plain[1].delta / d.max() and normal[1].high == 1
    assert 0 < normal[0].low <= normal[1].low < normal[0].high < np.inf
    assert (normal[2].low, normal[2].high) == (0, np.inf)


def test_samples_read_the_upper_half_of_a_slightly_asymmetric_matrix():
    tree = tr.datasets.random_tree(1001).distances().astype(np.float32)
    skewed = np.triu(tree) + np.tril(tree * np.float32(1.00005))
    assert hyperbolicity(skewed, method="sample", quadruples=500) <= hyperbolicity(
        np.triu(tree) + np.triu(tree).T
    )


def test_quadruples_are_distinct_and_equally_likely():
    four = distinct_quadruples(5, 60_000, np.random.default_rng(0))
    assert (np.diff(np.sort(four, axis=1), axis=1) > 0).all()
    counts = np.unique(four @ [125, 25, 5, 1], return_counts=True)[1]
    assert len(counts) == 120  # ordered choices of 4 out of 5
    assert abs(counts - 500).max() < 5.5 * np.sqrt(500)


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing(method):
    graph = nx.random_regular_graph(3, 120, seed=1)
    results = [hyperbolicity(graph, method=method, quadruples=30_000, n_jobs=jobs) for jobs in (1, 2, 5)]
    assert len({(float(r), r.witness, r.high, r.mean) for r in results}) == 1


def test_graphs_and_their_matrices_and_labels_agree():
    graph = nx.relabel_nodes(nx.random_regular_graph(3, 60, seed=2), str)
    d = np.asarray(nx.floyd_warshall_numpy(graph))
    metrics = (graph, d, d.astype(np.uint8), d.astype(np.float32), Table(d), d * 1000.0)
    deltas = [hyperbolicity(data, method="exact", normalize=True) for data in metrics]
    assert len(set(map(float, deltas))) == 1


# -- limits ------------------------------------------------------------------------------------------------------------


def test_a_time_limit_gives_an_interval_that_holds():
    points = np.random.default_rng(0).standard_normal((300, 8))
    whole = hyperbolicity(points, metric="euclidean", method="exact")
    assert whole.exact
    for seconds in (1e-9, 0.02):
        early = hyperbolicity(points, metric="euclidean", method="exact", time_limit=seconds)
        assert early.low <= whole <= early.high
    graph = nx.random_regular_graph(3, 400, seed=1)
    early = hyperbolicity(graph, method="exact", time_limit=1e-9)
    assert early.low <= hyperbolicity(graph, method="exact") <= early.high and not early.exact


def stoppable():
    """Two components and a bridge, real lengths, points, a matrix that is no metric."""
    rng = np.random.default_rng(0)
    both = nx.disjoint_union(nx.cycle_graph(13), nx.grid_2d_graph(4, 4))
    both.add_edge(0, 13)
    edges = np.array(nx.random_regular_graph(3, 24, seed=1).edges)
    loose = np.triu(rng.integers(0, 9, (18, 18)), 1)
    real = tr.GraphMetric(edges, weights=rng.random(len(edges)))
    return {
        "graph": both,
        "lengths": real,
        "points": tr.PointMetric(rng.random((20, 3))),
        "loose": loose + loose.T,
    }


@pytest.mark.parametrize("kind", ["graph", "lengths", "points", "loose"])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_whenever_time_is_up(kind, method, monkeypatch):
    for module, name, small in (
        (far_points, "_LARGE", 10),
        (far_apart, "_FIRST_BATCH", 8),
        (far_apart, "_FIRST_BAND", 20),
        (far_apart, "_BATCH_WORK", 1),
        (base_point, "_ROUND", 1),
        (base_point, "_ROWS", 8),
    ):
        monkeypatch.setattr(module, name, small)
    data = stoppable()[kind]
    metric = tr.as_metric(data)
    d = metric.block(np.arange(len(metric)), np.arange(len(metric)))
    true, left = brute(d), [0]

    def check_clock(self):
        left[0] -= 1
        if left[0] < 0 and self._end < np.inf:
            raise LimitReached

    monkeypatch.setattr(Pace, "check", check_clock)
    stops = 0
    for looks in itertools.count():  # at the clock, before it says that time is up
        left[0] = looks
        found = hyperbolicity(data, method=method, time_limit=1e9, quadruples=50, n_jobs=1)
        assert found.low - 1e-12 <= true <= found.high + 1e-12
        assert found.witness is None or abs(value(d, found.witness) - found.low) <= 1e-12
        if left[0] >= 0:
            break
        stops += 1
    assert stops > 0
    assert method == "sample" or (found.exact and abs(found - true) <= 1e-12)


def test_far_points_bound_delta_before_all_distances_are_read(monkeypatch):
    monkeypatch.setattr(far_points, "_LARGE", 30)
    monkeypatch.setattr(far_points, "_POINTS", 12)
    graph = nx.random_regular_graph(3, 60, seed=2)
    d = np.asarray(nx.floyd_warshall_numpy(graph))
    row = iter(range(12))  # time is up after so many rows

    class Clock:
        def check(self):
            if next(row, None) is None:
                raise LimitReached

    best = Best(progress_bar(1, "", ""))
    search_far_points(lambda k: d[k], np.arange(60) + 100, best, Clock())
    assert 0 < best.h / 2 <= brute(d)
    assert value(d, np.array(best.witness) - 100) == best.h / 2
    check(graph, d)
    check(d + 0.0, d)
    check(Table(d * 1.5), d * 1.5)
    check(np.zeros((40, 40)), np.zeros((40, 40)))


SEARCH = """
import numpy as np, treerep as tr
points = np.random.default_rng(0).standard_normal((3000, 20))
for n in (50, 3000):
    try:
        tr.hyperbolicity(points[:n], metric="euclidean", method="exact", n_jobs={jobs})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    else:
        print("ready", flush=True)  # compiled: a compiler cannot be interrupted cleanly
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_long_search_can_be_interrupted(jobs):
    code = SEARCH.format(jobs=jobs)
    pipe = subprocess.PIPE
    with started([sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("interrupted\n", "")
        assert process.returncode == 0


def test_auto_samples_where_memory_is_short(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 0)
    assert hyperbolicity(nx.cycle_graph(12)).method == "sample"
    with pytest.raises(MemoryError, match="method='sample'"):
        hyperbolicity(nx.cycle_graph(12), method="exact")


def test_auto_stops_by_work_and_bounds_from_bases(monkeypatch):
    from treerep.treelikeness import hyperbolicity as module

    points = np.random.default_rng(0).standard_normal((60, 8))
    whole = hyperbolicity(points, metric="euclidean", method="exact")
    monkeypatch.setattr(module, "_AUTO_STEPS", 1)
    found = hyperbolicity(points, metric="euclidean")
    assert found.method == "exact" and not found.exact
    assert found.low <= whole <= found.high < found.diameter / 2
    assert "incomplete" in repr(found)
    monkeypatch.setattr(module, "_AUTO_POINTS", 10)
    assert hyperbolicity(points, metric="euclidean").method == "sample"
    monkeypatch.setattr(module, "_AUTO_COMPONENT", 10)
    assert hyperbolicity(nx.cycle_graph(12)).method == "sample"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fast"}, "method must be one of"),
        ({"time_limit": 0}, "time_limit must be a positive number of seconds"),
        ({"time_limit": np.nan}, "time_limit must be a positive number of seconds"),
        ({"time_limit": True}, "time_limit must be a positive number of seconds"),
        ({"time_limit": "5"}, "time_limit must be a positive number of seconds"),
        ({"normalize": "no"}, "normalize must be True or False"),
        ({"quadruples": 1.5}, "quadruples must be a positive whole number"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        hyperbolicity(np.zeros((4, 4)), **options)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_unusable_distances_are_named(bad):
    d = np.ones((5, 5)) - np.eye(5)
    d[1, 3] = d[3, 1] = bad
    with pytest.raises(MetricError, match=r"d\(1, 3\)"):
        hyperbolicity(Table(d), method="exact")
    large = np.full((1001, 1001), bad)  # rows are read, or quadruples drawn, until one shows
    for first in (0, 1):
        large[0] = large[:, 0] = first  # the first row, or none that a few far points have, is sound
        with pytest.raises(MetricError, match=r"d\(\d+, \d+\) = "):
            hyperbolicity(Table(large), method="sample", quadruples=10)


# -- how far apart the bounds of one base point are --------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1, 10**5, 3 * 10**8, 10**12])
def test_bounds_from_bases_are_a_factor_of_two_apart_for_whole_numbers(scale):
    # Above 65,535 distances are kept as floats, and a grid of 2^-29 of the largest used to round `high` up.
    rng = np.random.default_rng(scale)
    for n in (5, 17, 40):
        d = np.triu(rng.integers(scale, 2 * scale + 1, (n, n)), 1)  # a metric: no distance exceeds two others
        for data in (d + d.T, (d + d.T).astype(float)):
            low, high, _ = from_bases(data, 1)
            assert low <= high <= 2 * low
            assert 2 * high == round(2 * high)


def test_bounds_from_bases_of_real_distances_are_rounded_as_documented():
    rng = np.random.default_rng(7)
    for n in (5, 17, 40):
        d = np.triu(1 + rng.random((n, n)) * 10.0 ** rng.integers(-7, 0), 1)
        low, high, _ = from_bases(d + d.T, 1)
        assert low <= brute(d + d.T) <= high <= 2 * low + 2.0**-25 * d.max()
