"""Splits as DendroPy counts them, with edges of length 0 as written or collapsed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treerep import Tree, consensus
from treerep.tree.comparison.splits import inner_splits

from ..strategies import naive_splits, trees

dendropy = pytest.importorskip("dendropy")
treecompare = pytest.importorskip("dendropy.calculate.treecompare")
SEEDS = st.integers(0, 2**32 - 1)


def read(trees: list[Tree], zero_edges: bool) -> list[Any]:
    """Read trees with DendroPy. Collapse inner edges of length 0 unless they count."""
    text = "\n".join(tree.newick() for tree in trees)
    found = dendropy.TreeList.get(data=text, schema="newick", rooting="force-unrooted")
    for tree in found:
        for node in tree.postorder_internal_node_iter(exclude_seed_node=True):
            if node.edge.length == 0 and not zero_edges:
                node.edge.collapse()
        tree.encode_bipartitions()
    return found


def masks(tree: Any) -> set[int]:
    """Return the splits of at least two points on both sides."""
    return {split.split_bitmask for split in tree.bipartition_encoding if not split.is_trivial()}


def some_trees(first: Tree, count: int, seed: int) -> list[Tree]:
    """Return trees that share some splits, and have some edges of length 0."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        number = np.arange(first.n_nodes)
        some = rng.permutation(first.n_points)[: rng.integers(0, 4)]
        number[some] = rng.permutation(some)
        weights = np.where(rng.random(len(first.edges)) < 0.3, 0.0, first.weights)
        found.append(Tree(first.n_points, number[first.edges], weights))
    return found


@settings(max_examples=60, deadline=None)
@given(trees(max_nodes=25, min_points=4, leaves=True), SEEDS, st.booleans())
def test_differences_and_counts(tree: Tree, seed: int, zero_edges: bool) -> None:
    # DendroPy reads points inside the tree as leaves with edges of length 0.
    pair = [each.with_leaves() for each in some_trees(tree, 2, seed)]
    first, second = read(pair, zero_edges)
    count = treecompare.symmetric_difference(first, second)
    found = pair[0].difference(pair[1], path=False, zero_edges=zero_edges)
    assert found.robinson_foulds == count == len(masks(first) ^ masks(second))
    total = len(masks(first)) + len(masks(second))
    assert found.normalized == (count / total if total else 0.0)
    assert [len(inner_splits(each, zero_edges).keys) for each in pair] == [
        len(masks(each)) for each in (first, second)
    ]


@settings(max_examples=40, deadline=None)
@given(trees(max_nodes=20, min_points=4, leaves=True), SEEDS, st.booleans())
def test_support_and_consensus(tree: Tree, seed: int, zero_edges: bool) -> None:
    several = [each.with_leaves() for each in some_trees(tree, 4, seed)]
    theirs = read(several, zero_edges)
    expected = sorted(sum(mask in masks(other) for other in theirs) / 4 for mask in masks(theirs[0]))
    supported = several[0].with_support(several, zero_edges=zero_edges)
    assert supported.support is not None
    # Edges in a line have the same split: count each split once.
    values = {
        key.tobytes(): share
        for key, share in zip(edge_keys(supported), supported.support, strict=True)
        if not np.isnan(share)
    }
    assert sorted(values.values()) == expected
    strict = consensus(several, method="strict", zero_edges=zero_edges)
    shared = set.intersection(*(masks(other) for other in theirs))
    assert len(inner_splits(strict, zero_edges).keys) == len(shared)


def edge_keys(tree: Tree) -> np.ndarray:
    """Return a key of the division of each edge: the points nearer to its first end."""
    graph = tree.with_weights(np.ones(len(tree.edges)))
    near = graph.block(tree.edges[:, 0], range(len(tree)))
    sides = near < graph.block(tree.edges[:, 1], range(len(tree)))
    return sides ^ sides[:, :1]


@given(trees(max_nodes=25), st.booleans())
def test_lengths_and_counts(tree: Tree, zero_edges: bool) -> None:
    found = inner_splits(tree, zero_edges)
    expected = {
        (len(side), round(length, 9))
        for side, length in naive_splits(tree).items()
        if 2 <= len(side) <= len(tree) - 2 and (zero_edges or length > 0)
    }
    assert {
        (count, round(length, 9))
        for count, length in zip(found.counts.tolist(), found.lengths.tolist(), strict=True)
    } == expected
