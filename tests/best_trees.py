"""The best tree of a few points for a score, by all topologies and linear programming."""

import itertools
from functools import cache

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

SCORES = ("average_distortion", "l1", "linf", "worst_distortion")


@cache
def path_matrices(n: int) -> tuple[np.ndarray, ...]:
    """For every binary tree on n leaves: which edges (columns) the path of each pair (rows) has.

    A tree is the list of its edges, and an edge is the set of leaves behind it. Trees that are
    not binary are binary trees with lengths of 0.
    """
    trees = [[{0}, {1}, {2}]]
    for leaf in range(3, n):
        trees = [_attached(tree, edge, leaf) for tree in trees for edge in tree]
    pairs = list(itertools.combinations(range(n), 2))
    return tuple(np.array([[float((i in e) != (j in e)) for e in tree] for i, j in pairs]) for tree in trees)


def _attached(tree: list[set[int]], edge: set[int], leaf: int) -> list[set[int]]:
    """Return the tree with a new leaf in the middle of an edge. All sets leave out leaf 0 or are {0}."""
    far = edge if 0 not in edge else set(range(1, leaf))
    # The path from leaf 0 to the edge now also leads to the new leaf.
    grown = [e | {leaf} if 0 not in e and e > far else e for e in tree if e is not edge]
    return [*grown, edge, (far | {leaf}) if edge != {0} else far, {leaf}]


def optimal_scores(tables: np.ndarray, score: str) -> np.ndarray:
    """Return the score of the best tree for every distance matrix of a stack (k, n, n).

    The programs of all matrices and topologies are blocks of one program, which has no other
    constraints.
    """
    n = tables.shape[1]
    matrices = path_matrices(n)
    upper = np.triu_indices(n, 1)
    blocks = [_program(A, d[upper], score) for d in tables for A in matrices]
    costs, left, right = zip(*blocks, strict=True)
    solved = linprog(
        np.concatenate(costs),
        A_ub=sparse.block_diag(left, format="csr"),
        b_ub=np.concatenate(right),
        method="highs",
    )
    assert solved.success, solved.message
    parts = np.split(solved.x, np.cumsum([len(cost) for cost in costs])[:-1])
    values = [cost @ part for cost, part in zip(costs, parts, strict=True)]
    return np.reshape(values, (len(tables), len(matrices))).min(1)


def _program(A: np.ndarray, d: np.ndarray, score: str) -> tuple[np.ndarray, ...]:
    """Return the cost, matrix and limits of: minimize cost x subject to matrix x <= limits, x >= 0."""
    edges = A.shape[1]
    if score in ("average_distortion", "worst_distortion"):
        A, d = A[d > 0], d[d > 0]
    if score == "worst_distortion":  # d <= A t <= s d
        column = d[:, None]
        zero = np.zeros_like(column)
        limits = np.concatenate([-d, np.zeros(len(d))])
        cost = np.append(np.zeros(edges), 1.0)
        return cost, np.block([[-A, zero], [A, -column]]), limits
    if score == "linf":  # |A t - d| <= s
        slack = np.ones((len(d), 1))
        prices = np.ones(1)
    else:  # |A t - d| <= s, with the sum of s or of s / d
        slack = np.eye(len(d))
        prices = (np.ones(len(d)) if score == "l1" else 1 / d) / max(1, len(d))
    cost = np.concatenate([np.zeros(edges), prices])
    return cost, np.block([[A, -slack], [-A, -slack]]), np.concatenate([d, -d])
