"""The best edge weights of a fixed tree: least squares, relative least squares, least average distortion.

With A the path matrix (a row per pair of points, a column per edge), the distances of the tree are A w, and we minimise
|U (A w - d)|^2 over w >= lower, U diagonal. A is never formed:

- the gradient A^T U^2 (A w - d) is one pass over the pairs (`path_sum_kernels.row_sums`),
- for U = 1 the product A^T A w takes O(N) (`cut_sums`), and so does the solution of A^T A w = b, even with edges held
  fixed (`solve_cuts`; that ordinary least squares has such a solution is due to Bryant and Waddell, Rapid evaluation of
  least-squares and minimum-evolution criteria on phylogenetic trees, Mol. Biol. Evol. 15, 1998),
- for other U that solution is a preconditioner that knows the shape of the tree.

So the minimum is found by a projected Newton method (Bertsekas, SIAM J. Control Optim. 20, 1982), whose steps are exact
for U = 1 and come from a few conjugate gradients otherwise, however long the paths are. The average distortion has no
such structure: it is smoothed and minimised by a projected limited-memory quasi-Newton method.
"""

import copy
import math
import time
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..common.memory import available_memory
from ..common.parallel import Workers
from ..fitting.result import checked_block
from ..metric.base import Metric
from ..scoring.sampling import sample_rows
from ..scoring.streaming import check_choice, check_same_points, row_slices, triangle_slices
from ..tree.rooted import preorder_rows
from ..tree.tree import Tree
from .path_sum_kernels import (
    FACTORS,
    PRODUCT,
    SMOOTH,
    SQUARES,
    add_down,
    add_up,
    common_ancestors,
    cut_sums,
    find_splits,
    row_sums,
    solve_cuts,
)

Vector = NDArray[np.float64]

_OBJECTIVES = ("l2", "l1", "heuristic")
#: |q|, the relative error of a pair, is smoothed to sqrt(q^2 + SMOOTHING^2) in the average distortion.
SMOOTHING = 1e-3
#: Distances below this share of the largest are taken for 0 where a weight 1 / d^p would overflow.
_NOTHING = 1e-100
_STEPS = 1000
_CONJUGATE_STEPS = 500
#: A Newton step is accurate enough when conjugate gradients have shrunk its error to this share (measured best).
_ACCURACY = 0.1
_LAST_DIGITS = 1e-6
#: A sample leaves many edges all but undetermined, and it is no use to fit its noise: stop when a step lowers the
#: objective by less than this share of itself, and take few conjugate gradients.
_SAMPLED_PROGRESS, _SAMPLED_CONJUGATE_STEPS = 1e-3, 30
#: Smoothings that lead to the last one, and the steps that each may take.
_APPROACH = ((3e-2, 50), (1e-2, 50), (3e-3, 75), (SMOOTHING, _STEPS))
_MEMORY = 20
#: The average distortion is found when this many steps lower it by less than this share of itself.
_PATIENCE, _PROGRESS = 25, 1e-5
#: The paper's heuristic.
_HEURISTIC_STEPS, _HEURISTIC_RATE = 200, 1e-4


class WeightFit(NamedTuple):
    """A tree with fitted weights, and what is known about them."""

    tree: Tree  # the same topology
    value: float  # objective of the tree
    start: float  # objective of the tree that was given
    residual: float  # largest violation of the optimality conditions, dimensionless
    iterations: int
    rows: int  # pairs looked at
    exact: bool  # all pairs were, and the residual is below `tol`


class Splits(NamedTuple):
    """A tree without what distances cannot tell apart, hung from a centroid, in preorder.

    Edges that part the points in the same way (a chain through Steiner nodes) are one edge; edges without points on one
    side are none. So the columns of the path matrix are linearly independent.
    """

    points: NDArray[np.int64]  # in the order of the preorder, which numbers them anew
    node: NDArray[np.int32]  # of each point
    up: NDArray[np.int32]  # parent; -1 at the root, node 0
    first: NDArray[np.int32]  # points below node k: first[k] ... last[k] - 1
    last: NDArray[np.int32]
    edge: NDArray[np.int64]  # for every edge of the tree, the node below it here, or -1


def find_tree_splits(tree: Tree) -> Splits:
    """Bring a tree into the form that the sums over paths need. O(N)."""
    n, nodes = tree.n_points, tree.n_nodes
    order, _, _, count, bottom, _ = _chains(tree, 0)
    # The lowest node with at least half of the points below: no branch at it has more than half.
    heavy = np.flatnonzero((2 * count >= n) & (bottom == np.arange(nodes)))[-1]
    order, _, via, count, bottom, above = _chains(tree, int(order[heavy]))
    kept = bottom == np.arange(nodes)
    number = (np.cumsum(kept) - 1).astype(np.int32)
    is_point = order < n
    before: NDArray[np.int32] = (np.cumsum(is_point) - is_point).astype(np.int32)
    parent = np.where(above >= 0, number[above], -1)[kept].astype(np.int32)
    edge = np.full(nodes - 1, -1)
    edge[via[1:]] = np.where(bottom[1:] >= 0, number[bottom[1:]], -1)
    return Splits(
        order[is_point].astype(np.int64), number[is_point], parent, before[kept], (before + count)[kept], edge
    )


def _chains(tree: Tree, root: int) -> tuple[NDArray[np.int32], ...]:
    rows = preorder_rows(tree.edges, tree.n_nodes, root)
    assert rows is not None, "a Tree is a tree"
    order, up, via = (np.ascontiguousarray(rows[:, column]) for column in range(3))
    count, bottom, above = (np.empty(tree.n_nodes, np.int32) for _ in range(3))
    find_splits(order, up, tree.n_points, count, bottom, above)
    return order, up, via, count, bottom, above


def fit_weights(
    tree: Tree,
    metric: Metric,
    *,
    objective: str = "l2",
    power: float = 0.0,
    rows: int | Literal["all"] = "all",
    lower: float = 0.0,
    rng: Any = 0,
    tol: float = 1e-9,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
) -> WeightFit:
    """Give a tree the edge weights that bring its distances nearest to those of a metric; the topology stays.

    Parameters
    ----------
    tree : Tree on the points of `metric`
        Its weights are where the search starts.
    objective : "l2", "l1" or "heuristic"
        "l2": sum of (d_T - d)^2 / d^power over the pairs. "l1": mean of sqrt(q^2 + 1e-6) with q = d_T / d - 1, the
        average distortion, smoothed. "heuristic": what the paper does, 200 plain gradient steps of size 1e-4 for the
        squares of n random pairs; for comparison.
    power : float from 0 to 2, for "l2"
        0 is ordinary least squares, 2 relative least squares (Fitch and Margoliash, Science 155, 1967).
    rows : int or "all"
        Use the distances of that many random points to all points in place of all pairs: an unbiased estimate of the
        objective. Edges that the sample cannot tell apart stay near their old lengths, and the search ends when it
        gains less than a thousandth in a step.
    lower : float
        Least weight of an edge, 0 or more.
    tol : float
        Residual to reach. For "l2" an edge's residual is how far it would move if it alone were free, as a share of the
        largest distance from a point; for "l1" it is the gradient over its largest possible value, and a smoothed
        minimum has sharp bends: 1e-2 is what to expect.
    max_seconds : float, optional
        Return what has been reached after this time, and say so in the residual.

    Pairs at distance 0 have no relative error: they count with power 0 only. Edges through which no counted path goes
    keep their weights; edges that part the points in the same way (a chain through Steiner nodes) share their sum as
    before. The result is never worse than the tree given, its weights raised to `lower` where they are below.

    Time: "l2" with power 0 takes two passes over the pairs and O(N) per step; everything else about a hundred to a
    thousand passes. A pass takes O(n^2 + sum of the depths), or O(rows N). Distances are kept if they fit into half of
    the free memory, and asked for again at every pass otherwise. The same bits for every n_jobs.

    >>> import treerep as tr
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0])
    >>> fit_weights(tree, tr.as_metric([[0, 3, 4], [3, 0, 5], [4, 5, 0]])).tree.weights
    array([1., 2., 3.])
    """
    check_choice("objective", objective, _OBJECTIVES)
    _check_number("power", power, 0.0, 2.0)
    _check_number("lower", lower, 0.0, float(np.finfo(np.float64).max))
    check_same_points(tree, metric, ("tree", "metric"))
    if len(tree) < 2:
        return WeightFit(tree, 0.0, 0.0, 0.0, 0, 0, True)
    deadline = math.inf if max_seconds is None else time.monotonic() + max_seconds
    splits = find_tree_splits(tree)
    if objective == "heuristic":
        return _heuristic(tree, metric, splits, lower, rng)
    sample = sample_rows(len(tree), rows, rng, len(tree))
    with Workers(n_jobs) as workers:
        pairs = Pairs(splits, metric, sample, 2.0 if objective == "l1" else float(power), workers)
        fit = _least_distortion if objective == "l1" else _least_squares
        given = _gather(splits, tree.weights) / pairs.unit
        floor = _gather(splits, np.full(len(tree.edges), lower)) / pairs.unit
        best = fit(pairs, given, floor, tol, deadline)
    weights = _distribute(splits, tree.weights, best.length * pairs.unit, given * pairs.unit, lower)
    return WeightFit(
        tree.with_weights(weights),
        best.value,
        best.start,
        best.residual,
        best.iterations,
        pairs.count,
        sample is None and best.residual <= tol,
    )


def _check_number(name: str, value: Any, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least <= value <= most:
        raise ValueError(f"{name} is a number from {least:g} to {most:g}, not {value!r}")


def _gather(splits: Splits, weights: Vector) -> Vector:
    """Length of each split: the sum over the edges that make it."""
    used = splits.edge >= 0
    sums: Vector = np.bincount(splits.edge[used], weights[used], minlength=len(splits.up)).astype(np.float64)
    return sums


def _distribute(splits: Splits, old: Vector, found: Vector, given: Vector, lower: float) -> Vector:
    """Weight of each edge: the chains of a split share what is above `lower` as before, or evenly if nothing was."""
    used = splits.edge >= 0
    edge = np.where(used, splits.edge, 0)
    chain = _gather(splits, np.ones(len(old)))[edge]
    spare = np.maximum(old - lower, 0.0)
    total = _gather(splits, spare)[edge]
    share = np.where(total > 0, spare / np.where(total > 0, total, 1.0), 1.0 / np.maximum(chain, 1.0))
    new = np.where(chain == 1, found[edge], lower + share * np.maximum(found[edge] - chain * lower, 0.0))
    # What has not changed keeps its bits, unless a part of the chain was too short.
    changed = (found != given) | (_gather(splits, (old < lower).astype(np.float64)) > 0)
    return np.where(used & changed[edge], new, np.maximum(old, lower))


class _Task(NamedTuple):
    number: int
    rows: NDArray[np.int64]
    start: int


class Pairs:
    """The pairs of points that an objective adds up: all, or those of sampled rows with all other points.

    Points are numbered as in `splits`. Distances are kept if there is room for them and asked for again at every pass
    otherwise. They are measured in `unit`, a power of two near the largest, so that squares neither overflow nor
    vanish. Factors u = 1 / d^(power / 2) weight the errors of the pairs; u = 0 leaves a pair at distance 0 out.
    """

    def __init__(
        self, splits: Splits, metric: Metric, sample: NDArray[np.int64] | None, power: float, workers: Workers
    ) -> None:
        self.splits, self.metric, self.power, self.workers = splits, metric, power, workers
        self.n = n = len(splits.points)
        self.upper = sample is None
        if sample is None:
            rows = np.arange(n)
            self.tasks = [_Task(k, rows[part], part.start) for k, part in enumerate(triangle_slices(n))]
            self.count, self.scale = n * (n - 1) // 2, 1.0
        else:
            rows = np.flatnonzero(np.isin(splits.points, sample))
            self.tasks = [_Task(k, rows[part], 0) for k, part in enumerate(row_slices(len(rows), n))]
            # The expected number of times that a pair is met, from either end, is 2 rows / n.
            self.count, self.scale = len(rows) * (n - 1), n / (2 * len(rows))
        self.below = (splits.last - splits.first).astype(np.int64)
        self.sampled_below = np.searchsorted(rows, splits.last) - np.searchsorted(rows, splits.first)
        self.radius = float(checked_block(metric, splits.points[:1], splits.points).max()) or 1.0
        self.unit = math.ldexp(1.0, math.frexp(self.radius)[1])
        self._distances: dict[int, Vector] = {}
        self._factors: dict[int, Vector] = {}
        self._keep = self.count * (16 if power else 8) < available_memory() // 2

    def with_power(self, power: float) -> "Pairs":
        """The same pairs with other factors; the distances are shared."""
        other = copy.copy(self)
        other.power, other._factors = power, {}
        return other

    def cut_sums(self, length: Vector) -> Vector:
        """Sum of path lengths over the paths through each edge, without factors. O(N)."""
        out = np.empty(len(length))
        cut_sums(self.splits.up, self.below, self.sampled_below, length, out)
        return (0.5 if self.upper else self.scale) * out

    def crossing(self) -> Vector:
        """Number of paths through each edge."""
        s, t, n, r = self.below, self.sampled_below, self.n, self.sampled_below[0]
        return (0.5 if self.upper else self.scale) * (t * (n - s) + s * (r - t))

    def sums(self, what: int, length: Vector, eps: float = 0.0) -> tuple[float, Vector]:
        """Sum of values over the pairs, and the sums of their derivatives over the paths through each edge."""
        splits, depth = self.splits, length.copy()
        depth[0] = 0.0
        add_down(splits.up, depth)
        tree = splits.up, splits.first, splits.last, splits.node, depth, depth[splits.node]

        def work(task: _Task) -> tuple[float, Vector, Vector]:
            at_point, at_node = np.zeros(self.n - task.start), np.zeros(len(depth))
            block = task.rows, task.start, self.upper, *self._read(task)
            return row_sums(what, eps, *tree, *block, at_point, at_node), at_point, at_node

        self.workers.check()
        value, ends, sums = 0.0, np.zeros(self.n), np.zeros(len(depth))
        for task, (part, at_point, at_node) in zip(self.tasks, self.workers.map(work, self.tasks), strict=True):
            value += part
            ends[task.start :] += at_point
            sums += at_node
        sums[splits.node] += ends
        add_up(splits.up, sums)
        sums[0] = 0.0
        return self.scale * value, self.scale * sums

    def _read(self, task: _Task) -> tuple[Vector, Vector]:
        distance, factor = self._distances.get(task.number), self._factors.get(task.number)
        if distance is None:
            points = self.splits.points
            distance = checked_block(self.metric, points[task.rows], points[task.start :]) / self.unit
            if self._keep:
                self._distances[task.number] = distance
        if not self.power:
            return distance, np.ones_like(distance)
        if factor is None:
            factor = np.zeros_like(distance)
            np.power(distance, -self.power / 2, out=factor, where=distance > _NOTHING)
            if self._keep:
                self._factors[task.number] = factor
        return distance, factor


class _Optimum(NamedTuple):
    length: Vector
    value: float
    start: float
    residual: float
    iterations: int


class _Quadratic:
    """1/2 |U (A w - d)|^2: products with its matrix H = A^T U^2 A, and approximate solutions of H w = b."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        whole = (pairs.below * (pairs.n - pairs.below)).astype(np.float64)
        length = np.zeros(len(whole))
        self.diagonal = pairs.sums(FACTORS, length)[1] if pairs.power else pairs.crossing()
        # Edges that no pair measures keep their lengths.
        self.measured = self.diagonal > 0
        self.measured[0] = False
        self.diagonal = np.where(self.measured, self.diagonal, 1.0)
        # The matrix of U = 1, stretched to the right diagonal.
        self._stretch = np.where(self.measured, np.sqrt(whole / self.diagonal), 1.0)

    def product(self, length: Vector) -> Vector:
        """H w: O(N) for U = 1, otherwise a pass over the pairs."""
        return self.pairs.sums(PRODUCT, length)[1] if self.pairs.power else self.pairs.cut_sums(length)

    def precondition(self, free: NDArray[np.bool_], right: Vector) -> Vector:
        """Solve H w = b among the free edges: exactly for U = 1 and all pairs, otherwise about. O(N).

        With sampled rows by the diagonal alone: the shape of the tree would tell edges apart that the sample does not,
        and steps would fit its noise (20,000 points, 256 rows: the objective of other rows rose by half).
        """
        if not self.pairs.upper:
            return np.where(free, right / self.diagonal, 0.0)
        out = np.empty(len(right))
        solve_cuts(self.pairs.splits.up, self.pairs.below, free, self._stretch * right, out)
        return self._stretch * out

    def residual(self, length: Vector, gradient: Vector, floor: Vector) -> float:
        """How far an edge would move by itself, at most: 0 at the minimum, and only there."""
        moved = np.maximum(floor, length - gradient / self.diagonal) - length
        return float(np.abs(moved[self.measured]).max(initial=0.0)) * self.pairs.unit / self.pairs.radius


def _least_squares(pairs: Pairs, given: Vector, floor: Vector, tol: float, deadline: float) -> _Optimum:
    problem = _Quadratic(pairs)
    raised, steps = np.maximum(given, floor), 0
    value, gradient = pairs.sums(SQUARES, raised)
    start = pairs.sums(SQUARES, given)[0] if (raised != given).any() else value
    best = raised, value, problem.residual(raised, gradient, floor)
    # Steps that are exact cost little: go on to the last digits, which long paths need.
    goal = _LAST_DIGITS * tol if pairs.power == 0 and pairs.upper else tol
    # Steps only update the gradient, and its rounding errors add up: look at the distances again and go on from there.
    for _ in range(3 if pairs.upper else 1):
        if best[2] <= goal or time.monotonic() > deadline:
            break
        length, more = _descend(problem, best[0], gradient, best[1], floor, goal, deadline)
        steps += more
        value, gradient = pairs.sums(SQUARES, length)
        if value > best[1]:
            break
        best = length, value, problem.residual(length, gradient, floor)
    # Lengths are in units of `unit`, and the factors in their power.
    with np.errstate(over="ignore"):
        size = np.float64(pairs.unit) ** (2.0 - pairs.power)
        return _Optimum(best[0], float(best[1] * size), float(start * size), best[2], steps)


def _descend(
    problem: _Quadratic,
    length: Vector,
    gradient: Vector,
    value: float,
    floor: Vector,
    tol: float,
    deadline: float,
) -> tuple[Vector, int]:
    """Projected Newton steps until the residual is below tol; every step lowers the objective."""
    least = 0.0 if problem.pairs.upper else _SAMPLED_PROGRESS
    for steps in range(_STEPS):
        if problem.residual(length, gradient, floor) <= tol / 2 or time.monotonic() > deadline:
            return length, steps
        free = problem.measured & ((length > floor) | (gradient < 0))
        newton = _conjugate_gradients(problem, free, -gradient, deadline)
        step, image = _search(problem, length, gradient, floor, newton, 12)
        if not step.any():
            # Many edges may lie just above the floor: then the plain gradient leads there.
            plain = np.where(problem.measured, -gradient / problem.diagonal, 0.0)
            step, image = _search(problem, length, gradient, floor, plain, 60)
        if not step.any():
            return length, steps
        # The objective is |U (A w - d)|^2 = 2 f.
        gain = -float((2 * gradient + image) @ step)
        length, gradient, value = np.maximum(floor, length + step), gradient + image, value - gain
        if gain <= least * value:
            return length, steps + 1
    return length, _STEPS


def _search(
    problem: _Quadratic, length: Vector, gradient: Vector, floor: Vector, way: Vector, halvings: int
) -> tuple[Vector, Vector]:
    """The first of the projected steps 1, 1/2, 1/4, ... that lowers the objective enough, and H times it; or zeros."""
    for _ in range(halvings):
        step = np.where(problem.measured, np.maximum(floor, length + way) - length, 0.0)
        image = problem.product(step)
        expected = float(gradient @ step)
        # f(w + s) - f(w) = g s + s H s / 2
        if expected < 0 and expected + float(step @ image) / 2 <= 1e-4 * expected:
            return step, image
        way = way / 2
    return np.zeros(len(length)), np.zeros(len(length))


def _conjugate_gradients(problem: _Quadratic, free: NDArray[np.bool_], right: Vector, deadline: float) -> Vector:
    """Solve H w = b among the free edges until the error has shrunk to _ACCURACY of itself."""
    found, rest = np.zeros(len(right)), np.where(free, right, 0.0)
    step = problem.precondition(free, rest)
    size = first = float(rest @ step)
    for _ in range(_CONJUGATE_STEPS if problem.pairs.upper else _SAMPLED_CONJUGATE_STEPS):
        if not size > _ACCURACY**2 * first or time.monotonic() > deadline:
            break
        image = np.where(free, problem.product(step), 0.0)
        curvature = float(step @ image)
        if not curvature > 0:  # a direction that the sample does not see
            break
        found += (size / curvature) * step
        rest -= (size / curvature) * image
        better = problem.precondition(free, rest)
        size, before = float(rest @ better), size
        step = better + (size / before) * step
    return found


def _least_distortion(pairs: Pairs, given: Vector, floor: Vector, tol: float, deadline: float) -> _Optimum:
    problem = _Quadratic(pairs)
    count = max(pairs.sums(FACTORS, given)[0], 1.0)
    # By Cauchy and Schwarz no sum of derivatives u q / sqrt(q^2 + eps^2) over the paths through an edge is larger.
    largest = np.sqrt(np.maximum(pairs.crossing(), 1.0) * problem.diagonal)

    def residual(length: Vector, gradient: Vector) -> float:
        held = (length <= floor) & (gradient > 0)
        return float(np.abs(np.where(held, 0.0, gradient) / largest)[problem.measured].max(initial=0.0))

    start = pairs.sums(SMOOTH, given, SMOOTHING)[0]
    raised = np.maximum(given, floor)
    # Ordinary least squares cost next to nothing and often begin nearer.
    squares = _least_squares(pairs.with_power(0.0), raised, floor, 1e-6, deadline).length
    ends = [(*pairs.sums(SMOOTH, length, SMOOTHING), length) for length in (raised, squares)]
    best = min(ends, key=lambda end: end[0])
    length, steps = best[2], 0
    for eps, most in _APPROACH:
        if residual(best[2], best[1]) <= tol:
            break
        length, more = _quasi_newton(pairs, problem, length, floor, eps, most, deadline)
        steps += more
        end = (*pairs.sums(SMOOTH, length, SMOOTHING), length)
        best = min(best, end, key=lambda end: end[0])
    return _Optimum(best[2], best[0] / count, start / count, residual(best[2], best[1]), steps)


def _quasi_newton(
    pairs: Pairs, problem: _Quadratic, length: Vector, floor: Vector, eps: float, most: int, deadline: float
) -> tuple[Vector, int]:
    """Projected limited-memory BFGS steps on the smoothed distortion (Nocedal, Math. Comput. 35, 1980)."""
    value, gradient = pairs.sums(SMOOTH, length, eps)
    memory: list[tuple[Vector, Vector]] = []
    trace = [value]
    for steps in range(most):
        if time.monotonic() > deadline or (steps >= _PATIENCE and trace[-_PATIENCE] - value <= _PROGRESS * value):
            return length, steps
        free = problem.measured & ((length > floor) | (gradient < 0))
        way = _two_loops(memory, np.where(free, -gradient, 0.0), free, problem.diagonal)
        for _ in range(40):
            step = np.where(free, np.maximum(floor, length + way) - length, 0.0)
            after, slope = pairs.sums(SMOOTH, length + step, eps)
            if after < value and after <= value + 1e-4 * float(gradient @ step):
                break
            way = way / 2
        else:
            return length, steps
        memory = [*memory[1 - _MEMORY :], (step, slope - gradient)]
        length, value, gradient = length + step, after, slope
        trace.append(value)
    return length, most


def _two_loops(memory: list[tuple[Vector, Vector]], way: Vector, free: NDArray[np.bool_], diagonal: Vector) -> Vector:
    """Nocedal's recursion among the free edges: the steepest descent `way`, turned by what past steps have shown."""
    used: list[tuple[Vector, Vector, float, float]] = []
    for step, change in reversed(memory):
        s, y = np.where(free, step, 0.0), np.where(free, change, 0.0)
        product = float(s @ y)
        if product > 1e-14 * math.sqrt(float(s @ s) * float(y @ y)):
            share = float(s @ way) / product
            way = way - share * y
            used.append((s, y, product, share))
    scale = used[0][2] / float(used[0][1] @ (used[0][1] / diagonal)) if used else 1.0
    way = scale * way / diagonal
    for s, y, product, share in reversed(used):
        way = way + (share - float(y @ way) / product) * s
    return way


def _heuristic(tree: Tree, metric: Metric, splits: Splits, lower: float, rng: Any) -> WeightFit:
    """The weights of the paper's experiments: as many random pairs as points, and a fixed number of small steps."""
    generator = np.random.default_rng(rng)
    n = len(tree)
    i = generator.integers(n, size=n)
    j = (i + generator.integers(1, n, size=n)) % n
    truth = metric.pairs(splits.points[i], splits.points[j])
    a, b = splits.node[i], splits.node[j]
    top = common_ancestors(splits.up, a, b)
    given, floor = (_gather(splits, w) for w in (tree.weights, np.full(len(tree.edges), lower)))

    def path_sums(values: Vector) -> Vector:
        ends = np.concatenate([a, b, top, top])
        signed = np.concatenate([values, values, -values, -values])
        sums: Vector = np.bincount(ends, signed, minlength=len(splits.up)).astype(np.float64)
        add_up(splits.up, sums)
        sums[0] = 0.0
        return sums

    def errors(length: Vector) -> Vector:
        depth = length.copy()
        add_down(splits.up, depth)
        return depth[a] + depth[b] - 2 * depth[top] - truth

    raised = length = np.maximum(given, floor)
    for _ in range(_HEURISTIC_STEPS):
        # d/dw |A w - d|^2 = 2 A^T (A w - d)
        length = np.maximum(floor, length - _HEURISTIC_RATE * 2 * path_sums(errors(length)))
    start, before, value = (float(np.square(errors(x)).sum()) for x in (given, raised, length))
    if not value < before:  # the steps were too large for these distances
        length, value = raised, before
    moved = np.maximum(floor, length - path_sums(errors(length)) / np.maximum(path_sums(np.ones(n)), 1.0)) - length
    residual = float(np.abs(moved[1:]).max() / (truth.max() or 1.0))
    weights = _distribute(splits, tree.weights, length, given, lower)
    return WeightFit(tree.with_weights(weights), value, start, residual, _HEURISTIC_STEPS, n, False)
