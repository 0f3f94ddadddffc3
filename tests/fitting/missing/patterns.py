"""Tree metrics with missing distances, shared by the tests."""

import numpy as np

from treerep.tree.tree import Tree


def random_binary_tree(n: int, rng: np.random.Generator) -> Tree:
    """A binary tree with all points at leaves: every point splits a random edge."""
    edges = [(0, n), (1, n), (2, n)]
    for point in range(3, n):
        at = int(rng.integers(len(edges)))
        a, b = edges[at]
        node = n + point - 2
        edges[at] = (a, node)
        edges += [(node, b), (point, node)]
    return Tree(n, np.array(edges), rng.uniform(0.1, 1.0, len(edges)))


def without_pairs(distances: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray | None:
    """Distances without a share of the pairs, or None if the others do not connect all points."""
    n = len(distances)
    missing = np.triu(rng.random((n, n)) < share, 1)
    square = np.where(missing | missing.T, np.nan, distances)
    reached = ~np.isnan(square)
    for _ in range(n):
        reached = reached @ reached
    return square if reached.all() else None


def determining(distances: np.ndarray, tree: Tree, rng: np.random.Generator) -> np.ndarray:
    """Distances without half of the pairs, so that the others determine every edge length.

    At every inner node, one pair is measured between each two of its branches.
    """
    n = len(distances)
    measured = np.triu(rng.random((n, n)) < 0.5, 1)
    measured |= measured.T
    ends = [tuple(edge) for edge in tree.edges.tolist()]
    for node in range(n, tree.n_nodes):
        branches = [_leaves(ends, n, node, other) for other in _neighbors(ends, node)]
        for k, one in enumerate(branches):
            for two in branches[:k]:
                if not measured[np.ix_(one, two)].any():
                    i = rng.choice(one)
                    j = rng.choice(two)
                    measured[i, j] = measured[j, i] = True
    np.fill_diagonal(measured, True)
    return np.where(measured, distances, np.nan)


def _neighbors(ends: list[tuple[int, int]], node: int) -> list[int]:
    return [b if a == node else a for a, b in ends if node in (a, b)]


def _leaves(ends: list[tuple[int, int]], n: int, node: int, start: int) -> list[int]:
    """The points behind the edge from `node` to `start`."""
    found = []
    stack = [(start, node)]
    while stack:
        here, before = stack.pop()
        if here < n:
            found.append(here)
        stack += [(other, here) for other in _neighbors(ends, here) if other != before]
    return found
