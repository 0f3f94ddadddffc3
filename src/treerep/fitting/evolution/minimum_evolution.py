"""Minimum evolution: a greedy search for the shortest tree.

Desper and Gascuel (J. Comput. Biol. 2002; Mol. Biol. Evol. 2004).

Data with mean vectors (squared Euclidean points, sequences and characters) needs no matrix: see
`profiles`. Other data, with subtree pruning and regrafting (SPR; "balanced" only):

1. *Join*: the first tree is that of BIONJ.
2. *Regraft*: subtrees move to other edges while this shortens the tree. See `_regraft`. The
   exchanges of neighboring subtrees are among these moves.

Without SPR:

1. *Insert*: each point is inserted where the tree stays shortest.
2. *Exchange* (nearest neighbor interchange, NNI): while exchanging two subtrees at the ends of
   an edge shortens the tree, the exchange that saves the most is made.

The length of a tree is the sum of its edge lengths, which follow from the distances. "ols" uses
ordinary least squares. "balanced" uses the lengths of Pauplin (2000): a tree with p(i, j) edges
between i and j has the length sum over pairs of 2^(1 - p(i, j)) d(i, j).

The algorithms in the papers store the average distances between all pairs of subtrees. This
implementation stores only the averages of neighbors, which suffice for insertion and exchange.
These averages are updated from the rows of the distance matrix that a change affects. This approach
takes a quarter of the memory, and rows are read contiguously. SPR needs the averages of all pairs,
but only those of a few subtrees at a time.
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
from ..joining._clusters import join_matrix
from ..joining._joining_kernels import join_closest
from . import _minimum_evolution_kernels as kernels
from ._exchange_kernels import exchange_best
from ._minimum_evolution_kernels import Sides, Workspace
from ._profile_spaces import has_profiles
from ._regraft import regraft
from ._start_kernels import read_tree
from .profiles import shortest_tree

# Number of distances read between two checks for the deadline and for interrupts: about 0.1 s.
_BUDGET = 10_000_000
# Exchanges that save less than this fraction of the largest distance may be due to rounding.
_LEAST_SAVING = 1e-12
# Matrices of n x n numbers in memory: the distances, and the two matrices of BIONJ.
_MATRICES_OF_SPR = 3
# SPR is off by default for more points: it would take minutes.
_MOST_POINTS_OF_SPR = 10_000


def minimum_evolution(
    metric: Metric,
    *,
    criterion: str = "balanced",
    nni: bool = True,
    spr: bool | None = None,
    n_jobs: int | None = None,
) -> Tree:
    """Fit a tree by minimum evolution. `fit` describes the options.

    Squared Euclidean points, sequences (except by "logdet") and profiles of characters need no
    distance matrix, if no option is given. The first tree is that of neighbor joining, in groups
    above 2,000 points. Subtrees are then exchanged and moved while this makes the tree shorter. The
    average distance between two subtrees follows from their mean vectors.

    Other data, with SPR (for "balanced" only, and by default only for up to 10,000 points): the
    first tree is that of `bionj`. Subtrees are then moved to other edges while this makes the tree
    shorter.

    Without SPR, points are inserted in their order, each where the tree stays shortest. Neighboring
    subtrees are then exchanged while this makes the tree shorter.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.neighbor_joining : Another method of phylogenetics.

    Notes
    -----
    Exact on tree metrics, by both criteria. On other data, negative lengths are set to 0. On the
    graphs of the TreeRep paper, "balanced" preserves neighborhoods better, and "ols" preserves
    distances better.

    With SPR, the result is a tree that no move makes shorter. On simulated alignments, SPR finds
    more of the true splits if the distances are noisy. See benchmarks/results/minimum_evolution.md.

    Without a matrix, a round takes O(n k) time for k coordinates, or sites times states. Memory:
    three float32 numbers for each point and coordinate (float64 for float64 points). The models of
    sequences correct the distances of mean vectors, as in FastTree (Price et al. 2009), so that the
    result is not exactly that of the matrix. On simulated alignments, both have about as many wrong
    splits. See benchmarks/results/profiles.md.

    With a matrix: O(n^2) time for each round of SPR, or for each level of the tree without SPR. O(n^2) memory:
    three matrices with SPR, and one matrix without. SPR uses all threads, and the tree does not
    depend on their number. Desper and Gascuel, J. Comput. Biol. 9, 2002. Gascuel, Mol. Biol.
    Evol. 14, 1997. Hordijk and Gascuel, Bioinformatics 21, 2005.
    """
    check_choice("criterion", criterion, ("balanced", "ols"))
    check_flag("nni", nni)
    if criterion == "balanced" and nni and spr is None and len(metric) > 3 and has_profiles(metric):
        with Workers(n_jobs) as workers:
            return finished_tree(metric, *shortest_tree(metric, workers))
    balanced = criterion == "balanced"
    n = len(metric)
    if spr is None:
        spr = nni and balanced and n <= _MOST_POINTS_OF_SPR
    check_flag("spr", spr)
    if spr and not balanced:
        raise ValueError("spr needs criterion='balanced', not 'ols'")
    if spr:
        check_memory(
            _MATRICES_OF_SPR * n * n * 8,
            f"minimum_evolution on {n:,} points",
            "use spr=False, which needs a third, or use method='treerep', which needs no matrix",
        )
    matrix = dense_matrix(metric, "minimum_evolution", n_jobs=n_jobs)
    if n == 2:
        return finished_tree(metric, [[0, 1]], matrix[0, 1:])
    with Workers(n_jobs) as workers:
        search = Search(matrix, balanced, workers)
        if spr:
            search.join()
            search.regraft()
        else:
            search.insert()
            search.average()
            if nni:
                search.exchange()
        edges, lengths = search.tree()
    return finished_tree(metric, edges, lengths)


class Search:
    """One run on a matrix of at least three points."""

    def __init__(self, matrix: NDArray[np.float64], balanced: bool, workers: Workers) -> None:
        self.matrix = matrix
        self.balanced = balanced
        self.workers = workers
        #: Lengths of the edges, if they do not follow from the averages of neighbors.
        self._lengths: NDArray[np.float64] | None = None
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

    def join(self) -> None:
        """Start with the tree of BIONJ."""
        edges, _ = join_matrix(self.matrix.copy(), "minimum evolution: join", join_closest, variances=True)
        read_tree(edges, self.sides)

    def insert(self) -> None:
        """Insert all points in their order."""
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
            kernels.add_averages(sides, self.matrix, self.workspace, leaves, first, last, self.balanced)
            self.workers.check()

    def exchange(self) -> None:
        """Exchange neighboring subtrees until no exchange makes the tree shorter."""
        least = _LEAST_SAVING * float(self.matrix.max())
        length = np.inf
        shorter = self.length()
        with progress_bar(np.inf, "minimum evolution: exchange", "exchanges") as bar:
            # Every round begins with fresh averages. The second condition ends a search that
            # rounding errors make cyclic.
            while shorter < length and self._exchange_round(least, bar):
                self.average()
                length = shorter
                shorter = self.length()

    def _exchange_round(self, least: float, bar: Any) -> int:
        """Make at most one exchange per point; return the number of exchanges."""
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
        found = regraft(self.sides, self.matrix, self.workers, least, _BUDGET)
        self._lengths = found.lengths()

    def tree(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return edges, in which new nodes are numbered from n on, and their lengths, which may be negative."""
        n_edges = len(self.sides.cross)
        edges = np.empty((n_edges, 2), np.int64)
        lengths = np.empty(n_edges)
        kernels.edge_list(self.sides, self.workspace, edges, lengths, self.balanced)
        return edges, lengths if self._lengths is None else self._lengths

    def length(self) -> float:
        """Return the sum of all edge lengths."""
        return float(self.tree()[1].sum())
