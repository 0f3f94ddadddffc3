"""Hop counts of small graphs, from 512 vertices at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse.csgraph import shortest_path

import treerep as tr
from treerep import GraphMetric
from treerep.metric.oracle.classes import HubOracle, MatrixOracle
from treerep.metric.shortest_paths.all_pairs import few_hops


def hops(metric: GraphMetric) -> np.ndarray | None:
    found = few_hops(metric.adjacency.indptr, metric.adjacency.indices)
    return None if found is None else found.distances


def path(n: int) -> GraphMetric:
    return GraphMetric(np.column_stack([np.arange(n - 1), np.arange(1, n)]))


def test_a_square_with_a_tail_by_hand() -> None:
    metric = GraphMetric([[0, 1], [1, 2], [2, 3], [3, 0], [3, 4]])
    found = hops(metric)
    assert_array_equal(
        found,
        [[0, 1, 2, 1, 2], [1, 0, 1, 2, 3], [2, 1, 0, 1, 2], [1, 2, 1, 0, 1], [2, 3, 2, 1, 0]],
    )
    assert found is not None and found.dtype == np.uint8


@given(st.integers(2, 200), st.integers(0, 300), st.integers(0, 2**32 - 1))
def test_hop_counts_equal_scipys(n: int, extra: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = np.column_stack([np.arange(1, n), rng.integers(np.arange(1, n))])
    metric = GraphMetric(np.concatenate([tree, rng.integers(n, size=(extra, 2))]))
    expected = shortest_path(metric.adjacency)
    found = hops(metric)
    if expected.max() > 32:
        assert found is None
    else:
        assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [1, 2, 33, 63, 64, 65, 128, 511, 512, 513, 999])
def test_whole_and_partial_groups_of_sources(n: int) -> None:
    star = GraphMetric(np.column_stack([np.zeros(n, int), np.arange(n)]), labels=None)
    assert_array_equal(hops(star), shortest_path(star.adjacency))


@pytest.mark.parametrize("longest", [6, 8, 32])
def test_short_and_long_paths(longest: int) -> None:
    paths = [np.r_[0, np.arange(1, longest // 2 + 1) + k * (longest // 2)] for k in range(40)]
    spider = GraphMetric(np.concatenate([np.column_stack([path[:-1], path[1:]]) for path in paths]))
    expected = shortest_path(spider.adjacency)
    assert expected.max() == longest
    assert_array_equal(hops(spider), expected)


def test_the_longest_path() -> None:
    assert_array_equal(hops(path(33)), np.abs(np.subtract.outer(np.arange(33), np.arange(33))))
    assert hops(path(34)) is None


def test_small_graphs_have_a_matrix_and_the_same_trees_as_with_labels() -> None:
    rng = np.random.default_rng(0)
    edges = np.concatenate([np.column_stack([np.arange(1, 300), rng.integers(np.arange(1, 300))])])
    matrix, labels = GraphMetric(edges), GraphMetric(edges)
    assert isinstance(labels.build_labels(), HubOracle)
    assert isinstance(matrix.oracle, MatrixOracle)
    for seed in range(3):
        fitted = [tr.fit(graph, method="treerep", rng=seed) for graph in (matrix, labels)]
        assert fitted[0] == fitted[1]
    every = np.arange(300)
    assert_array_equal(matrix.block(every, every), labels.block(every, every))
    assert_array_equal(matrix.pairs(every, every[::-1]), labels.pairs(every, every[::-1]))


def test_large_graphs_have_labels() -> None:
    assert hops(GraphMetric(np.column_stack([np.zeros(999, int), np.arange(1, 1000)]))) is None
