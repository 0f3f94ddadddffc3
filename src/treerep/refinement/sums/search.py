"""Topologies of the trees of a sum, improved in turn.

1. *Add* a tree: neighbors are joined by the distances that the other trees leave, after all of
their lengths are reduced to make room for the new tree.
2. *Move* points and subtrees of each tree to where they best fit what the other trees leave.
3. *Fit* the lengths of all trees together.

Steps 2 and 3 are repeated after every new tree. Moves take two trees at a time, on two threads:
both see the same remaining distances, and the joint lengths correct what the two trees fit twice.
"""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...fitting.joining.relaxed_neighbor_joining import relaxed_neighbor_joining
from ...metric.matrix import MatrixMetric
from ...tree.tree import Tree
from ..lengths._pairs import ZERO_SHARE
from ..lengths.least_distortion import Plan, Stage
from ..moves.search import Search
from .weights import fit_sum_weights

# Lengths between two rounds of moves: errors are smoothed strongly, and few steps suffice.
_QUICK = Plan((Stage(1e-1, 0.0, 40), Stage(3e-2, 0.0, 40)), 25, 1e-4)
# Between two rounds, lengths are fitted to a share of the rows, but to no fewer than this number. The
# rows stay the same, so that the distortions of two rounds can be compared.
_ROW_SHARE = 3
_LEAST_ROWS = 1500
# Stop after a round that lowers the distortion by less than this fraction.
_PROGRESS = 5e-3
# Stop adding trees after this many trees in a row that together do not lower the distortion by this
# fraction. Small data may need several new trees for one improvement.
_USELESS = 10
# Trees that move at the same time. The result does not depend on the number of threads.
_TOGETHER = 2
# A distance of the new tree is at least this fraction of the largest distance.
_SHORTEST = 1e-3

Matrix = NDArray[np.float64]


class Remainder(NamedTuple):
    """The distances that other trees leave, weighted by the data: see `moves.search.Target`."""

    matrix: Matrix
    scale: Matrix
    power: float
    smallest: float
    unit: float = 1.0


class SumSearch:
    """The trees of a sum during the search, and the distances to fit.

    table : all distances; the largest distance is near 1
    power : moves divide squared errors by d^power
    """

    def __init__(
        self,
        table: MatrixMetric,
        trees: Sequence[Tree],
        power: float,
        rng: np.random.Generator,
        workers: Workers,
        deadline: float,
    ) -> None:
        self.table = table
        self.distances: Matrix = np.asarray(table.distances, np.float64)
        self.power = power
        self.rng = rng
        self.workers = workers
        self.deadline = deadline
        apart = self.distances > 0
        smallest = float(self.distances.min(where=apart, initial=np.inf))
        self.smallest = max(smallest, ZERO_SHARE)  # 1 / d^power must not overflow
        n = len(table)
        count = max(_LEAST_ROWS, n // _ROW_SHARE)
        self.rows = np.sort(rng.choice(n, count, replace=False)) if count < n else None
        self.start(trees)

    def start(self, trees: Sequence[Tree]) -> None:
        """Start from these trees. They are the result if the deadline has passed."""
        self.trees = list(trees)
        # The best trees so far, and their distortion.
        self.best = list(trees)
        self.error = math.inf

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def total(self) -> Matrix:
        """Return the distances of the sum."""
        total = np.zeros_like(self.distances)
        for tree in self.trees:
            total += tree.distances(n_jobs=self.workers.jobs)
        return total

    def add_tree(self) -> None:
        """Add a tree. It takes an equal share of the distances, and what the other trees leave."""
        kept = len(self.trees) / (len(self.trees) + 1)
        wanted = self.distances - kept * self.total()
        # A constant added to all distances makes the edges at the leaves longer, and does not change
        # which neighbors are joined.
        off_diagonal = ~np.eye(len(wanted), dtype=bool)
        least = float(wanted.min(where=off_diagonal, initial=np.inf))
        largest = float(self.distances.max())
        wanted += max(0.0, -least) + _SHORTEST * largest
        np.fill_diagonal(wanted, 0.0)
        joined = relaxed_neighbor_joining(MatrixMetric(wanted), rng=self.rng)
        self.trees = [tree.with_weights(kept * tree.weights) for tree in self.trees]
        self.trees.append(joined)
        self.error = math.inf  # the distortion of fewer trees says nothing about more trees
        self._fit_lengths()

    def improve(self, rounds: int) -> None:
        """Alternate moves and lengths."""
        for _ in range(rounds):
            if self.expired:
                break
            total = self.total()
            for low in range(0, len(self.trees), _TOGETHER):
                total = self._move(total, range(low, min(low + _TOGETHER, len(self.trees))))
            self._fit_lengths()

    def _move(self, total: Matrix, chosen: range) -> Matrix:
        """Move the points and subtrees of some trees. Return the new distances of the sum."""
        generators = self.rng.spawn(len(chosen))

        def moved(number: int) -> tuple[Tree, Matrix]:
            tree = self.trees[number]
            before = tree.distances(n_jobs=1)
            left = self.distances - (total - before)
            np.fill_diagonal(left, 0.0)
            target = Remainder(left, self.distances, self.power, self.smallest)
            generator = generators[number - chosen.start]
            contracted = tree.contracted()
            deadline = time.perf_counter() + self.deadline - time.monotonic()
            search = Search(contracted, target, generator, self.workers, deadline)
            search.sweep()
            after = search.tree()
            return after, after.distances(n_jobs=1) - before

        # All moves end before `total` changes: with one thread, `map` runs them one by one.
        found = list(self.workers.map(moved, chosen))
        for number, (tree, change) in zip(chosen, found, strict=True):
            self.trees[number] = tree
            total = total + change
        return total

    def _fit_lengths(self) -> None:
        found = fit_sum_weights(
            self.trees,
            self.table,
            self.workers,
            sample=self.rows,
            plan=_QUICK,
            deadline=self.deadline,
        )
        self.trees = found.trees
        if found.value < self.error:
            self.error = found.value
            self.best = list(found.trees)


def grow(search: SumSearch, count: int, rounds: int, last_rounds: int) -> None:
    """Add trees until there are `count`, with rounds of moves after each tree and at the end.

    If more trees do not lower the distortion, stop and drop the last of them.
    """
    useful, error = search.best, search.error
    with progress_bar(count, "trees of the sum", "tree") as bar:
        bar.update(len(search.trees))
        while len(search.trees) < count and not search.expired:
            search.add_tree()
            search.improve(rounds)
            bar.update(1)
            if search.error < (1 - _PROGRESS) * error:
                useful, error = search.best, search.error
            elif len(search.trees) == len(useful) + _USELESS:
                search.start(useful)
                search.error = error
                break
    for _ in range(last_rounds):
        before = search.error
        search.improve(1)
        if before - search.error < _PROGRESS * before:
            break
