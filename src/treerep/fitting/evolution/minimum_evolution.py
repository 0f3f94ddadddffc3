"""Minimum evolution: the shortest tree, greedily.

Desper and Gascuel, J. Comput. Biol. 9, 2002, and Mol. Biol. Evol. 21, 2004.

1. *Insert*: point after point goes where the tree stays shortest.
2. *Exchange* (nearest neighbor interchange, NNI): while two subtrees at the ends of an edge
   can change places such that the tree gets shorter, the pair that saves most does.
3. *Regraft* (subtree pruning and regrafting, SPR; "balanced" only): subtrees move to other
   edges while that makes the tree shorter. See `_regraft`.

The length of a tree is the sum of its edge lengths, and these follow from the distances: "ols"
takes those of ordinary least squares, "balanced" those of Pauplin (2000), where a tree with
p(i, j) edges between i and j has the length sum over pairs of 2^(1 - p(i, j)) d(i, j).

The papers keep a table of the average distances between all pairs of subtrees. Insertion and
exchange need only the averages of neighbors, so no others are kept before step 3. A change
updates them from the rows of the distance matrix that it concerns. This takes a quarter of the
memory, and rows are read in one go.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_choice, check_flag
from ..._core.memory import check_memory
from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric
from ...tree.tree import Tree
from .._distances import dense_matrix
from .._finished_tree import finished_tree
from . import _minimum_evolution_kernels as kernels
from ._exchange_kernels import exchange_best
from ._minimum_evolution_kernels import Sides, Workspace
from ._regraft import regraft

# Distances read between two looks at the clock and the keyboard: about a tenth of a second.
_BUDGET = 10_000_000
# Exchanges that save less, as a part of the largest distance, may be due to rounding.
_LEAST_SAVING = 1e-12
# Matrices of n x n numbers in memory: the distances, and the averages of all pairs of 2n edges.
_MATRICES_OF_SPR = 5


def minimum_evolution(
    metric: Metric, *, criterion: str = "balanced", nni: bool = True, spr: bool | None = None
) -> Tree:
    """Learn a tree by minimum evolution; see `fit`.

    Points are inserted in their order. Exact on tree metrics, by either criterion. On others
    some lengths would be negative and are set to 0. On the paper's graphs "balanced" keeps
    neighborhoods better, and "ols" distances.

    `spr` is available for "balanced" only. By default it is on if `nni` is. On simulated
    alignments it finds more of the true splits if the distances are noisy, in up to three times
    the time (see benchmarks/results/minimum_evolution.md).

    O(n^2) time for each level of the tree and O(n^2) for each round of `spr`; O(n^2) memory, and
    five times as much with `spr`. Desper and Gascuel, J. Comput. Biol. 9, 2002; Hordijk and
    Gascuel, Bioinformatics 21, 2005.
    """
    check_choice("criterion", criterion, ("balanced", "ols"))
    check_flag("nni", nni)
    balanced = criterion == "balanced"
    if spr is None:
        spr = nni and balanced
    check_flag("spr", spr)
    if spr and not balanced:
        raise ValueError("spr needs criterion='balanced', not 'ols'")
    n = len(metric)
    if spr:
        check_memory(
            _MATRICES_OF_SPR * n * n * 8,
            f"minimum_evolution on {n:,} points",
            "use spr=False, which needs a fifth, or use method='treerep', which needs none",
        )
    matrix = dense_matrix(metric, "minimum_evolution")
    if n == 2:
        return finished_tree(metric, [[0, 1]], matrix[0, 1:])
    with Workers(1) as workers:
        search = Search(matrix, balanced, workers)
        search.insert()
        search.average()
        if nni:
            search.exchange()
        if spr:
            search.regraft()
        edges, lengths = search.tree()
    return finished_tree(metric, edges, lengths)


class Search:
    """One run on a matrix of at least three points."""

    def __init__(self, matrix: NDArray[np.float64], balanced: bool, workers: Workers) -> None:
        self.matrix = matrix
        self.balanced = balanced
        self.workers = workers
        n = len(matrix)
        edges = 2 * n - 3
        self.sides = Sides(
            np.full((2 * edges, 2), -1),
            np.full(2 * edges, -1),
            np.ones(2 * edges, np.int64),
            np.zeros(2 * edges),
            np.zeros((edges, 2, 2)),
        )
        self.sides.point[:2] = 1, 0  # the first edge
        self.workspace = Workspace(
            np.empty(2 * edges, np.int64),
            np.empty(2 * edges),
            np.empty((2 * edges, 2)),
            np.empty((4, n)),
            np.empty((2, n)),
        )

    def insert(self) -> None:
        """Insert all points, in their order."""
        n = len(self.matrix)
        done = 2
        with progress_bar(n, "minimum evolution: insert", "points") as bar:
            while done < n:
                before = done
                done = kernels.insert_points(
                    self.sides, self.matrix, self.workspace, before, self.balanced, _BUDGET
                )
                bar.update(done - before)
                self.workers.check()

    def average(self) -> None:
        """Compute the averages of neighbors again, without accumulated rounding errors."""
        n = len(self.matrix)
        sides = self.sides
        leaves = np.empty(n, np.int64)
        is_leaf = sides.point >= 0
        leaves[sides.point[is_leaf]] = np.flatnonzero(is_leaf)
        sides.pair[:] = 0.0
        sides.cross[:] = 0.0
        step = max(1, _BUDGET // (10 * n))
        for first in range(0, n, step):
            last = min(first + step, n)
            kernels.add_averages(
                sides, self.matrix, self.workspace, leaves, first, last, self.balanced
            )
            self.workers.check()

    def exchange(self) -> None:
        """Exchange neighboring subtrees until no exchange makes the tree shorter."""
        least = _LEAST_SAVING * float(self.matrix.max())
        length = np.inf
        shorter = self.length()
        with progress_bar(np.inf, "minimum evolution: exchange", "exchanges") as bar:
            # Every round begins with fresh averages. The second condition ends a search that
            # rounding leads in circles.
            while shorter < length and self._exchange_round(least, bar):
                self.average()
                length = shorter
                shorter = self.length()

    def _exchange_round(self, least: float, bar: Any) -> int:
        """Make exchanges, at most as many as there are points; return their number."""
        n = len(self.matrix)
        total = 0
        made = 1
        while made and total < n:
            made = exchange_best(
                self.sides,
                self.matrix,
                self.workspace,
                least,
                self.balanced,
                n - total,
                _BUDGET,
            )
            total += made
            bar.update(made)
            self.workers.check()
        return total

    def regraft(self) -> None:
        """Move subtrees to other edges until no move makes the tree shorter."""
        least = _LEAST_SAVING * float(self.matrix.max())
        regraft(self.sides, self.matrix, self.workers, least, _BUDGET)

    def tree(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Edges, with new nodes from n on, and their lengths, which may be negative."""
        n_edges = len(self.sides.cross)
        edges = np.empty((n_edges, 2), np.int64)
        lengths = np.empty(n_edges)
        kernels.edge_list(self.sides, self.workspace, edges, lengths, self.balanced)
        return edges, lengths

    def length(self) -> float:
        """Sum of all edge lengths."""
        return float(self.tree()[1].sum())
