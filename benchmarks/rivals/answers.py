"""Validation and scores of results. Invalid results raise `Wrong` with a one-line reason."""

from typing import Any, NamedTuple

import numpy as np

import treerep as tr

from .newick import read_newick
from .problems import Problem


class Wrong(Exception):  # noqa: N818 (a verdict, not an error)
    """An invalid result."""


class Edges(NamedTuple):
    """A tree as returned by any library: points are 0 ... n-1, other nodes have other numbers."""

    ends: np.ndarray  # (m, 2)
    lengths: np.ndarray  # (m,)


def of_newick(text: str, problem: Problem) -> Edges:
    """Read a tree whose leaves are named p0, p1, ..."""
    try:
        names, above, lengths = read_newick(text)
    except ValueError as error:
        raise Wrong(f"its Newick cannot be read: {error}") from None
    inner = np.zeros(len(names), bool)
    inner[above] = True
    leaves = [name for name, skip in zip(names, inner.tolist(), strict=True) if not skip]
    if sorted(leaves) != sorted(f"p{i}" for i in range(problem.n)):
        raise Wrong(f"its tree has {len(leaves)} leaves, which are not the {problem.n} points")
    numbers = np.empty(len(names), np.int64)
    numbers[~inner] = [int(name[1:]) for name in leaves]
    numbers[inner] = problem.n + np.arange(np.count_nonzero(inner))
    return Edges(np.column_stack([numbers[above], numbers[1:]]), lengths)


def of_joins(joins: np.ndarray, problem: Problem) -> Edges:
    """Read rows of (left, right, length to left, length to right), where row k creates node n + k."""
    made = problem.n + np.repeat(np.arange(len(joins)), 2)
    below = joins[:, :2].astype(np.int64).ravel()
    return Edges(np.column_stack([made, below]), joins[:, 2:4].astype(np.float64).ravel())


def checked_tree(found: Edges, n: int) -> tuple[tr.Tree, int]:
    """Return the tree and the number of negative lengths, which become 0; raise Wrong if invalid."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends, lengths = np.asarray(found.ends), np.asarray(found.lengths, np.float64)
    nodes, numbers = np.unique(ends, return_inverse=True)
    numbers = numbers.reshape(ends.shape)
    if len(nodes) < n or not np.array_equal(nodes[:n], np.arange(n)):
        raise Wrong(f"not all of the {n} points are in it")
    if len(ends) != len(nodes) - 1:
        raise Wrong(f"{len(nodes)} nodes and {len(ends)} edges: not a tree")
    graph = coo_array((np.ones(len(ends)), numbers.T), shape=(len(nodes),) * 2)
    parts = connected_components(graph, directed=False, return_labels=False)
    if parts != 1:
        raise Wrong(f"{parts} parts that are not connected: not a tree")
    if not np.isfinite(lengths).all():
        raise Wrong(f"{np.count_nonzero(~np.isfinite(lengths))} lengths are not finite")
    return tr.Tree(n, numbers, np.maximum(lengths, 0)), int(np.count_nonzero(lengths < 0))


def score_tree(answer: Edges, problem: Problem) -> dict[str, Any]:
    tree, negative = checked_tree(answer, problem.n)
    return {**_distances_kept(tree, problem), "nodes": tree.n_nodes, "negative": negative}


def score_embedding(answer: tr.Metric, problem: Problem) -> dict[str, Any]:
    if len(answer) != problem.n:
        raise Wrong(f"{len(answer)} points of {problem.n}")
    return _distances_kept(answer, problem)


def _distances_kept(found: tr.Metric, problem: Problem) -> dict[str, Any]:
    truth = tr.MatrixMetric(problem.matrix())
    scores = {
        "distortion": float(tr.average_distortion(found, truth)),
        "scaled": float(tr.average_distortion(found, truth, scale="optimal")),
    }
    if problem.edges() is not None:
        scores["map"] = float(tr.mean_average_precision(found, problem.graph()))
    return scores


def score_delta(answer: float, problem: Problem) -> dict[str, Any]:  # noqa: ARG001
    if not (np.isfinite(answer) and answer >= 0):
        raise Wrong(f"delta is not {answer}")
    return {"delta": float(answer)}


def score_paths(answer: np.ndarray, problem: Problem) -> dict[str, Any]:
    truth = problem.matrix()
    if np.shape(answer) != truth.shape:
        raise Wrong(f"a table of shape {np.shape(answer)} for {problem.n} points")
    differ = int(np.count_nonzero(np.asarray(answer) != truth))
    if differ:
        raise Wrong(f"{differ} distances are not those of the graph")
    return {}


SCORES = {
    "tree": score_tree,
    "delta": score_delta,
    "paths": score_paths,
    "embedding": score_embedding,
}
