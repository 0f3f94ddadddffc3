"""cut: Ward's objective, greedily."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from treerep.tree.operations.cluster_kernels import best_cut
from treerep.tree.tree import Tree

from ..strategies import caterpillar, naive_distances, naive_splits, renumbered, trees


def objective(distances: np.ndarray, clusters: list[frozenset[int]]) -> float:
    return sum(distances[np.ix_(sorted(c), sorted(c))].sum() / 2 / len(c) for c in clusters)


def as_sets(labels: np.ndarray) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(labels == c).tolist()) for c in range(labels.max() + 1)]


def naive_refinements(
    clusters: list[frozenset[int]], sides: list[frozenset[int]]
) -> list[list[frozenset[int]]]:
    """Every way to cut one more edge: it parts exactly one cluster."""
    return [
        [*(x for x in clusters if x != c), c & side, c - side]
        for side in sides
        for c in clusters
        if c & side and c - side
    ]


def test_by_hand() -> None:
    # Two cherries on a long edge, and a lone far point 4.
    edges = [[0, 5], [1, 5], [5, 6], [6, 2], [6, 3], [6, 4]]
    tree = Tree(5, edges, [1, 1, 5, 1, 1, 20])
    assert_array_equal(tree.cut(1), [0, 0, 0, 0, 0])
    assert_array_equal(tree.cut(2), [0, 0, 0, 0, 1])
    assert_array_equal(tree.cut(3), [0, 0, 1, 1, 2])
    assert_array_equal(tree.cut(5), [0, 1, 2, 3, 4])


@given(trees(max_nodes=14, min_points=2))
def test_every_cut_is_the_best_one(tree: Tree) -> None:
    n = len(tree)
    distances = naive_distances(tree)[:n, :n]
    sides = list(naive_splits(tree))
    clusters = as_sets(tree.cut(1))
    assert clusters == [frozenset(range(n))]
    for k in range(2, n + 1):
        labels = tree.cut(k)
        assert labels.max() + 1 == k
        # Numbered by first appearance.
        assert_array_equal(
            np.unique(labels, return_index=True)[1],
            sorted(np.unique(labels, return_index=True)[1]),
        )
        better = [objective(distances, option) for option in naive_refinements(clusters, sides)]
        cut = as_sets(labels)
        assert objective(distances, cut) == pytest.approx(min(better), abs=1e-9)
        assert set(map(frozenset, cut)) - set(clusters), "one cluster is parted"
        assert len(set(clusters) - set(cut)) == 1
        clusters = cut


@given(trees(max_nodes=20, min_points=2))
def test_the_fall_is_exact(tree: Tree) -> None:
    view, n = tree._view, len(tree)
    scratch = [np.empty(tree.n_nodes) for _ in range(4)]
    part = np.arange(tree.n_nodes, dtype=np.int32)
    fall, _ = best_cut(part, view.up, view.length, (view.order < n).astype(float), *scratch)
    distances = naive_distances(tree)[:n, :n]
    everything = frozenset(range(n))
    options = [[side, everything - side] for side in naive_splits(tree)]
    best = max(objective(distances, [everything]) - objective(distances, option) for option in options)
    assert fall == pytest.approx(best, rel=1e-9, abs=1e-9)


@given(trees(leaves=True), st.integers(0, 2**32 - 1))
def test_does_not_depend_on_steiner_numbers(tree: Tree, seed: int) -> None:
    other = renumbered(tree, np.random.default_rng(seed))
    k = 1 + seed % len(tree)
    assert_array_equal(tree.cut(k), other.cut(k))


@pytest.mark.parametrize("k", [0, -1, 6])
def test_refuses(k: int) -> None:
    with pytest.raises(ValueError, match=f"k must be between 1 and the number of points, 5, not {k}"):
        caterpillar(5).cut(k)


def test_refuses_fractions() -> None:
    with pytest.raises(TypeError, match="k must be a whole number, not 2.5"):
        caterpillar(5).cut(2.5)  # type: ignore[arg-type]
