"""Hypothesis strategies shared by the tests: metrics of every kind."""

import numpy as np
from hypothesis import strategies as st

from treerep.metric._graph_arrays import refuse_adjacency
from treerep.metric.base import MetricError

SHAPES = ("random", "caterpillar", "path", "star", "binary")


def parents(shape: str, nodes: int, rng: np.random.Generator) -> np.ndarray:
    """Parent of node 1, 2, ... of a tree of the given shape."""
    k = np.arange(1, nodes)
    return {
        "random": lambda: (rng.random(nodes - 1) * k).astype(int),
        "caterpillar": lambda: np.where(k < nodes // 2, k - 1, np.maximum(k - nodes // 2, 0)),
        "path": lambda: k - 1,
        "star": lambda: np.zeros(nodes - 1, int),
        "binary": lambda: (k - 1) // 2,
    }[shape]()


def distances_from_parents(parent: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """All-pairs path lengths of a tree, node by node."""
    n = len(parent) + 1
    d = np.zeros((n, n))
    for k in range(1, n):
        d[k, :k] = d[:k, k] = d[parent[k - 1], :k] + lengths[k - 1]
    return d


@st.composite
def tree_metrics(draw: st.DrawFn, max_nodes: int = 40) -> np.ndarray:
    """Exact tree metrics: any shape, some nodes hidden, any scale, lengths whole or not, in shuffled order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes = draw(st.integers(1, max_nodes))
    parent = parents(draw(st.sampled_from(SHAPES)), nodes, rng)
    lengths = rng.integers(1, 8, nodes - 1) if draw(st.booleans()) else rng.uniform(0.05, 1.0, nodes - 1)
    kept = rng.permutation(nodes)[: draw(st.integers(1, nodes))]
    return distances_from_parents(parent, lengths.astype(float))[np.ix_(kept, kept)]


@st.composite
def integer_metrics(draw: st.DrawFn, max_points: int = 25) -> np.ndarray:
    """Whole-number metrics full of ties: shortest paths of random graphs, or all distances in {1, 2}."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_points))
    if draw(st.booleans()):
        d = rng.integers(1, 3, size=(n, n)).astype(float)
    else:
        d = np.where(rng.random((n, n)) < 0.2, 1.0, 9.0)
        d = np.minimum(d, d.T)
        for k in range(n):
            d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    d = np.triu(d, 1)
    return d + d.T


@st.composite
def any_symmetric(draw: st.DrawFn, max_points: int = 25) -> np.ndarray:
    """Symmetric non-negative matrices, the triangle inequality violated at will, duplicates included.

    Without those that `as_metric` takes for adjacency matrices.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_points))
    d = np.triu(rng.exponential(size=(n, n)) * rng.integers(0, 2, size=(n, n)), 1)
    d = d + d.T
    try:
        refuse_adjacency(d, "")
    except MetricError:
        d += 1 - np.eye(n)
    return d
