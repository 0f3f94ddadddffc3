"""Minimum evolution without a distance matrix, for points, sequences and characters.

The balanced length of a tree follows from averages of distances between subtrees, and these follow from two mean
vectors if distances are bilinear (see `_profile_spaces.py`). AB|CD becomes AC|BD if this makes the tree shorter:

    S(a, c) + S(b, d) < S(a, b) + S(c, d).

1. *Start* with neighbor joining (see `_first_tree.py`).
2. *Exchange* neighboring subtrees while this makes the tree shorter, from the leaves to the top.
3. *Move* each subtree along its best path of at most 16 nodes, and exchange again.

A pass of all exchanges takes O(n) averages and separations of profiles. Later passes visit only the surroundings of the
last changes. The clades of some size are visited in parallel, and the nodes above them at the end. These clades depend
on the tree only, so the result does not depend on the number of threads.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric
from ...metric.oracle.classes import SquaredOracle
from ...tree.structure.rooted import preorder as rooted_preorder
from . import _profile_kernels as kernels
from ._first_tree import first_tree
from ._profile_kernels import Binary, Marks, Rounding
from ._profile_spaces import TASKS, Space, point_tables, profile_space

# Nodes that a subtree passes in one move, at most.
_REACH = 16
# Most passes of exchanges before subtrees move, and most rounds of both.
_PASSES = 60
_ROUNDS = 50
# The exchanges of a round end if at most this share of the points changed, and so do the rounds.
_FEW_EXCHANGES = 1 / 2000
_FEW_MOVES = 1 / 500
# Clades of these shares of the points are tasks of different threads, if there are enough points.
_TASK_SHARES = (1 / 256, 1 / 16)
_POINTS_OF_THREADS = 500
#: Changes that save less than this many roundings of the separations, and of a typical distance, may
#: be due to rounding.
ROUNDINGS = 16


def shortest_tree(
    metric: Metric, workers: Workers, time_limit: float | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the edges of a tree of at least three points, and their balanced lengths.

    Lengths may be negative. The metric must have profiles (`has_profiles`). If the distances are
    those of a tree, this tree is returned, up to 2,000 points: the profiles of sequences are not
    exact. The search ends after `time_limit` seconds, at the end of a pass.
    """
    deadline = np.inf if time_limit is None else time.monotonic() + time_limit
    n = len(metric)
    start, exact = first_tree(metric, workers)
    if exact is not None:
        return start, exact
    space = profile_space(metric)
    points = np.arange(n)
    typical = float(metric.pairs(points, np.roll(points, 1)).mean())
    eps = float(np.finfo(point_tables(space)[0].dtype).eps)
    rounding = Rounding(ROUNDINGS * eps * typical, ROUNDINGS * eps)
    search = ProfileSearch(space, n, start, rounding, workers)
    search.run(deadline)
    edges, lengths = search.edges()
    if isinstance(metric.oracle, SquaredOracle):
        # Noise makes the edge of its point longer, and cancels in all other edges.
        pendant = np.flatnonzero(edges[:, 0] < n)
        lengths[pendant] -= metric.oracle.noise[edges[pendant, 0]]
        lengths[edges[:, 1] == 0] -= metric.oracle.noise[0]
    return edges, lengths


def rows_of_profiles(n: int) -> int:
    """Return the number of profiles of a tree of n points, with a spare one for each task."""
    return 3 * n + TASKS


class ProfileSearch:
    """A binary tree of n >= 3 points, and the profiles of its subtrees.

    `start` contains the edges of a tree. The first n rows of the space are the points. With
    `within`, all changes are inside clades of at most this many points, as seen from point 0, and
    the tree above these clades is kept.
    """

    def __init__(
        self,
        space: Space,
        n: int,
        start: NDArray[np.int64],
        rounding: Rounding,
        workers: Workers,
        within: int | None = None,
    ) -> None:
        nodes = 2 * n - 2
        self.within = within
        self.space = space
        self.n = n
        self.rounding = rounding
        self.workers = workers
        self.tree = Binary(*(np.empty(nodes, np.int64) for _ in range(3)))
        view = rooted_preorder(start, np.zeros(len(start)), 0)
        self.top = int(kernels.make_binary(view.order, view.up, n, self.tree))
        self.marks = Marks(*(np.zeros(nodes, np.bool_) for _ in range(3)))
        self._size = np.ones(nodes, np.int64)
        self._none_closed = np.zeros(nodes, np.bool_)
        for table in point_tables(space):
            table[self.top + n - 2] = table[0]

    def run(self, deadline: float = np.inf) -> None:
        """Exchange and move subtrees until the tree becomes hardly shorter."""
        few = _FEW_MOVES * self.n
        length = self.length()
        self.marks.changed[:] = True
        everywhere = True
        done = False
        with progress_bar(np.inf, "minimum evolution", "changes") as bar:
            for _ in range(_ROUNDS):
                before = [array.copy() for array in self.tree]
                for _ in range(_PASSES):
                    exchanged = self.improve(reach=0)
                    bar.update(exchanged)
                    if exchanged <= _FEW_EXCHANGES * self.n or time.monotonic() > deadline:
                        break
                shorter = self.length()
                if shorter > length:
                    # The clades that are visited in parallel do not see each other's changes, and
                    # the corrections of sequences are not linear.
                    for array, copy in zip(self.tree, before, strict=True):
                        array[:] = copy
                    return
                length = shorter
                if done or time.monotonic() > deadline:
                    return
                self.marks.changed[:] |= everywhere
                moved = self.improve(_REACH)
                bar.update(moved)
                done = everywhere and moved <= few
                everywhere = moved <= few

    def improve(self, reach: int) -> int:
        """Make one pass over the surroundings of the last changes. Return the number of changes.

        Subtrees are exchanged, and moved by at most `reach` nodes.
        """
        tree = self.tree
        marks = self.marks
        order = self._preorder(self._none_closed)
        dirty = np.empty_like(marks.changed)
        kernels.mark_dirty(tree, order, marks.changed, dirty)
        marks.changed[:] = False
        marks.done[:] = ~dirty
        tops = self._clades(order)
        closed = self._none_closed.copy()
        closed[tops] = True
        upper = self._preorder(closed)
        kernels.gather(self.space, tree, upper, closed)
        kernels.hand_down(self.space, tree, upper)

        def visit(task: tuple[int, NDArray[np.int64]]) -> Any:
            return self._visit(task[1], reach, 1 + task[0])

        made = sum(self.workers.map(visit, enumerate(self._tasks(tops[dirty[tops]]))))
        self.workers.check()
        if self.within is not None:
            return int(made)
        # The nodes above the clades, and the edges at their tops.
        below = tops[tree.left[tops] >= 0]
        upper = np.concatenate([upper, tree.left[below], tree.right[below]])
        marks.done[:] = True
        marks.done[upper] = ~dirty[upper]
        return int(made) + int(self._visit(np.array([self.top]), reach, 0))

    def length(self) -> float:
        """Return the sum of the balanced lengths of all edges."""
        return float(self._lengths().sum())

    def edges(self, roots: bool = False) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the edges of the tree, and their balanced lengths, which may be negative.

        With `roots`, the lengths are those of root mean squared distances between subtrees.
        """
        nodes = np.arange(1, len(self.tree.parent))
        upper = np.maximum(self.tree.parent[nodes], 0)  # point 0 is above the top
        return np.column_stack([nodes, upper]), self._lengths(roots)[nodes]

    def _lengths(self, roots: bool = False) -> NDArray[np.float64]:
        """Return the balanced lengths of the edges by lower node, from fresh profiles."""
        order = self._preorder(self._none_closed)
        kernels.gather(self.space, self.tree, order, self._none_closed)
        kernels.hand_down(self.space, self.tree, order)
        spread = np.zeros(3 * self.n - 4 if roots else 0)
        if roots:
            kernels.spreads(self.space, self.tree, order, spread)
        lengths = np.zeros(len(self.tree.left))
        kernels.edge_lengths(self.space, self.tree, order, spread, lengths)
        return lengths

    def _visit(self, roots: NDArray[np.int64], reach: int, task: int) -> Any:
        spare = 3 * self.n - 4 + task  # the first rows are profiles
        return kernels.improve_clades(self.space, self.tree, self.marks, roots, reach, self.rounding, spare)

    def _preorder(self, closed: NDArray[np.bool_]) -> NDArray[np.int64]:
        out = np.empty(len(closed), np.int64)
        count = kernels.preorder(self.tree, self.top, closed, out, np.empty_like(out))
        return out[:count]

    def _tasks(self, tops: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the clades of each task: groups of about the same number of points."""
        if len(tops) == 0:
            return []
        before = np.cumsum(self._size[tops]) - self._size[tops]
        group = before * (TASKS - 1) // self.n
        return np.split(tops, np.flatnonzero(np.diff(group)) + 1)

    def _clades(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tops of disjoint clades, of similar sizes unless their size is restricted."""
        if self.within is not None:
            fewest, most = 2.0, float(self.within)
        elif self.n < _POINTS_OF_THREADS:
            return order[:0]
        else:
            fewest, most = (share * self.n for share in _TASK_SHARES)
        kernels.count_leaves(self.tree, order, self._size)
        size = self._size[order]
        upper = np.where(order == self.top, self.n, self._size[self.tree.parent[order]])
        return order[(size > fewest) & (size <= most) & (upper > most)]
