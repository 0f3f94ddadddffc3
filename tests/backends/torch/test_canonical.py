"""The canonical form on a device is that of the compiled code."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.backends.devices import DEVICE
from tests.tree.strategies import caterpillar, renumbered, trees
from treerep.backends.torch.treerep import _canonical as torch_canonical
from treerep.tree.structure.canonical import canonical_edges
from treerep.tree.tree import Tree

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]


def both(tree: Tree, seed: int) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Both forms of a tree whose points are shuffled among the nodes and whose edges are in any order."""
    import torch

    rng = np.random.default_rng(seed)
    n, order = len(tree), rng.permutation(len(tree.edges))
    nodes = rng.permutation(n).astype(np.int32)
    names = np.arange(len(tree.edges) + 1)
    names[:n] = nodes
    edges, weights = names[tree.edges[order]].astype(np.int32), tree.weights[order]
    device = torch_canonical.canonical_edges(
        n, *(torch.tensor(array, device=DEVICE) for array in (edges, weights, nodes))
    )
    return canonical_edges(n, edges, weights, nodes), tuple(tensor.numpy(force=True) for tensor in device)


@settings(max_examples=150)
@given(tree=trees(max_nodes=40, min_points=2, leaves=True), seed=st.integers(0, 99))
def test_it_is_that_of_the_compiled_code(tree: Tree, seed: int) -> None:
    assume(len(tree.edges) < 2 * len(tree))  # as after TreeRep, which brings at most one new node per point
    ours, theirs = both(renumbered(tree, np.random.default_rng(seed)), seed)
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("n", [2, 3, 5000])
def test_paths_stars_and_caterpillars(n: int) -> None:
    path = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    star = np.stack([np.zeros(n - 1, int), np.arange(1, n)], axis=1)
    shapes = [Tree(n, edges, np.arange(1.0, n)) for edges in (path, star)]
    for tree in [*shapes, *([caterpillar(n)] if n > 2 else [])]:
        ours, theirs = both(tree, n)
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
