"""The default method: exact on trees, better than relaxed neighbor joining, and true splits of phylogenies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from benchmarks.alignments import Simulation, sequence_metric, simulate
from benchmarks.truth import wrong_splits
from tests.metrics import Table
from tests.strategies import any_symmetric, tree_metrics
from treerep.refinement.backbone import build
from treerep.refinement.backbone._near_relations import first_copies, with_near_relations
from treerep.refinement.backbone._small_tree import kind_of, weighting
from treerep.refinement.backbone.build import make_symmetric
from treerep.refinement.lengths._splits import find_tree_splits

RING = tr.GraphMetric([[k, (k + 1) % 12] for k in range(12)])


# What kind of data it is


def test_kinds():
    points = tr.PointMetric(np.random.default_rng(0).normal(size=(12, 2)))
    every = np.arange(12)
    assert kind_of(RING) == "graph"
    assert kind_of(points) == "points"
    assert kind_of(tr.MatrixMetric(points.block(every, every))) == "distances"
    # The distances of a graph as a table: each vertex has a neighbor at distance 1.
    assert kind_of(tr.MatrixMetric(RING.block(every, every))) == "graph"
    # Immunological distances are whole numbers too, but no species is 1 from another.
    assert kind_of(tr.datasets.sarich()) == "distances"
    assert kind_of(Table(RING.block(every, every))) == "distances"


def test_balance_is_the_power_of_the_weights():
    assert weighting("points", 0.5, 100)[:3] == ((2.0,), (2.0,), 0.2)
    assert weighting("points", 0.5, 100).nearby and not weighting("points", 0.0, 100).nearby
    assert weighting("points", None, 100_000).nearby and not weighting("points", 0.0, 100_000).nearby
    assert weighting("graph", 0.25, 9).share == 0.25 and weighting("distances", 0.25, 9).share == 0.0


# Exactness


@given(tree_metrics(), st.sampled_from([1e-9, 1.0, 1e9]), st.integers(0, 3))
def test_tree_metrics_are_exact(d, scale, seed):
    tree = tr.fit(d * scale, rng=seed)
    assert_allclose(tree.distances(), d * scale, rtol=1e-9, atol=1e-13 * scale * d.max())
    assert tree.n_nodes == tr.fit(d * scale, method="treerep").n_nodes


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_tiny_inputs(n):
    d = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) * 1.5
    assert_allclose(tr.fit(d).distances(), d)


def test_points_in_one_place():
    assert_array_equal(tr.fit(np.zeros((20, 20))).distances(), np.zeros((20, 20)))


@pytest.mark.parametrize("scale", [1e-140, 1e-70, 1e70, 1e140])
def test_any_unit_will_do(scale):
    d = tr.PointMetric(np.random.default_rng(0).normal(size=(60, 3))).block(range(60), range(60))
    for size in (20, 60):
        tree = tr.fit(d * scale, method="backbone", size=size)
        assert 0 < tr.average_distortion(tree, d * scale) < 0.5


@given(any_symmetric(12), st.integers(0, 3))
def test_any_table_gives_a_tree_whatever_the_threads(d, seed):
    tree = tr.fit(d, rng=seed, n_jobs=1)
    assert (tree.weights >= 0).all() and len(tree) == len(d)
    assert tr.fit(d, rng=seed, n_jobs=2) == tree


def test_many_points_get_a_backbone():
    cells = tr.PointMetric(tr.datasets.branching_cells(2100, dim=3, rng=0).points)
    assert tr.fit(cells, rng=1) == tr.fit(cells, method="backbone", size=2000, rng=1)


# Duplicates


def noisy_cells():
    return tr.datasets.branching_cells(150, dim=4, rng=0).points


def noisy_distances():
    rng = np.random.default_rng(1)
    d = tr.datasets.random_tree(60, rng=1).distances() * np.exp(rng.normal(0, 0.1, (60, 60)))
    return (d + d.T) / 2


def ring_distances():
    return RING.block(range(12), range(12))


@pytest.mark.parametrize("extra", [1, 10])
@pytest.mark.parametrize("data", [noisy_cells, noisy_distances, ring_distances])
def test_duplicates_do_not_change_the_tree(data, extra):
    """Copies are at distance 0 from their originals, and the other points get the same tree."""
    values = data()
    n = len(values)
    rng = np.random.default_rng(extra)
    originals = np.sort(np.append(np.arange(n), rng.choice(n, extra, replace=False)))
    firsts = np.searchsorted(originals, np.arange(n))
    if data is noisy_cells:
        alone = tr.fit(values, metric="euclidean")
        together = tr.fit(values[originals], metric="euclidean")
    else:
        alone = tr.fit(values)
        together = tr.fit(values[np.ix_(originals, originals)])
    assert_allclose(together.distances(), alone.distances()[np.ix_(originals, originals)])
    assert together.restrict(firsts).n_nodes == alone.n_nodes


def test_points_at_distance_0_may_differ_in_other_distances():
    # A short sequence equals the start of one sequence and the end of another.
    whole = tr.datasets.random_alignment(30, sites=200, depth=0.3, rng=0)[0]
    short = "-" * 100 + whole[3][100:]
    merged = whole[7][:100] + whole[3][100:]
    metric = tr.SequenceMetric([*whole, merged, short], "p", alphabet="dna")
    d = metric.block(range(32), range(32))
    assert d[31, 3] == d[31, 30] == 0 < d[3, 30]
    tree = tr.fit(metric)
    assert tr.average_distortion(tree, metric) < 0.2
    assert tree.distances()[3, 30] > 0


# Quality


@pytest.mark.parametrize("name", ["celegans", "diseasome", "csphd"])
def test_graphs_are_better_than_from_relaxed_neighbor_joining(name, data_folder):
    graph = tr.datasets.load(name).metric
    ours, joined = tr.fit(graph), tr.fit(graph, method="relaxed_neighbor_joining")
    assert tr.average_distortion(ours, graph) <= tr.average_distortion(joined, graph)
    assert tr.mean_average_precision(ours, graph) >= tr.mean_average_precision(joined, graph)


# A little looser than what `refine` and the default both reach: see benchmarks/results/backbone.md.
@pytest.mark.parametrize(("name", "refined"), [("celegans", (0.1135, 0.745)), ("diseasome", (0.0755, 0.969))])
def test_small_graphs_are_as_good_as_refined_ones(name, refined, data_folder):
    graph = tr.datasets.load(name).metric
    tree = tr.fit(graph)
    assert tr.average_distortion(tree, graph) < refined[0]
    assert tr.mean_average_precision(tree, graph) > refined[1]


@pytest.mark.parametrize("name", ["celegans", "diseasome"])
def test_minimum_evolution_replaces_a_start_only_if_both_scores_are_better(name, data_folder, monkeypatch):
    graph = tr.datasets.load(name).metric

    def scores():
        tree = tr.fit(graph, rng=0)
        return tr.average_distortion(tree, graph), 1 - tr.mean_average_precision(tree, graph)

    found = scores()
    with monkeypatch.context() as patch:
        patch.setattr(build, "minimum_evolution", lambda table, n_jobs: star(len(table)))
        without = scores()
    if name == "celegans":
        assert found[0] < 0.99 * without[0] and found[1] < 0.995 * without[1]
    else:
        assert found == without


def star(n):
    return tr.Tree(n, [[0, k] for k in range(1, n)], np.ones(n - 1))


@pytest.mark.parametrize("n", [3, 256, 600])
def test_tables_become_symmetric_in_place(n):
    table = np.random.default_rng(n).random((n, n))
    expected = 0.5 * table + 0.5 * table.T
    make_symmetric(table)
    assert_array_equal(table, expected)


@pytest.mark.parametrize("what", [Simulation(200, 500, 0.3), Simulation(200, 1000, 0.8, 0.6, 4.0)])
def test_phylogenies_are_truer_than_from_neighbor_joining(what):
    alignment = simulate(what, rng=1)
    every = np.arange(what.taxa)
    table = tr.MatrixMetric(
        sequence_metric(alignment.sequences, what.kappa).block(every, every), symmetrize="mean"
    )
    ours, joined = tr.fit(table), tr.fit(table, method="neighbor_joining")
    assert wrong_splits(ours, alignment.tree) <= wrong_splits(joined, alignment.tree) + 0.02
    assert tr.average_distortion(ours, table) < tr.average_distortion(joined, table)


def test_a_good_phylogeny_keeps_its_splits_when_it_is_refined():
    what = Simulation(150, 1000, 0.8, 0.6, 4.0)
    alignment = simulate(what, rng=0)
    every = np.arange(what.taxa)
    table = tr.MatrixMetric(
        sequence_metric(alignment.sequences, what.kappa).block(every, every), symmetrize="mean"
    )
    shortest = tr.fit(table, method="minimum_evolution")
    better = tr.refine(shortest, table)
    assert better != shortest
    assert wrong_splits(better, alignment.tree) <= wrong_splits(shortest, alignment.tree) + 0.02


def test_sequences_need_no_matrix():
    what = Simulation(120, 400, 0.3)
    alignment = simulate(what, rng=2)
    metric = sequence_metric(alignment.sequences, None)
    tree = tr.fit(metric, method="backbone", size=60)
    assert wrong_splits(tree, alignment.tree) < 0.4


def test_simulated_distances_are_those_of_the_true_tree():
    # Many sites of shallow trees: the estimated distances are near the lengths of the tree that was simulated.
    for kappa in (None, 4.0):
        alignment = simulate(Simulation(8, 200_000, 0.1, 0.3, kappa), rng=3)
        found = sequence_metric(alignment.sequences, kappa).block(np.arange(8), np.arange(8))
        assert_allclose(found, alignment.tree.distances(), rtol=0.05, atol=1e-3)


# Bad input


def test_options_of_other_methods_name_their_method():
    with pytest.raises(ValueError, match="tol is an option of treerep: add method='treerep'"):
        tr.fit(np.ones((9, 9)) - np.eye(9), tol=0.1)
    with pytest.raises(ValueError, match="size is an option of backbone: add method='backbone'"):
        tr.fit(np.ones((9, 9)) - np.eye(9), size=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"balance": 2.0}, "balance must be a number from 0"),
        ({"time_limit": 0}, "time_limit must be a positive number of seconds"),
    ],
)
def test_bad_options_get_one_clear_line(options, message):
    with pytest.raises(ValueError, match=message) as error:
        tr.fit(np.ones((9, 9)) - np.eye(9), **options)
    assert "\n" not in str(error.value)


# Near relations of points


def digits():
    from sklearn.datasets import load_digits

    return load_digits().data[:900]


def test_points_keep_their_neighbors():
    """The default keeps far more neighbors than the fit of distances, at little distortion."""
    points = tr.PointMetric(digits())
    far, near = tr.fit(points, balance=0.0), tr.fit(points)
    kept = [float(tr.scores.neighbors_kept(tree, points)) for tree in (far, near)]
    distortion = [float(tr.average_distortion(tree, points)) for tree in (far, near)]
    assert kept[1] > kept[0] + 0.1
    assert distortion[1] < 1.12 * distortion[0]


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_near_relations_do_not_depend_on_threads_or_on_the_order_of_memory(metric):
    points = tr.datasets.branching_cells(700, dim=6, rng=3).points
    for size in (300, 2000):
        options = {"metric": metric, "method": "backbone", "size": size}
        tree = tr.fit(points, n_jobs=1, **options)
        assert tr.fit(points, n_jobs=3, **options) == tree
        assert tr.fit(np.asfortranarray(points), n_jobs=1, **options) == tree


@pytest.mark.parametrize("n", [600, 3000])
def test_a_time_limit_that_is_too_short_does_not_harm_far_distances(n):
    points = tr.PointMetric(tr.datasets.branching_cells(n, dim=6, rng=3).points)
    limited, alone = (tr.fit(points, time_limit=1e-6, balance=balance) for balance in (None, 0.0))
    assert tr.average_distortion(limited, points) < 1.5 * tr.average_distortion(alone, points)


def test_small_clades_change_and_the_tree_above_them_stays():
    points = tr.datasets.branching_cells(400, dim=6, rng=1).points
    start = tr.fit(points, metric="euclidean", balance=0.0).contracted(0.0)
    found = with_near_relations(start, points, None, 1)
    largest = len(points) // 8

    def large_splits(tree):
        found = find_tree_splits(tree)  # from a centroid
        sides = [found.points[low:high] for low, high in zip(found.first, found.last, strict=True)]
        return {frozenset(side.tolist()) for side in sides if largest < len(side) < 200}

    assert large_splits(start) <= large_splits(found)


def test_copies_of_coordinates_are_found():
    points = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [2.0, 0.0], [3.0, 0.0]])
    assert_array_equal(first_copies(points), [0, 1, 0, 1, 4])
