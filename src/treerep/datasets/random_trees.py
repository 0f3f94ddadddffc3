"""Random weighted trees.

A Tree is a Metric, so random trees are also the tree metrics that fitting must recover exactly.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .._core.checks import positive_number
from .._core.typing import RNGLike
from ..tree.tree import Tree

Edges = NDArray[np.int64]


def random_tree(
    n_points: int,
    *,
    shape: str = "random",
    hidden: float = 0.0,
    weights: tuple[float, float] = (0.1, 1.0),
    rng: RNGLike = 0,
) -> Tree:
    """Draw a random tree with n_points data points, numbered at random.

    Every Steiner node has at least three neighbors, so the distances of the points determine
    the tree.

    Parameters
    ----------
    n_points : int
        Number of data points.
    shape : str
        - "random": each point is joined to a random earlier point (depth about log n);
        - "path": all points in a row;
        - "star": all points around one of them;
        - "caterpillar": points attached to a row of Steiner nodes;
        - "binary": the points are the leaves of a random binary tree. Every leaf is equally
          likely to split next (Yule's model of evolution).
    hidden : float
        Probability that a data point at an internal node moves to a new leaf beside it. A
        Steiner node takes its place. With 1, every point is a leaf.
    weights : (low, high)
        Edge lengths are uniform in this range. Equal bounds make all lengths equal.
    rng : int, numpy Generator or None
        Seed of the random choices.

    Returns
    -------
    Tree
        The random tree.

    See Also
    --------
    datasets.random_tree_metric : Draw a tree as in the TreeRep paper.
    datasets.branching_cells : Simulate cells along a tree.

    Notes
    -----
    O(n log n) time and O(n) memory. Tree distances are exact sums of edge lengths. The same
    seed gives the same tree.

    Examples
    --------
    >>> tree = random_tree(6, shape="binary")
    >>> len(tree), tree.n_nodes
    (6, 10)
    """
    n_points = positive_number(n_points, "n_points")
    if shape not in _SHAPES:
        raise ValueError(f"unknown shape {shape!r}: choose one of {', '.join(_SHAPES)}")
    if not 0 <= hidden <= 1:
        raise ValueError(f"hidden must be a probability between 0 and 1, got {hidden}")
    low, high = weights
    if not 0 <= low <= high < np.inf:
        raise ValueError(
            f"weights must be a range (low, high) of lengths with 0 <= low <= high, got {weights}"
        )
    generator = np.random.default_rng(rng)
    edges = _SHAPES[shape](n_points, generator)
    edges = _hide(edges, n_points, 1.0 if shape == "caterpillar" else hidden, generator)
    names = np.arange(len(edges) + 1)
    names[:n_points] = generator.permutation(n_points)
    return Tree(n_points, names[edges], generator.uniform(low, high, len(edges)))


def random_tree_metric(depth: int, *, rng: RNGLike = 0) -> Tree:
    """Draw a random tree as in the TreeRep paper. Every node is a data point.

    Two complete binary trees of `depth` levels are joined at their roots. Each node is replaced
    by a clique of 2 to 10 nodes, and each edge joins random members of two cliques. The result
    is a breadth-first tree from a random node. An edge length is the sum of two uniform numbers
    from [0, 1].

    Parameters
    ----------
    depth : int
        Number of levels. The tree has about 12 (2^depth - 1) points. Depths 1 to 7 give the
        paper's sizes, 11 to 1611.
    rng : int, numpy Generator or None
        Seed of the random choices.

    Returns
    -------
    Tree
        The random tree.

    See Also
    --------
    datasets.random_tree : Draw a random tree of another shape.
    datasets.hyperbolic_points : Draw points of hyperbolic space.

    Notes
    -----
    O(n) time and memory. Sonthalia and Gilbert (NeurIPS 2020).

    Examples
    --------
    >>> tree = random_tree_metric(3)
    >>> len(tree) == tree.n_nodes
    True
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    joined = _double_binary_tree(positive_number(depth, "depth"))
    generator = np.random.default_rng(rng)
    sizes = generator.integers(2, 11, size=len(joined) + 1)
    starts = np.cumsum(sizes) - sizes
    links = starts[joined] + generator.integers(0, sizes[joined])
    edges = np.concatenate([links, _cliques(starts, sizes)])
    n = int(sizes.sum())
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    order, parent = breadth_first_order(graph, int(generator.integers(n)), directed=False)
    child = order[1:]
    return Tree(
        n,
        np.column_stack([parent[child], child]),
        generator.random(n - 1) + generator.random(n - 1),
    )


def _tie(parents: NDArray[np.int64]) -> Edges:
    """Return the edges of the tree in which node k + 1 is connected to parents[k]."""
    return np.column_stack([parents, np.arange(1, len(parents) + 1)])


def _recursive(n: int, generator: np.random.Generator) -> Edges:
    return _tie(generator.integers(0, np.arange(1, n)))


def _path(n: int, _: np.random.Generator) -> Edges:
    return _tie(np.arange(n - 1))


def _star(n: int, _: np.random.Generator) -> Edges:
    return _tie(np.zeros(n - 1, dtype=np.int64))


def _yule(n: int, generator: np.random.Generator) -> Edges:
    """Return the edges of a random binary tree with leaves 0 ... n-1.

    Leaf k >= 2 is created by splitting leaf p(k) at a new internal node s(k). The lineage of
    leaf p therefore runs from s(p) through the s(k) with p(k) = p, oldest first, to p itself.
    Sorting by (lineage, age) gives all edges at once.
    """
    if n < 3:
        return _path(n, generator)
    born = np.arange(2, n)
    splits = n + born - 2
    parent = generator.integers(0, born)
    leaves = np.arange(n)
    line = np.concatenate([parent, born, leaves])
    age = np.concatenate([born, born, np.full(n, n)])
    node = np.concatenate([splits, splits, leaves])
    order = np.lexsort((age, line))
    line = line[order]
    node = node[order]
    inside = np.flatnonzero(line[1:] == line[:-1])
    edges = np.column_stack([node[inside], node[inside + 1]])
    # The two oldest lineages, of leaves 0 and 1, meet in an edge rather than in a root of
    # degree 2.
    oldest = node[np.searchsorted(line, [0, 1])]
    return np.concatenate([edges, oldest[None, :]])


_SHAPES: dict[str, Callable[[int, np.random.Generator], Edges]] = {
    "random": _recursive,
    "path": _path,
    "star": _star,
    "caterpillar": _path,  # a path whose internal points are all hidden
    "binary": _yule,
}


def _hide(edges: Edges, n_points: int, probability: float, generator: np.random.Generator) -> Edges:
    """Replace some internal points by Steiner nodes, and attach the points to these nodes."""
    n_nodes = len(edges) + 1
    degree = np.bincount(edges.ravel(), minlength=n_nodes)[:n_points]
    inner = np.flatnonzero(degree > 1)
    moved = inner[generator.random(len(inner)) < probability]
    place = np.arange(n_nodes)
    place[moved] = n_nodes + np.arange(len(moved))
    return np.concatenate([place[edges], np.column_stack([moved, place[moved]])])


def _double_binary_tree(levels: int) -> Edges:
    """Return the edges of two complete binary trees, joined at their roots."""
    half = 2**levels - 1
    one = _tie((np.arange(1, half) - 1) // 2)
    return np.concatenate([one, one + half, [[0, half]]])


def _cliques(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Edges:
    """Return the edges of complete graphs on starts[c] ... starts[c] + sizes[c] - 1."""
    parts = []
    for size in np.unique(sizes):
        pairs = np.column_stack(np.triu_indices(size, 1))
        parts.append((starts[sizes == size][:, None, None] + pairs).reshape(-1, 2))
    return np.concatenate(parts)
