"""Sums of distances against sums over the distance matrix."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.tree.strategies import trees
from treerep.tree.operations.distance_sums import (
    distance_sums,
    path_sums,
    squared_distance_sums,
    subtree_sums,
)
from treerep.tree.tree import Tree


@given(trees(), st.integers(0, 2**32 - 1))
def test_sums_are_those_of_the_distance_matrix(tree: Tree, seed: int) -> None:
    view = tree._view
    nodes = view.order.astype(int)
    distances = tree.block(nodes, nodes)
    weights = np.random.default_rng(seed).normal(size=tree.n_nodes)
    options = {"rtol": 1e-9, "atol": 1e-9 * (1 + distances.max()) ** 2 * tree.n_nodes}
    assert_allclose(path_sums(view, view.length), distances[0], **options)
    assert_allclose(distance_sums(view, weights), distances @ weights, **options)
    squares = squared_distance_sums(view, weights)
    assert_allclose(squares, distances**2 @ weights, **options)


def test_a_star_by_hand() -> None:
    tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 4.0])
    view = tree._view
    ones = (view.order < 3).astype(float)
    assert dict(zip(view.order.tolist(), distance_sums(view, ones).tolist(), strict=True)) == {
        0: 3 + 5,
        1: 3 + 6,
        2: 5 + 6,
        3: 1 + 2 + 4,
    }
    assert subtree_sums(view, ones)[0] == 3
