"""Deep trees: nothing recurses, nothing is quadratic."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from treerep.tree.tree import Tree

from .strategies import caterpillar


@pytest.fixture(scope="module")
def deep() -> Tree:
    return caterpillar(100_000)  # 200,000 nodes, 100,000 deep


def test_newick(deep: Tree) -> None:
    assert Tree.from_newick(deep.newick()) == deep.canonical()
    names = [f"p{i}" for i in range(len(deep))]
    named = Tree(len(deep), deep.edges, deep.weights, names)
    back = Tree.from_newick(named.newick())
    # The two ends of the row are Steiner nodes on a line, which restrict removes.
    assert back.restrict(names).isclose(named, rtol=1e-15)
    assert back.n_nodes == deep.n_nodes


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files(deep: Tree, tmp_path: Path, suffix: str) -> None:
    deep.save(tmp_path / f"deep{suffix}")
    assert Tree.load(tmp_path / f"deep{suffix}") == deep


def test_distances(deep: Tree) -> None:
    n = len(deep)
    along = np.concatenate([[0.0], np.cumsum(deep.weights[n:])])
    expected = along + deep.weights[:n] + deep.weights[0]
    expected[0] = 0.0
    assert_allclose(deep.block([0], np.arange(n))[0], expected, rtol=1e-11)
    assert_allclose(deep.pairs(0, np.arange(n)), expected, rtol=1e-11)
    assert deep.rooted().depth.max() == pytest.approx(expected.max())


def test_paths_and_other_views(deep: Tree) -> None:
    n = len(deep)
    assert_array_equal(deep.path(n - 1, 0), [n - 1, *range(2 * n - 1, n - 1, -1), 0])
    assert deep.rooted(n - 1).root == n - 1
    assert len(np.unique(deep.cut(4))) == 4
    assert deep.canonical() == deep.canonical().canonical()
    assert deep.contracted().n_nodes == deep.n_nodes - 2
    assert len(deep.restrict(np.arange(0, n, 2))) == n // 2
    assert deep.difference(deep.contracted(), path=False).robinson_foulds == 0
