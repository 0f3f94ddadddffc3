"""Edge lengths by the heuristic of the paper: a fixed number of small gradient steps on random pairs."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

import treerep as tr

#: The step and the number of steps in the paper.
RATE = 1e-4
STEPS = 200


def with_heuristic_lengths(tree: tr.Tree, metric: tr.Metric, rng: int = 0) -> tr.Tree:
    """Return the tree with lengths of a smaller squared error on n random pairs of n points.

    The tree itself is returned if the steps are too large for these distances.
    """
    generator = np.random.default_rng(rng)
    n = len(tree)
    i = generator.integers(n, size=n)
    j = (i + generator.integers(1, n, size=n)) % n
    paths = path_matrix(tree, i, j)
    back = paths.T.tocsr()
    truth = metric.pairs(i, j)
    length = tree.weights
    for _ in range(STEPS):
        # d/dw |A w - d|^2 = 2 A^T (A w - d)
        length = np.maximum(0.0, length - RATE * 2 * (back @ (paths @ length - truth)))
    before, after = (np.square(paths @ w - truth).sum() for w in (tree.weights, length))
    return tree.with_weights(length) if after < before else tree


def path_matrix(tree: tr.Tree, i: np.ndarray, j: np.ndarray) -> csr_array:
    """Return a row for each pair of nodes, with 1 in the columns of the edges between them."""
    count = tree.n_nodes
    # Numbers of edges from 1 on, because a stored zero is not an edge.
    numbers = np.arange(1, len(tree.edges) + 1)
    graph = csr_array((numbers, tree.edges.T), (count, count))
    graph = graph + graph.T
    order, parent = breadth_first_order(graph, 0, directed=False)
    to_root: list[list[int]] = [[]] * count
    for node in order[1:].tolist():
        up = int(parent[node])
        to_root[node] = [*to_root[up], int(graph[up, node]) - 1]
    sizes = np.cumsum([0, *map(len, to_root)])
    columns = np.array([edge for path in to_root for edge in path], np.int64)
    rooted = csr_array((np.ones(len(columns)), columns, sizes), (count, len(tree.edges)))
    # Edges above both ends cancel.
    paths = abs(rooted[i] - rooted[j])
    paths.eliminate_zeros()
    return paths
