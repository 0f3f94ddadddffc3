"""Moves: remove a point or a subtree and reinsert it where it fits best.

All positions on all edges are compared at once, in time linear in the size of the tree (see
`_move_kernels`). Leaf reinsertion and subtree pruning and regrafting (SPR) are standard moves in
phylogenetics; SPR includes nearest-neighbor interchange (NNI). Fitch and Margoliash (Science
155, 1967) weighted squared errors by 1 / d^2. Bryant and Waddell (Mol. Biol. Evol. 15, 1998)
computed least squares on a tree from sums over subtrees.
"""

import math
import time
from typing import Any, NamedTuple, Protocol

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
from ..lengths._pairs import ZERO_SHARE
from ._move_kernels import BinaryPreorder, Task, Workspace, improve, sum_of_errors

# Number of rows on which the objective is estimated if not all pairs are used.
_SAMPLED_ROWS = 256
# For powers above 2, all distances below this fraction of the largest have the same weight.
_NEAREST = 1e-3
# Steps between two checks for the deadline and for interrupts: a few hundredths of a second.
_BUDGET = 4_000_000
_LARGEST_POWER = 4.0

Arrays = tuple[NDArray[np.int64], NDArray[np.float64]]


class Rearranged(NamedTuple):
    """A rearranged tree and the improvement."""

    tree: Tree
    before: float  # objective of the given tree
    after: float  # objective of this tree, never larger
    moves: int
    sweeps: int  # passes over all points; the last one may be incomplete


def rearrange(
    tree: Tree,
    metric: Metric,
    *,
    power: float = 0.0,
    distances: "Distances | None" = None,
    sweeps: int = 4,
    time_limit: float | None = None,
    rng: RNGLike = 0,
) -> Rearranged:
    """Move points and subtrees of a tree to the positions that best fit a metric.

    Parameters
    ----------
    tree, metric
        The tree and the metric, on the same points.
    power : float between 0 and 4
        The objective is the sum over pairs of w (d_T - d)^2 with w = d^-power. 0 favors long
        distances, 2 relative errors, and 4 short distances. Distance 0 is weighted like the
        smallest positive distance. If the power is above 2, distances below a thousandth of the
        largest all have the same weight.
    distances : Distances, optional
        The distances of the metric and the power to use, if the distances have already been
        read.
    sweeps : int
        Maximum number of passes over all points. The search stops after a sweep without a move.
    time_limit : float, optional
        Seconds after which to stop.
    rng : int, numpy Generator or None
        Seed for the order of the points. The same seed gives the same tree.

    Returns
    -------
    Rearranged
        The tree, the objective `before` and `after`, and the numbers of moves and sweeps. A
        tree that no move improves is returned unchanged.

    Notes
    -----
    A move changes the position of a subtree of up to 2 sqrt(n) points, and the three lengths there. A
    move is made if it lowers the objective by more than the rounding error. A sweep takes O(n N) time
    for the points and O(n) times the sizes of the subtrees. The distances take O(n^2) memory.

    Points at internal nodes may move. Edges of length 0 are contracted at the end.

    Examples
    --------
    A tree of two cherries in which points 1 and 2 were exchanged:

    >>> truth = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5)
    >>> wrong = Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0] * 5)
    >>> better = rearrange(wrong, truth)
    >>> better.before, better.after, better.tree.isclose(truth)
    (4.0, 0.0, True)
    """
    tree = matched(tree, metric, ("the tree", "the metric"))
    _check_arguments(power, sweeps, time_limit)
    begin = time.perf_counter()
    if len(metric) == 1:
        return Rearranged(tree, 0.0, 0.0, 0, 0)
    generator = np.random.default_rng(rng)
    if distances is None:
        distances = Distances(metric, float(power), None)
    scoring = time.perf_counter()
    before = distances.weighted_error(tree)
    # Scoring the result will take as long as scoring this tree.
    scoring_time = time.perf_counter() - scoring
    deadline = math.inf if time_limit is None else begin + time_limit - scoring_time
    with Workers(1) as workers:
        search = Search(tree, distances, generator, workers, deadline)
        for _ in range(sweeps):
            moves = search.moves
            search.sweep()
            if search.moves == moves or search.expired():
                break
    result = search.tree() if search.moves else tree
    after = distances.weighted_error(result) if search.moves else before
    size = distances.size
    if not after < before:
        return Rearranged(tree, before * size, before * size, 0, search.sweeps)
    return Rearranged(result, before * size, after * size, search.moves, search.sweeps)


def _check_arguments(power: float, sweeps: int, time_limit: float | None) -> None:
    if not 0.0 <= power <= _LARGEST_POWER:
        raise ValueError(f"power must be between 0 and 4, got {power!r}")
    positive_number(sweeps, "sweeps")
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit must be at least 0, got {time_limit!r}")


class Target(Protocol):
    """The distances that moves approximate, and the weights of their errors."""

    @property
    def unit(self) -> float:
        """The unit of all distances below."""

    @property
    def matrix(self) -> NDArray[np.float64] | None:
        """The distances. They may be negative, if they are what other trees leave."""

    @property
    def scale(self) -> NDArray[np.float64] | None:
        """Squared errors are divided by scale^power; a negative scale marks a missing distance."""

    @property
    def power(self) -> float:
        """The power of the weights."""

    @property
    def smallest(self) -> float:
        """Smaller scales count as this scale."""


class Distances:
    """The distances to fit, in a unit that avoids very large and very small numbers.

    The unit is a power of two, so that no distance is rounded.

    generator : chooses the rows that are used; None if all pairs are used
    """

    def __init__(self, metric: Metric, power: float, generator: np.random.Generator | None) -> None:
        n = len(metric)
        self.metric = metric
        self.power = power
        self.points = np.arange(n)
        self.unit = 1.0
        self.matrix = None
        self.rows = self.points
        if generator is None:
            self.matrix = _read_matrix(metric)
        else:
            count = min(n, _SAMPLED_ROWS)
            self.rows = np.sort(generator.choice(n, count, replace=False))
        smallest, largest = self._range()
        if largest > 0:
            self.unit = math.ldexp(1.0, math.frexp(largest)[1])
        # 1 / d^power must not overflow.
        smallest = max(smallest, ZERO_SHARE * largest)
        if power > 2:
            # If the weights spanned more orders of magnitude, long distances would be lost in the
            # sums.
            smallest = max(smallest, _NEAREST * largest)
        self.smallest = smallest / self.unit if largest > 0 else 1.0
        if self.matrix is not None:
            self.matrix /= self.unit
            if metric.has_missing:
                self.matrix[np.isnan(self.matrix)] = -1.0  # for kernels

    def _range(self) -> tuple[float, float]:
        """Return the smallest positive distance and the largest distance."""
        smallest = math.inf
        largest = 0.0
        for part in row_slices(len(self.rows), len(self.points)):
            block = self.read(self.rows[part], self.points)
            largest = max(largest, float(block.max(where=block >= 0, initial=0.0)))
            positive = float(block.min(where=block > 0, initial=np.inf))
            smallest = min(smallest, positive)
        return smallest, largest

    def read(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distances of a block."""
        if self.matrix is None:
            return checked_block(self.metric, rows, cols) / self.unit
        if len(cols) == len(self.matrix):
            return self.matrix[rows]
        return self.matrix[np.ix_(rows, cols)]

    @property
    def scale(self) -> NDArray[np.float64] | None:
        """The distances themselves: see `Target`."""
        return self.matrix

    @property
    def size(self) -> float:
        """The unit of the objective. This unit is infinite if squared distances overflow."""
        with np.errstate(over="ignore"):
            return float(np.float64(self.unit) ** (2 - self.power))

    def weighted_error(self, tree: Tree) -> float:
        """Return the sum of weighted squared errors over all pairs, divided by `size`.

        If rows are sampled, the result is an estimate.
        """
        total = 0.0
        scaled = tree.with_weights(tree.weights / self.unit)
        for part in row_slices(len(self.rows), len(tree)):
            rows = self.rows[part]
            known = read_only(self.read(rows, self.points))
            in_tree = read_only(scaled.block(rows, self.points))
            total += sum_of_errors(known, in_tree, self.power, self.smallest)
        return total / 2 * len(tree) / len(self.rows)


def _read_matrix(metric: Metric) -> NDArray[np.float64]:
    n = len(metric)
    check_memory(
        8 * n * n,
        f"rearrange on {n:,} points",
        "use method='backbone', which needs little memory",
    )
    return dense_matrix(metric, "rearrange")


class Search:
    """The tree during the search: all points are leaves, and internal nodes have three neighbors."""

    def __init__(
        self,
        tree: Tree,
        distances: Target,
        generator: np.random.Generator,
        workers: Workers,
        deadline: float,
    ) -> None:
        self.start = tree
        self.distances = distances
        self.generator = generator
        self.workers = workers
        self.deadline = deadline
        self.moves = 0
        self.sweeps = 0
        self.most_leaves = 2 * math.isqrt(len(tree))
        edges, lengths = binary_edges(tree.contracted())
        self.edges = edges
        self.lengths = lengths / distances.unit

    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return time.perf_counter() >= self.deadline

    def tree(self) -> Tree:
        """Return the current tree, without edges of length 0."""
        n = len(self.start)
        lengths = self.lengths * self.distances.unit
        return Tree(n, self.edges, lengths, labels=self.start.labels).contracted()

    def sweep(self) -> None:
        """Find the best position of every point, and of every subtree that is small enough."""
        n = len(self.start)
        points = self.generator.permutation(n)
        inner = n + self.generator.permutation(n - 2)
        matrix = self.distances.matrix
        assert matrix is not None
        scale = self.distances.scale
        assert scale is not None
        task = Task(read_only(matrix), read_only(scale), self.distances.power, self.distances.smallest)
        self.sweeps += 1
        # The root cannot move. So the last point is the root at first, and it is moved last,
        # when the first point is the root.
        rounds = [
            (points[-1], np.concatenate([points[:-1], inner])),
            (points[0], points[-1:]),
        ]
        with progress_bar(len(points) + len(inner), "moves", "subtrees") as bar:
            for root, nodes in rounds:
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
        workspace = Workspace(
            weight=np.empty(leaves),
            leaf=np.empty((3, leaves)),
            below=np.empty((count, 3)),
            all=np.empty((count, 2)),
            height=np.empty(count),
            ints=np.empty((4, count), np.int32),
            reals=np.empty(count),
        )
        done = 0
        while done < len(nodes) and not self.expired():
            before = done
            done, moves, _ = improve(tree, task, workspace, nodes, done, self.most_leaves, _BUDGET)
            self.moves += moves
            bar.update(done - before)
            self.workers.check()


def binary_edges(tree: Tree) -> Arrays:
    """Return the edges and lengths of the same tree in binary form. O(N log N).

    In binary form all n points are leaves, and the n - 2 other nodes have three neighbors. The
    input must be contracted: every Steiner node has at least three neighbors. A node with k
    neighbors becomes a chain of k - 2 nodes at distance 0. A point that is not a leaf counts as
    one of the k neighbors.

    >>> binary_edges(Tree(3, [[0, 1], [1, 2]], [1.0, 2.0]))
    (array([[0, 3],
           [3, 2],
           [1, 3]]), array([1., 2., 0.]))
    """
    n = len(tree)
    n_edges = len(tree.edges)
    degree = tree.degrees
    is_point = np.arange(len(degree)) < n
    is_leaf = is_point & (degree == 1)
    inner_points = np.flatnonzero(is_point & ~is_leaf)
    # The chain of node v consists of nodes first[v] ... first[v + 1] - 1. Leaves have no chain.
    n_neighbors = np.where(is_leaf, 2, degree + is_point)
    first = n + np.concatenate([[0], np.cumsum(n_neighbors - 2)])
    # Both ends of all edges, followed by the internal points, each of which is a neighbor of
    # its chain.
    ends = np.concatenate([tree.edges.ravel(), inner_points])
    # The two end nodes of a chain take two neighbors each, and the other nodes take one. Neighbor r
    # of a node is attached to node r - 1 of its chain, within bounds.
    chain_node = np.clip(_ranks(ends) - 1, 0, np.maximum(n_neighbors[ends] - 3, 0))
    new_ends = np.where(is_leaf[ends], ends, first[ends] + chain_node)
    # Within a chain, connect each node except the last to the next node.
    chain = np.arange(n, first[-1])
    chain = chain[~np.isin(chain, first[1:] - 1)]
    edges = np.concatenate(
        [
            new_ends[: 2 * n_edges].reshape(-1, 2),
            np.column_stack([inner_points, new_ends[2 * n_edges :]]),
            np.column_stack([chain, chain + 1]),
        ]
    )
    added = np.zeros(len(inner_points) + len(chain))
    return edges, np.concatenate([tree.weights, added])


def _ranks(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each node occurred earlier in the list."""
    by_node = np.argsort(nodes, kind="stable")
    counts = np.bincount(nodes)
    firsts = np.repeat(np.cumsum(counts) - counts, counts)
    ranks = np.empty(len(nodes), np.int64)
    ranks[by_node] = np.arange(len(nodes)) - firsts
    return ranks


def binary_preorder(
    edges: NDArray[np.int64],
    lengths: NDArray[np.float64],
    root: int,
) -> BinaryPreorder:
    """Root a binary tree at a leaf, in writable arrays."""
    view = preorder(edges, lengths, root)
    return BinaryPreorder(
        order=view.order.copy(),
        position=view.position.copy(),
        up=view.up.copy(),
        length=view.length.copy(),
        size=view.size.copy(),
    )
