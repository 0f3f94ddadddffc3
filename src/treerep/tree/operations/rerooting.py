"""Roots in the middle of the longest path, or next to an outgroup."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..comparison.support import edges_of_split

if TYPE_CHECKING:
    from ..tree import Tree

# a node this close to the midpoint, in units of the longest path, is the midpoint
_SAME = 1e-12


def midpoint_root(tree: "Tree") -> tuple["Tree", int]:
    """Return the tree and the node in the middle of its longest path: see `Tree`. O(N).

    The point farthest from any point is an end of a longest path (Handler, Transp. Sci. 7,
    1973).
    """
    points = np.arange(tree.n_points)
    start = int(tree.block([0], points)[0].argmax())
    far = tree.block([start], points)[0]
    total = float(far.max())
    if total == 0:
        return tree, tree._default_root()
    path = tree.path(start, int(far.argmax()))
    along = tree.block([start], path)[0]
    at = path[np.abs(along - total / 2) <= _SAME * total]
    if len(at):
        return tree, int(at.max())  # prefers a Steiner node
    k = int(np.searchsorted(along, total / 2))
    return _split_edge(tree, int(path[k - 1]), int(path[k]), total / 2 - float(along[k - 1]))


def outgroup_root(tree: "Tree", points: int | str | Iterable[int | str]) -> tuple["Tree", int]:
    """Return the tree and a node on the edge that separates the given points: see `Tree`. O(N)."""
    if isinstance(points, str) or not isinstance(points, Iterable):
        points = [points]
    chosen = np.unique(tree._points(points))
    if not 0 < len(chosen) < len(tree):
        raise ValueError(
            f"an outgroup must contain some of the points, but not all: got {len(chosen)} of {len(tree)}"
        )
    found = edges_of_split(tree, chosen)
    if len(found) == 0:
        raise ValueError(
            f"no edge separates these {len(chosen)} points from the others: choose an "
            "outgroup that is a branch of the tree"
        )
    nodes, count = np.unique(tree.edges[found], return_counts=True)
    if len(found) > 1:  # any node of a chain of Steiner nodes can be the root
        return tree, int(nodes[count.argmax()])
    return _split_edge(tree, int(nodes[0]), int(nodes[1]), float(tree.weights[found[0]]) / 2)


def _split_edge(tree: "Tree", u: int, v: int, length: float) -> tuple["Tree", int]:
    """Insert a Steiner node into the edge from u to v, at distance `length` from u."""
    e = int(np.flatnonzero((np.sort(tree.edges, axis=1) == sorted((u, v))).all(axis=1))[0])
    new = tree.n_nodes
    edges = np.concatenate([tree.edges, [[new, v]]])
    edges[e] = u, new
    whole = float(tree.weights[e])
    near = min(max(length, 0.0), whole)
    weights = np.append(tree.weights, whole - near)
    weights[e] = near
    support = None if tree.support is None else np.append(tree.support, tree.support[e])
    notes = tree._annotations
    if notes.support_text is not None:
        texts = *notes.support_text, notes.support_text[e]
        notes = notes._replace(support_text=texts)
    arrays = {"edges": edges, "weights": weights, "support": support}
    return tree._replace(**arrays, _annotations=notes), new


def joined_edges(
    edges: NDArray[np.int64], weights: NDArray[np.float64], node: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Join the two edges at a node.

    Returns edges, lengths, the new number of each node, and the former number of each edge.

    >>> joined_edges(np.array([[0, 2], [2, 1]]), np.array([1.0, 2.0]), 2)[:2]
    (array([[0, 1]]), array([3.]))
    """
    first, second = np.flatnonzero((edges == node).any(axis=1))
    ends = edges[[first, second]]
    joined = edges.copy()
    joined[first] = ends[ends != node]
    lengths = weights.copy()
    lengths[first] += weights[second]
    nodes = np.arange(len(edges) + 1)
    nodes[node + 1 :] -= 1
    kept = np.delete(np.arange(len(edges)), second)
    return nodes[joined[kept]], lengths[kept], nodes, kept
