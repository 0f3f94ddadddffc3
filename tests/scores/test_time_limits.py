"""`hyperbolicity(time_limit=...)`: by counted work and by clocks that tests set, never by seconds."""

from types import SimpleNamespace

import numpy as np
import pytest

import treerep as tr
from treerep._core.parallel import Workers
from treerep.metric.shortest_paths import hub_labels, search_kernels
from treerep.treelikeness import _diameter_kernels as diameter_kernels
from treerep.treelikeness import _pace as pace
from treerep.treelikeness import _spaces as spaces
from treerep.treelikeness import hyperbolicity as hyperbolicity_module
from treerep.treelikeness._pace import LimitReached, Pace
from treerep.treelikeness.exact import _biconnected_kernels as block_kernels
from treerep.treelikeness.sampling import graph_distances as graph_sampling
from treerep.treelikeness.sampling import quadruples as four_point_sampling
from treerep.treelikeness.sampling.graph_distances import labels_pay
from treerep.treelikeness.sampling.quadruples import distinct_quadruples, four_point_values

METHODS = ("exact", "sample", "auto")


def random_graph(n, weighted=False, seed=0):
    """Three edges a vertex, without structure: hub labels of such a graph are long."""
    rng = np.random.default_rng(seed)
    tree = np.column_stack([np.arange(1, n), (rng.random(n - 1) * np.arange(1, n)).astype(int)])
    edges = np.concatenate([tree, rng.integers(0, n, (2 * n, 2))])
    return tr.GraphMetric(edges, weights=rng.uniform(0.1, 1, len(edges)) if weighted else None)


@pytest.fixture
def clock(monkeypatch):
    """A clock on which time is up after `left` looks at it, or never if that is None."""
    state = SimpleNamespace(left=None)

    def monotonic():
        if state.left is None:
            return 0.0
        state.left -= 1
        return 0.0 if state.left >= 0 else 1e9

    for module in (pace, hyperbolicity_module):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=monotonic))
    return state


@pytest.fixture
def searches(monkeypatch):
    """Count searches of a whole graph, and slices of the work on hub labels."""
    counts = {"searches": 0, "slices": 0}

    def count(module, name, key, amount):
        inner = getattr(module, name)

        def counting(*args):
            counts[key] += amount(args)
            return inner(*args)

        monkeypatch.setattr(module, name, counting)

    count(search_kernels, "search_block", "searches", lambda args: len(args[3]))
    count(diameter_kernels, "search_eccentricities", "searches", lambda args: args[-1])
    count(block_kernels, "search_many", "searches", lambda args: block_kernels.SOURCES)
    count(hub_labels, "label_hubs", "slices", lambda args: 1)
    count(hub_labels, "grow_trees", "slices", lambda args: 1)
    return counts


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_graph_costs_a_few_searches_when_time_is_up_at_once(method, weighted, clock, searches, monkeypatch):
    monkeypatch.setattr(graph_sampling, "_SOON", 0)
    graph = random_graph(1500, weighted)
    clock.left = 1  # the time of the call
    found = tr.hyperbolicity(graph, method=method, time_limit=0.5)
    # One row for the diameter and one quadruple, or one row each for the diameter and the size of a component.
    assert searches["searches"] <= 4 and searches["slices"] <= 1
    assert not graph.has_labels
    assert 0 <= found.low <= found.high < np.inf and found.diameter > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_samples_of_a_graph_hold_whenever_time_is_up(weighted, clock, searches, monkeypatch):
    monkeypatch.setattr(graph_sampling, "_SOON", 0)
    monkeypatch.setattr(graph_sampling, "_BAND", 3e6)
    monkeypatch.setattr(graph_sampling, "_SHARE", 0.05)
    monkeypatch.setattr(four_point_sampling, "_FIRST_WINDOW", 8)
    graph = random_graph(1100, weighted)
    delta = tr.hyperbolicity(graph, method="sample", quadruples=500)
    four = distinct_quadruples(1100, 500, np.random.default_rng(0).spawn(1)[0])
    values = four_point_values(graph, four)[0] / 2
    assert delta.mean == pytest.approx(values.mean(), rel=1e-12)
    means = np.cumsum(values) / np.arange(1, 501)
    seen = set()
    for looks in (1, 5, 20, 30, 40, 80):
        fresh = random_graph(1100, weighted)
        clock.left = looks
        searches["slices"] = 0
        found = tr.hyperbolicity(fresh, method="sample", quadruples=500, time_limit=0.5, n_jobs=1)
        assert searches["slices"] <= looks + 1
        assert found.low <= delta.high and found.high >= delta.low
        # The quadruples drawn first count, however many there were.
        seen.add(int(np.argmin(np.abs(means - found.mean))))
        assert np.abs(means - found.mean).min() < 1e-12
    assert len(seen) > 2


def test_labels_that_cost_more_than_searches_are_given_up(monkeypatch):
    monkeypatch.setattr(graph_sampling, "_SOON", 0)
    with Workers(1) as workers:
        wild, path = (
            random_graph(1500),
            tr.GraphMetric(np.column_stack([np.arange(4999), np.arange(1, 5000)])),
        )
        assert labels_pay(path, 10**5, Pace(workers, None)) and path.has_labels
        assert not labels_pay(
            path.__class__(path.adjacency), 1, Pace(workers, None)
        )  # three searches are less
        assert not labels_pay(wild, 10**5, Pace(workers, None)) and not wild.has_labels


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_that_are_there_change_no_bit_of_a_sample(weighted, monkeypatch):
    monkeypatch.setattr(graph_sampling, "_SOON", 0)
    graph, other = random_graph(1200, weighted), random_graph(1200, weighted)
    other.build_labels()
    assert other.label_work > 0
    first, second = (tr.hyperbolicity(g, method="sample", quadruples=3000) for g in (graph, other))
    assert (first.delta, first.mean, first.high, first.witness) == (
        second.delta,
        second.mean,
        second.high,
        second.witness,
    )


def test_work_on_labels_is_the_same_however_it_is_sliced(monkeypatch):
    graphs = [random_graph(300) for _ in range(2)]
    graphs[0].build_labels()
    monkeypatch.setattr(hub_labels, "_SLICE", (500, 500))
    seen = []
    graphs[1].build_labels(seen.append)
    assert graphs[0].label_work == graphs[1].label_work == seen[-1] > 0
    assert len(seen) > 10


def test_distances_are_read_row_by_row(monkeypatch):
    # Writing a column touches all pages of a matrix: gigabytes of memory were taken before the first look at the clock.
    written = []
    metric = tr.PointMetric(np.random.default_rng(0).random((50, 2)))

    class Recorded(np.ndarray):
        def __setitem__(self, key, value):
            if isinstance(key, tuple):
                written.append((key[0].stop - key[0].start) * len(range(*key[1].indices(self.shape[1]))))
            super().__setitem__(key, value)

    zeros = np.zeros
    monkeypatch.setattr(spaces, "triangle_slices", lambda n: (slice(k, k + 1) for k in range(n - 1)))
    monkeypatch.setattr(spaces.np, "zeros", lambda shape, dtype=float: zeros(shape, dtype).view(Recorded))

    class Short(Pace):
        looks = 0

        def check(self):
            self.looks += 1
            if self.looks > 3:
                raise LimitReached

    with Workers(1) as workers, pytest.raises(LimitReached):
        spaces.read_space(metric, Short(workers, 1.0))
    assert written == [50, 49, 48]


def test_slow_metrics_are_not_asked_for_more_when_time_is_up(clock):
    class Slow(tr.Metric):
        asked = 0

        def __len__(self):
            return 2000

        def block(self, rows, cols):
            self.asked += 1
            return np.abs(np.subtract.outer(np.asarray(rows), np.asarray(cols))).astype(float)

    metric = Slow()
    clock.left = 1
    tr.hyperbolicity(metric, method="sample", time_limit=0.5)
    assert metric.asked <= 1 + four_point_sampling._PIECE / 4
