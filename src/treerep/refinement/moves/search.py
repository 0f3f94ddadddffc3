"""Moves: take a point or a subtree out of the tree and put it back where it fits best.

All edges and all positions on them are compared at once, in time linear in the tree (see
`move_kernels`). Leaf re-insertion and subtree pruning and regrafting (SPR, which contains
nearest-neighbor interchange, NNI) are old moves of phylogenetics; Fitch and Margoliash
(Science 155, 1967) weighted squared errors by 1 / d^2, and Bryant and Waddell (Mol. Biol. Evol.
15, 1998) computed least squares on a tree from sums over subtrees.
"""

import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import positive_number
from ..._core.memory import check_memory
from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ..._core.typing import RNGLike
from ...fitting._distances import checked_block, dense_matrix
from ...metric._matching import matched
from ...metric.base import Metric, read_only
from ...scores._streaming import row_slices
from ...tree.structure.rooted import edges_of, preorder
from ...tree.tree import Tree
from ._move_kernels import BinaryPreorder, Room, Task, improve, sum_of_errors

# Points whose distances to all others tell how good a tree is, where not all are looked at.
_JUDGES = 256
# Distances below this share of the largest have no larger weights, for powers above 2.
_NEAREST = 1e-3
# Steps between two looks at the clock and the keyboard: some hundredths of a second.
_BUDGET = 4_000_000

Arrays = tuple[NDArray[np.int64], NDArray[np.float64]]


class Rearranged(NamedTuple):
    """A tree with better places for its points."""

    tree: Tree
    before: float  # the objective of the tree that was given, ...
    after: float  # ... and of this one: never larger
    moves: int  # how many were made
    sweeps: int  # how often all points were looked at; the last sweep may have been cut short


def rearrange(
    tree: Tree,
    metric: Metric,
    *,
    power: float = 0.0,
    distances: "Distances | None" = None,
    sweeps: int = 4,
    subtrees: bool = True,
    max_seconds: float | None = None,
    rng: RNGLike = 0,
) -> Rearranged:
    """Move points and subtrees of a tree to where its distances come closest to those of a metric.

    Parameters
    ----------
    tree, metric
        On the same points.
    power : float between 0 and 4
        The objective is the sum over pairs of w (d_T - d)^2 with w = d^-power: 0 looks at long
        distances most, 2 at relative errors, 4 at near points. Distance 0 is weighted like the
        smallest positive one; with a power above 2 so are all below a thousandth of the
        largest.
    distances : Distances, optional
        Those of the metric with the power to use, where they were read before.
    sweeps : int
        How often to look at all points, at most; a sweep without a move is the last.
    subtrees : bool
        Whether to move subtrees too, of up to 2 sqrt(n) points.
    max_seconds : float, optional
        Stop after this time.
    rng : int, numpy Generator or None
        Seed of the order of the points. The same seed gives the same tree.

    Returns
    -------
    Rearranged
        The tree, `before` and `after` (the objective), the number of moves and of sweeps. A
        tree that no move improves comes back as it was.

    Notes
    -----
    A move changes the place and the three lengths there, and is made if it lowers the objective
    by more than rounding may. A sweep takes O(n N) time for the points and O(n) times the sizes
    of the subtrees; memory n^2.

    Data points that are inner nodes may move away from there. Edges of length 0 are contracted
    in the end.

    Examples
    --------
    Two cherries, of which 1 and 2 were exchanged:

    >>> truth = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5)
    >>> wrong = Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0] * 5)
    >>> better = rearrange(wrong, truth)
    >>> better.before, better.after, better.tree.isclose(truth)
    (4.0, 0.0, True)
    """
    tree = matched(tree, metric, ("the tree", "the metric"))
    _check(power, sweeps, max_seconds)
    began = time.perf_counter()
    n = len(metric)
    if n == 1:
        return Rearranged(tree, 0.0, 0.0, 0, 0)
    generator = np.random.default_rng(rng)
    if distances is None:
        distances = Distances(metric, float(power), None)
    ready = time.perf_counter()
    before = distances.in_units(tree)
    # The last look at the objective will take as long as this one.
    end = (
        math.inf if max_seconds is None else began + max_seconds - (time.perf_counter() - ready)
    )
    with Workers(1) as workers:
        search = Search(tree, distances, bool(subtrees), generator, workers, end)
        for _ in range(sweeps):
            found = search.moves
            search.sweep()
            if search.moves == found or search.late():
                break
    result = search.tree() if search.moves else tree
    after = distances.in_units(result) if search.moves else before
    size = distances.size
    if not after < before:
        return Rearranged(tree, before * size, before * size, 0, search.sweeps)
    return Rearranged(result, before * size, after * size, search.moves, search.sweeps)


def _check(power: Any, sweeps: Any, max_seconds: Any) -> None:
    if not 0.0 <= power <= 4.0:
        raise ValueError(f"power is between 0 and 4, not {power!r}")
    positive_number(sweeps, "sweeps")
    if max_seconds is not None and not max_seconds >= 0:
        raise ValueError(f"max_seconds is 0 or more, not {max_seconds!r}")


class Distances:
    """The distances to fit, in a unit in which none is huge or tiny: a power of two, so that nothing is rounded."""

    def __init__(
        self, metric: Metric, power: float, generator: np.random.Generator | None
    ) -> None:
        self.metric = metric
        self.power = power
        n = len(metric)
        self.points = np.arange(n)
        self.unit = 1.0
        self.matrix = None
        if generator is None:
            check_memory(
                8 * n * n,
                f"rearrange on {n:,} points",
                "fit with method='backbone', which needs little",
            )
            self.matrix = dense_matrix(metric, "rearrange")
        self.judges = (
            self.points
            if generator is None
            else np.sort(generator.choice(n, min(n, _JUDGES), replace=False))
        )
        largest = 0.0
        self.smallest = np.inf
        for rows in row_slices(len(self.judges), n):
            block = self.read(self.judges[rows], self.points)
            largest = max(largest, float(block.max()))
            self.smallest = min(
                self.smallest, float(block.min(where=block > 0, initial=np.inf))
            )
        if largest > 0:
            self.unit = math.ldexp(1.0, math.frexp(largest)[1])
        if (
            power > 2
        ):  # sums over weights that extend over more decades would lose the far points
            self.smallest = max(self.smallest, _NEAREST * largest)
        self.smallest = self.smallest / self.unit if largest > 0 else 1.0
        if self.matrix is not None:
            self.matrix /= self.unit

    def read(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances of a block."""
        if self.matrix is not None:
            return (
                self.matrix[rows]
                if len(cols) == len(self.matrix)
                else self.matrix[np.ix_(rows, cols)]
            )
        return checked_block(self.metric, rows, cols) / self.unit

    @property
    def size(self) -> float:
        """The unit of the objective.

        Squares of distances beyond 1e154 are too large for numbers.
        """
        with np.errstate(over="ignore"):
            return float(np.float64(self.unit) ** (2 - self.power))

    def in_units(self, tree: Tree) -> float:
        """Sum of the weighted squared errors over all pairs, or its estimate from some rows, over `size`."""
        n = len(tree)
        total = 0.0
        scaled = tree.with_weights(tree.weights / self.unit)
        for part in row_slices(len(self.judges), n):
            rows = self.judges[part]
            known = read_only(self.read(rows, self.points))
            total += sum_of_errors(
                known, read_only(scaled.block(rows, self.points)), self.power, self.smallest
            )
        return total / 2 * n / len(self.judges)


class Search:
    """The tree while it changes: all points are leaves, inner nodes have three neighbors."""

    def __init__(
        self,
        tree: Tree,
        distances: Distances,
        subtrees: bool,
        generator: np.random.Generator,
        workers: Workers,
        end: float,
    ) -> None:
        self.start = tree
        self.distances = distances
        self.generator = generator
        self.workers = workers
        self.end = end
        self.moves = self.sweeps = 0
        self.cap = 2 * math.isqrt(len(tree)) if subtrees else 1
        edges, lengths = binary_edges(tree.contracted())
        self.edges = edges
        self.lengths = lengths / distances.unit

    def late(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() >= self.end

    def tree(self) -> Tree:
        """Return the present tree, without edges of length 0."""
        n = len(self.start)
        return Tree(
            n, self.edges, self.lengths * self.distances.unit, labels=self.start.labels
        ).contracted()

    def sweep(self) -> None:
        """Look once at every point and at every subtree that is not too large, by all pairs."""
        n = len(self.start)
        order = self.generator.permutation(n)
        inner = n + self.generator.permutation(n - 2) if self.cap > 1 else order[:0]
        matrix = self.distances.matrix
        assert matrix is not None
        task = Task(read_only(matrix), self.distances.power, self.distances.smallest)
        self.sweeps += 1
        with progress_bar(len(order) + len(inner), "moves", "subtrees") as bar:
            # The point that the tree hangs from cannot be moved, so its turn comes last, when
            # another one holds it.
            turns = (order[-1], np.concatenate([order[:-1], inner])), (order[0], order[-1:])
            for root, nodes in turns:
                rooted = binary_preorder(self.edges, self.lengths, int(root))
                self._improve(rooted, task, nodes, bar)
                self.edges, self.lengths = edges_of(rooted)

    def _improve(
        self,
        tree: BinaryPreorder,
        task: Task,
        nodes: NDArray[np.int64],
        bar: Any,
    ) -> None:
        count = len(tree.up)
        leaves = task.matrix.shape[1]
        room = Room(
            weight=np.empty(leaves),
            leaf=np.empty((3, leaves)),
            below=np.empty((count, 3)),
            all=np.empty((count, 2)),
            height=np.empty(count),
            ints=np.empty((4, count), np.int32),
            reals=np.empty(count),
        )
        done = 0
        while done < len(nodes) and not self.late():
            before = done
            done, moves, _ = improve(tree, task, room, nodes, done, self.cap, _BUDGET)
            self.moves += moves
            bar.update(done - before)
            self.workers.check()


def binary_edges(tree: Tree) -> Arrays:
    """Edges and lengths of the same tree with points as leaves and three neighbors at the n - 2 others. O(N log N).

    The tree is contracted: every Steiner node has three neighbors or more. A node with k
    neighbors, itself counted as one if it is a point (and no leaf), becomes a row of k - 2
    nodes at distance 0.

    >>> binary_edges(Tree(3, [[0, 1], [1, 2]], [1.0, 2.0]))
    (array([[0, 3],
           [3, 2],
           [1, 3]]), array([1., 2., 0.]))
    """
    n = len(tree)
    degree = tree.degrees
    points = np.arange(len(degree)) < n
    stays = points & (degree == 1)
    inner = np.flatnonzero(points & ~stays)
    slots = np.where(stays, 2, degree + points)
    first = n + np.concatenate([[0], np.cumsum(slots - 2)])
    ends = np.concatenate([tree.edges.ravel(), inner])
    by_node = np.argsort(ends, kind="stable")
    rank = np.empty(len(ends), np.int64)
    counts = np.bincount(ends)
    rank[by_node] = np.arange(len(ends)) - np.repeat(np.cumsum(counts) - counts, counts)
    new = np.where(
        stays[ends], ends, first[ends] + np.clip(rank - 1, 0, np.maximum(slots[ends] - 3, 0))
    )
    row = np.arange(n, first[-1])
    row = row[~np.isin(row, first[1:] - 1)]  # all but the last of each row
    parts = [new[: 2 * len(tree.edges)].reshape(-1, 2)]
    parts += [
        np.column_stack([inner, new[2 * len(tree.edges) :]]),
        np.column_stack([row, row + 1]),
    ]
    return np.concatenate(parts), np.concatenate(
        [tree.weights, np.zeros(len(inner) + len(row))]
    )


def binary_preorder(
    edges: NDArray[np.int64],
    lengths: NDArray[np.float64],
    root: int,
) -> BinaryPreorder:
    """Root a binary tree at a leaf, in arrays that can be written."""
    view = preorder(edges, lengths, root)
    return BinaryPreorder(
        order=view.order.copy(),
        position=view.position.copy(),
        up=view.up.copy(),
        length=view.length.copy(),
        size=view.size.copy(),
    )
