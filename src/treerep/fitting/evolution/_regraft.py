"""Subtree pruning and regrafting (SPR) for balanced minimum evolution.

A subtree is cut off and put onto another edge. Nearest neighbor interchange is the special case
of an edge that is one step away. Averages of all pairs of subtrees make the evaluation of one
move O(1) (Hordijk and Gascuel, Bioinformatics 21, 2005), so all O(n^2) moves take O(n^2) time.

FastME (Lefort, Desper and Gascuel, Mol. Biol. Evol. 32, 2015) makes the best of all moves and then
evaluates all moves again. Here, each subtree in turn is moved to its best edge at once, which needs
far fewer evaluations.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from . import _regraft_kernels as kernels
from ._minimum_evolution_kernels import Sides


def regraft(
    sides: Sides, matrix: NDArray[np.float64], workers: Workers, least: float, budget: int
) -> None:
    """Move subtrees to other edges until no move saves more than `least`.

    About `budget` numbers are read between two checks for interrupts.
    """
    search = Regrafting(sides, matrix, workers, budget)
    length = np.inf
    shorter = search.length()
    with progress_bar(np.inf, "minimum evolution: regraft", "moves") as bar:
        # The first condition ends a search that rounding leads in circles.
        while shorter < length and search.sweep(least, bar):
            length = shorter
            shorter = search.length()
    kernels.read_crosses(sides, search.table)


class Regrafting:
    """A tree with the averages of all pairs of edges."""

    def __init__(
        self, sides: Sides, matrix: NDArray[np.float64], workers: Workers, budget: int
    ) -> None:
        self.sides = sides
        self.workers = workers
        self.budget = budget
        count = len(sides.cross)
        self.table = np.empty((count, count))
        self.work = kernels.RegraftWorkspace(
            order=np.empty(count, np.int64),
            stack=np.empty(count, np.int64),
            near=np.empty(count),
            gain=np.empty(count),
            weight=np.empty(count),
            previous=np.empty(2 * count, np.int64),
            changed=np.zeros(count, np.bool_),
        )
        self._renumber()
        self._fill(matrix)

    def sweep(self, least: float, bar: Any) -> int:
        """Move each subtree to its best edge, one after the other; return the number of moves."""
        total = 0
        side = 0
        while side < len(self.sides.point):
            side, made = kernels.regraft(
                self.sides, self.table, self.work, side, least, self.budget
            )
            total += made
            bar.update(made)
            self.workers.check()
        return total

    def length(self) -> float:
        """Return the length of the tree."""
        # Pauplin: sum over pairs of 2^(1 - p(i, j)) d(i, j). The average distance from i to all
        # others is the sum over j of 2^(1 - p(i, j)) d(i, j), and every pair is in two of these.
        leaves = np.flatnonzero(self.sides.point >= 0) // 2
        return 0.5 * float(self.table[leaves, leaves].sum())

    def _renumber(self) -> None:
        """Number the edges in preorder, so that the edges of a subtree are close in memory."""
        sides = self.sides
        kernels.preorder(sides, self.work.order, self.work.stack)
        old = (self.work.order[:, None] + [0, 1]).ravel()
        new = np.empty_like(old)
        new[old] = np.arange(len(old))
        sides.child[:] = np.where(sides.child[old] < 0, -1, new[sides.child[old]])
        for array in (sides.point, sides.size):
            array[:] = array[old]
        self.work.order[:] = np.arange(0, len(old), 2)

    def _fill(self, matrix: NDArray[np.float64]) -> None:
        """Compute all averages."""
        count = len(self.table)
        step = max(1, self.budget // count)
        for last in range(count, 0, -step):
            first = max(0, last - step)
            kernels.fill_rows(self.sides, matrix, self.table, self.work, first, last)
            self.workers.check()
        for first in range(0, count, step):
            last = min(first + step, count)
            kernels.fill_nested(self.sides, self.table, self.work, first, last)
            self.workers.check()
        kernels.read_pairs(self.sides, self.table)
