"""TreeRep whose small zones neighbor joining finishes: fit(..., finish="nj")."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.metrics import Table
from tests.strategies import any_symmetric, integer_metrics, tree_metrics

SIZES = st.sampled_from([1, 2, 3, 5, 100])


def test_hand_worked_quartet() -> None:
    # Two cherries (0, 1) and (2, 3): pendant edges 1, 2, 3, 4, middle edge 5. One zone holds all.
    d = np.array([[0, 3, 9, 10], [3, 0, 10, 11], [9, 10, 0, 7], [10, 11, 7, 0]])
    tree = tr.fit(d, finish="nj", method="treerep")
    assert_array_equal(tree.edges, tr.fit(d, method="treerep").edges)
    assert_allclose(tree.weights, tr.fit(d, method="treerep").weights)


@given(tree_metrics(), st.integers(0, 5), SIZES)
def test_tree_metrics_are_recovered_with_the_fewest_nodes(d: np.ndarray, seed: int, size: int) -> None:
    tree = tr.fit(d, rng=seed, finish="nj", zone_size=size, method="treerep")
    assert_allclose(tree.distances(), d, rtol=1e-9, atol=1e-12 * d.max())
    assert tree.n_nodes == tr.fit(d, rng=seed, method="treerep").n_nodes


@given(integer_metrics(), st.integers(0, 3))
def test_one_zone_of_all_points_is_neighbor_joining(d: np.ndarray, seed: int) -> None:
    tree = tr.fit(d, rng=seed, tol=1e-9, finish="nj", zone_size=len(d), method="treerep")
    # Where pairs tie, which is joined first depends on the order of the points; there the trees may differ.
    order = np.append(np.delete(np.arange(len(d)), first(seed, len(d))), first(seed, len(d)))
    joined = tr.fit(d[np.ix_(order, order)], method="neighbor_joining")
    back = np.argsort(order)
    assert_allclose(tree.distances(), joined.distances()[np.ix_(back, back)], atol=1e-9 * max(1, d.max()))


def first(seed: int, n: int) -> int:
    """The point that the first zone hangs off."""
    return int(np.argmin(np.random.default_rng(seed).permutation(n)))


@given(
    st.one_of(integer_metrics(), any_symmetric()),
    st.integers(0, 5),
    SIZES,
    st.sampled_from([1, 2, 4]),
)
def test_every_symmetric_matrix_gives_one_tree_whatever_the_threads(
    d, seed: int, size: int, jobs: int
) -> None:
    tree = tr.fit(d, rng=seed, finish="nj", zone_size=size, method="treerep")
    tr.Tree(tree.n_points, tree.edges, tree.weights)  # refuses cycles, forests, negative lengths
    assert tree == tr.fit(d, rng=seed, finish="nj", zone_size=size, n_jobs=jobs, method="treerep")
    assert tree == tr.fit(
        Table(d),
        rng=seed,
        finish="nj",
        zone_size=size,
        tol=0.1 if integral(d) else "auto",
        method="treerep",
    )


def integral(d: np.ndarray) -> bool:
    return tr.as_metric(d).integral


def test_neighbors_of_a_graph_are_found_better() -> None:
    # Zones of 100 of 1,000 vertices. The gain is several times what seeds differ by.
    graph = tr.as_metric(nx.powerlaw_cluster_graph(1000, 2, 0.8, seed=1))

    def precision(finish: str) -> float:
        trees = [tr.fit(graph, rng=seed, finish=finish, method="treerep") for seed in range(3)]
        return float(np.mean([tr.mean_average_precision(tree, graph) for tree in trees]))

    assert precision("nj") > precision("treerep") + 0.01


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown finish 'upgma': choose one of treerep, nj|finish"):
        tr.fit(np.zeros((4, 4)), finish="upgma", method="treerep")
    with pytest.raises(ValueError, match="add finish='nj'"):
        tr.fit(np.zeros((4, 4)), zone_size=10, method="treerep")
    with pytest.raises(ValueError, match="zone_size must be a positive whole number, not 0"):
        tr.fit(np.zeros((4, 4)), finish="nj", zone_size=0, method="treerep")
    with pytest.raises(ValueError, match="neighbor_joining does not accept finish"):
        tr.fit(np.zeros((4, 4)), method="neighbor_joining", finish="nj")
