"""Subtree pruning and regrafting (SPR) for balanced minimum evolution.

A subtree is cut off and put onto another edge. Nearest neighbor interchange is the special case
of an edge that is one step away. With averages of pairs of subtrees, the evaluation of one move is
O(1) (Hordijk and Gascuel, Bioinformatics 21, 2005), so all O(n^2) moves take O(n^2) time.

FastME (Lefort, Desper and Gascuel, Mol. Biol. Evol. 32, 2015) makes the best of all moves and then
evaluates all moves again. Here, one batch contains the best move, the best of the moves whose ends
are far from its ends, and so on. Paths may cross: the effect of one move on the gain of another
falls with the number of edges between their ends. In the trees of graphs, most paths pass a few
hubs, and batches without crossing paths would contain few moves. Only subtrees that had a move,
or that are near a path, are evaluated again. When none of them can move, all subtrees are
evaluated again, until no move makes the tree shorter.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from . import _regraft_kernels as kernels
from ._sides_kernels import Sides, read_tree, write_tree

# Moves that save less than this fraction of the largest distance may be due to rounding.
_LEAST_SAVING = 1e-12
# Numbers that are read between two checks for interrupts: about 0.1 s.
_BUDGET = 10_000_000
# Least and most steps between the ends of two moves in one batch.
_LEAST_APART = 1
_MOST_APART = 4
# A batch whose moves interfere is taken back if it saves less than this share of the gains.
_LEAST_SHARE = 0.5
# Subtrees of these shares of the points are tasks of different threads.
_TASK_SHARES = (1 / 256, 1 / 16)
# Evaluating a subtree takes about as long as computing this many rows.
_SEEKS_OF_VISIT = 8
# With fewer points, one thread is faster.
_POINTS_OF_THREADS = 500


def regraft(
    start: NDArray[np.int64], matrix: NDArray[np.float64], workers: Workers
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Move subtrees to other edges until no move makes the tree shorter; return edges and lengths.

    `start` has the edges of a binary tree whose leaves are the points. New nodes of the result are
    numbered from n on. Lengths may be negative.
    """
    search = Regrafting(start, matrix, workers)
    least = _LEAST_SAVING * float(matrix.max())
    with progress_bar(np.inf, "minimum evolution: regraft", "moves") as bar:
        while search.evaluate(least):
            made = search.improve()
            bar.update(made)
            while made and search.evaluate(least, everywhere=False):
                made = search.improve()
                bar.update(made)
            if not made:  # the gains were rounding errors
                break
    return search.edges(), search.lengths()


class Regrafting:
    """A tree of at least three points, and the moves that make it shorter."""

    def __init__(self, start: NDArray[np.int64], matrix: NDArray[np.float64], workers: Workers) -> None:
        self.matrix = matrix
        self.workers = workers
        n = len(matrix)
        edges = 2 * n - 3
        self.sides = Sides(
            child=np.full((2 * edges, 2), -1),
            point=np.full(2 * edges, -1),
            size=np.ones(2 * edges, np.int64),
            pair=np.zeros(2 * edges),
        )
        read_tree(start, self.sides)
        self.layout = kernels.Layout(
            right=np.empty(edges, np.int32),
            above=np.empty(edges, np.int32),
            beside=np.empty(edges, np.int32),
            size=np.empty(edges, np.int32),
            rank=np.empty(edges, np.int32),
            first=np.empty(edges, np.int64),
            leaf=np.empty(n, np.int32),
            leaves=np.empty(n - 1, np.int32),
            inner=np.empty(n - 2, np.int32),
            second=np.empty(n - 2, np.int32),
        )
        self.averages = kernels.Averages(
            pair=self.sides.pair,
            drop=np.zeros(edges),
            across=np.empty(edges),
            outer=np.empty(0),
            wanted=np.ones(2 * edges, np.bool_),
            place=np.full(2 * edges, -1),
            gain=np.empty(2 * edges),
            kept=np.empty((0, 2, edges)),
            slot=np.full(edges, -1),
        )
        self._apart = _LEAST_APART
        self._step = max(1, _BUDGET // edges)
        self._scans: list[kernels.Scan] = []
        self.update()

    def update(self) -> None:
        """Compute all averages again, after a change of the tree."""
        self._renumber()
        self._lay_out()
        self._choose_kept()
        self.sides.pair[:] = 0.0
        self._visit(0.0, seek=False)

    def edges(self) -> NDArray[np.int64]:
        """Return the edges. New nodes are numbered from n on."""
        edges = np.empty((len(self.layout.right), 2), np.int64)
        write_tree(self.sides, edges)
        return edges

    def length(self) -> float:
        """Return the length of the tree."""
        return float(self.lengths().sum())

    def lengths(self) -> NDArray[np.float64]:
        """Return the lengths of all edges, which may be negative."""
        # An edge between the sides AB and CD: (AC + AD + BC + BD) / 4 - (AB + CD) / 2.
        pair = self.sides.pair
        lengths: NDArray[np.float64] = self.averages.across - 0.5 * (pair[::2] + pair[1::2])
        return lengths

    def evaluate(self, least: float, everywhere: bool = True) -> bool:
        """Find the best moves that save more than `least`; tell whether there are any.

        By default, all subtrees are evaluated. Otherwise, only those that had a move and those near
        the last moves are evaluated.
        """
        self.averages.wanted[:] |= everywhere
        self.averages.place[:] = -1
        if everywhere or not len(self.averages.kept):
            self._visit(least, seek=True)
        else:
            self._seek_kept(least)
        return bool((self.averages.place >= 0).any())

    def improve(self) -> int:
        """Make a batch of moves that shortens the tree; return the number of moves."""
        arrays = (self.sides.child, self.sides.point, self.sides.size)
        before = [array.copy() for array in arrays]
        length = self.length()
        made, gain = self._move(len(self.layout.right))
        while made:
            self.update()
            saved = length - self.length()
            if saved >= _LEAST_SHARE * gain:
                return made
            # Gains change a little with any other move, most of all with moves nearby.
            self._apart = min(self._apart + 1, _MOST_APART)
            for array, copy in zip(arrays, before, strict=True):
                array[:] = copy
            self._lay_out()
            made, gain = self._move(made // 2)
        self.update()
        return 0

    def _move(self, limit: int) -> tuple[int, float]:
        """Make the best moves; return their number and the sum of their gains."""
        if limit == 0:
            return 0, 0.0
        averages = self.averages
        found = np.flatnonzero(averages.place >= 0)
        best = found[np.argsort(-averages.gain[found], kind="stable")]
        edges = len(self.layout.right)
        marked = np.zeros(edges, np.bool_)
        made, gain = kernels.move_all(
            self.sides,
            self.layout,
            averages,
            best,
            limit,
            self._apart,
            kernels.Joints(
                low=np.empty(edges, np.int64),
                high=np.empty(edges, np.int64),
                over=np.empty(edges + 1, np.int64),
                under=np.empty((edges + 1, 2), np.int64),
            ),
            marked,
            np.empty(edges, np.int64),
        )
        averages.wanted[:] = (averages.place >= 0) | np.repeat(marked, 2)
        return made, gain

    def _renumber(self) -> None:
        """Number the edges in preorder."""
        sides = self.sides
        edges = len(self.layout.right)
        order = np.empty(edges, np.int64)
        kernels.preorder(sides, order, np.empty(edges, np.int64))
        old = (order[:, None] + [0, 1]).ravel()
        new = np.empty_like(old)
        new[old] = np.arange(len(old))
        sides.child[:] = np.where(sides.child[old] < 0, -1, new[sides.child[old]])
        for array in (sides.point, sides.size, self.averages.wanted):
            array[:] = array[old]

    def _lay_out(self) -> None:
        total = kernels.lay_out(self.sides, self.layout)
        if len(self.averages.outer) < total:
            self.averages = self.averages._replace(outer=np.empty(total + total // 8))

    def _choose_kept(self) -> None:
        """Keep the rows of the next subtrees to be evaluated, if they take at most n^2 numbers."""
        wanted = self.averages.wanted
        inner = self.layout.inner
        evaluated = inner[wanted[2 * inner + 1] | wanted[2 * inner + 2] | wanted[2 * self.layout.second]]
        n = len(self.matrix)
        edges = len(self.layout.right)
        if 2 * edges * len(evaluated) > n * n:
            evaluated = evaluated[:0]
        slot = np.full(edges, -1)
        slot[evaluated] = np.arange(len(evaluated))
        kept = self.averages.kept
        if len(kept) != len(evaluated):
            kept = np.empty((len(evaluated), 2, edges))
        self.averages = self.averages._replace(kept=kept, slot=slot)

    def _seek_kept(self, least: float) -> None:
        """Evaluate the subtrees whose rows are kept."""
        evaluated = np.flatnonzero(self.averages.slot >= 0)
        step = max(1, self._step // _SEEKS_OF_VISIT)

        def seek(start: int) -> None:
            self.workers.check()
            part = evaluated[start : start + step]
            with self._scan() as scan:
                kernels.seek_kept(self.layout, self.averages, scan, part, least)

        for _ in self.workers.map(seek, range(0, len(evaluated), step)):
            pass

    def _visit(self, least: float, seek: bool) -> None:
        """Visit all edges: first those of small subtrees, in parallel, then the others."""

        def visit_subtree(root: int) -> Any:
            with self._scan() as scan:
                self._visit_range(scan, 0, root, self._end(root), least, seek)
                return scan.rows[0].copy()

        tasks = self._tasks()
        rows = list(self.workers.map(visit_subtree, tasks))
        height = 0
        last = len(self.layout.right)
        with self._scan() as scan:
            for root, row in zip(reversed(tasks), reversed(rows), strict=True):
                height = self._visit_range(scan, height, self._end(root), last, least, seek)
                scan.rows[height] = row
                height += 1
                last = root
            self._visit_range(scan, height, 0, last, least, seek)

    def _tasks(self) -> list[int]:
        """Return disjoint subtrees of similar sizes, in preorder."""
        n = len(self.matrix)
        if n < _POINTS_OF_THREADS:
            return []
        size = self.layout.size
        fewest, most = (share * n for share in _TASK_SHARES)
        upper = size[np.maximum(self.layout.above, 0)]
        roots: list[int] = np.flatnonzero((size >= fewest) & (size <= most) & (upper > most)).tolist()
        return roots

    def _end(self, root: int) -> int:
        """Return the first edge after a subtree."""
        return root + 2 * int(self.layout.size[root]) - 1

    def _visit_range(
        self, scan: kernels.Scan, height: int, first: int, last: int, least: float, seek: bool
    ) -> int:
        """Visit a range of edges. The stack has `height` rows before; return the height after."""
        while last > first:
            start = max(first, last - self._step)
            height = kernels.visit(
                self.sides,
                self.layout,
                self.averages,
                self.matrix,
                scan,
                height,
                start,
                last,
                least,
                seek,
            )
            last = start
            self.workers.check()
        return height

    @contextmanager
    def _scan(self) -> Iterator[kernels.Scan]:
        """Provide working memory for one thread. Fresh memory for every task would be slow."""
        try:
            scan = self._scans.pop()
        except IndexError:
            scan = self._new_scan()
        try:
            yield scan
        finally:
            self._scans.append(scan)

    def _new_scan(self) -> kernels.Scan:
        edges = len(self.layout.right)
        return kernels.Scan(
            rows=np.empty((len(self.matrix).bit_length() + 2, edges)),
            leaves=np.empty((kernels.LEAVES, edges)),
            lanes=np.empty((edges, kernels.LEAVES)),
            rest=np.empty(edges),
            saved=np.empty(edges),
            near=np.empty(edges),
            weight=np.empty(edges),
        )
