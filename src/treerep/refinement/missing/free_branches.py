"""Points that may lie on a branch to which none of their distances was measured.

Let x and y be siblings whose distance is missing. All other distances place x at the node from
which the edge of y begins. With noise, x ends up slightly beside this node, on the wrong edge. The
branch of y is a free branch for x: every place on it fits the distances of x as well as the node.
A point is unlikely to begin exactly at a node, so x moves halfway along the branch, unless its
distances clearly speak against the node.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...fitting._distances import dense_matrix
from ...metric.base import Metric
from ...tree.tree import Tree
from ..moves.search import binary_edges

# A point moves if the errors at the node exceed those at its place by less than this multiple of
# their variance. On most simulated alignments, 1, 16 and 64 gave more wrong splits.
_DEVIATION = 4.0
# All distances below this fraction of the largest have the same weight.
_NEAREST = 1e-3


class _Start(NamedTuple):
    """A node at which free branches of a point begin."""

    error: float  # weighted squared error of the point at the node
    node: int
    branch: int  # the other end of the first edge of a free branch
    pendant: float  # distance of the point from the node


def use_free_branches(tree: Tree, metric: Metric) -> Tree:
    """Move points near a node with a free branch halfway along this branch.

    Squared errors are divided by d^2. O(n^2) time.
    """
    search = _Search(tree, metric)
    for x in range(len(tree)):
        search.move(x)
    edges = [(a, b) for a, ends in search.ends.items() for b in ends if a < b]
    lengths = [search.ends[a][b] for a, b in edges]
    moved = Tree(
        len(tree),
        np.array(edges),
        np.array(lengths),
        labels=tree.labels,
    )
    return moved.contracted()


class _Search:
    """A binary tree with all points at leaves, as the lengths of the edges at every node."""

    def __init__(self, tree: Tree, metric: Metric) -> None:
        self.n = n = len(tree)
        self.distances = dense_matrix(metric, "missing")
        self.measured = ~np.isnan(self.distances)
        np.fill_diagonal(self.measured, False)
        known = np.where(self.measured, self.distances, 1.0)
        nearest = _NEAREST * float(np.nanmax(self.distances))
        self.weight = np.where(self.measured, np.maximum(known, nearest) ** -2.0, 0.0)
        errors = np.where(self.measured, known - tree.distances(), 0.0)
        # Every edge of a binary tree is one parameter.
        freedom = max(int(self.measured.sum()) // 2 - (2 * n - 3), 1)
        self.variance = float((self.weight * errors**2).sum()) / 2 / freedom
        self.ends: dict[int, dict[int, float]] = {}
        edges, lengths = binary_edges(tree.contracted())
        for (a, b), length in zip(edges.tolist(), lengths.tolist(), strict=True):
            self._connect(a, b, length)

    def _connect(self, a: int, b: int, length: float) -> None:
        self.ends.setdefault(a, {})[b] = length
        self.ends.setdefault(b, {})[a] = length

    def _disconnect(self, a: int, b: int) -> float:
        del self.ends[b][a]
        return self.ends[a].pop(b)

    def move(self, x: int) -> None:
        """Move a point if a free branch begins at a node next to its own node."""
        (own,) = self.ends[x]
        starts = [start for u in self.ends[own] for start in self._starts(x, own, u)]
        if not starts:
            return
        best = min(starts)
        here, _ = self._fit(x, own)
        if best.error - here > _DEVIATION * self.variance:
            return
        (other,) = (u for u in self.ends[own] if u not in (x, best.node))
        length = self._disconnect(own, best.node) + self._disconnect(own, other)
        self._connect(best.node, other, length)
        stem = self._disconnect(best.node, best.branch)
        depth = min(stem, best.pendant) / 2
        self._connect(own, x, best.pendant - depth)
        self._connect(own, best.node, depth)
        self._connect(own, best.branch, stem - depth)

    def _starts(self, x: int, own: int, node: int) -> list[_Start]:
        """List the free branches of x at a node next to its own node."""
        if node < self.n:
            return []
        free = [
            branch
            for branch in self.ends[node]
            if branch != own and not self.measured[x, self._points(branch, node)].any()
        ]
        if not free:
            return []
        error, pendant = self._fit(x, node)
        return [_Start(error, node, branch, pendant) for branch in free]

    def _fit(self, x: int, node: int) -> tuple[float, float]:
        """Return the error of x and its distance from a node if x begins there."""
        from_node = np.zeros(self.n)
        for point, distance in self._walk(node, x):
            from_node[point] = distance
        weight = self.weight[x]
        excess = np.where(self.measured[x], self.distances[x] - from_node, 0.0)
        pendant = max(float(weight @ excess / weight.sum()), 0.0)
        return float(weight @ (excess - pendant) ** 2), pendant

    def _points(self, start: int, before: int) -> NDArray[np.int64]:
        """Return the points behind the edge from `before` to `start`."""
        return np.array([point for point, _ in self._walk(start, before)], np.int64)

    def _walk(self, start: int, before: int) -> list[tuple[int, float]]:
        """Return the points that a walk from `start` reaches without `before`, with distances."""
        found = []
        stack = [(start, before, 0.0)]
        while stack:
            here, last, distance = stack.pop()
            if here < self.n:
                found.append((here, distance))
            for other, length in self.ends[here].items():
                if other not in (last, before):
                    stack.append((other, here, distance + length))
        return found
