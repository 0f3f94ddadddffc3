"""Weights with the least average distortion, or the best balance of distances and neighborhoods.

The relative error |q| of a pair is smoothed to sqrt(q^2 + eps^2). Ranks are smoothed as well
(see `neighborhoods`). A projected limited-memory quasi-Newton method minimizes the sum while
the smoothing decreases in stages.
"""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._descent_kernels import dot, turn_way
from ._neighborhoods import Precision
from ._pairs import Optimum, PathSums
from ._path_sum_kernels import FACTORS, SMOOTH
from ._splits import Vector
from .least_squares import Quadratic, least_squares

#: Smoothing of the reported average distortion.
SMOOTHING = 1e-3
_MEMORY = 20

#: The objective and its gradient.
Objective = Callable[[Vector], tuple[float, Vector]]


class Stage(NamedTuple):
    """One stage of a search."""

    smoothing: float  # of errors
    width: float  # width of the rank steps, as a fraction of the distance of neighbors
    steps: int  # the largest number of steps


class Plan(NamedTuple):
    """The stages of a search.

    A stage ends when `patience` steps together gain less than the fraction `progress`.
    """

    stages: tuple[Stage, ...]
    patience: int
    progress: float


_DISTANCES = Plan(
    (
        Stage(3e-2, 0.0, 50),
        Stage(1e-2, 0.0, 50),
        Stage(3e-3, 0.0, 75),
        Stage(SMOOTHING, 0.0, 1000),
    ),
    25,
    1e-5,
)
_BALANCED = Plan((Stage(3e-2, 0.35, 100), Stage(1e-2, 0.1, 100), Stage(3e-3, 0.035, 60)), 25, 1e-5)
# Further stages mostly fit the noise of the sampled rows. Example (100,000 cells, 256 rows): on
# other rows the distortion is 0.0622 after one stage of 19 steps and 0.0621 after four stages
# of 64 steps. Doubling the rows gives 0.0615.
_SAMPLED = Plan((Stage(1e-2, 0.0, 50),), 5, 3e-3)
_SAMPLED_BALANCED = _BALANCED._replace(patience=10, progress=1e-3)

#: After `COARSE`, which fits the other edges while those of small clades are held. From this start, few
#: steps are enough. Example (20,000 cells, 256 rows): the tree keeps 21.2% of the neighbors at a
#: distortion of .0734 after 15 steps, and 21.6% at .0733 after 155 steps from least squares. On
#: seven of the sets of `benchmarks near`, 45 steps keep .6% more than 20, at a smaller distortion.
NEARBY = Plan((Stage(1e-2, 0.035, 45),), 15, 5e-4)
COARSE = _SAMPLED


class Balance(NamedTuple):
    """The weight of neighborhoods relative to distances.

    The objective is a weighted sum of logarithms:

    (1 - share) log(distortion + 0.001) + share log(1 - mean average precision + 0.001)

    At share 1/2, reducing the distortion by 1% counts as much as reducing the lost precision by
    1%.
    """

    share: float
    near: Precision


#: Added to the arguments of logarithms to keep them finite.
_LITTLE = 1e-3


def stated_objective(distortion: float, loss: float, share: float) -> float:
    """Return the objective for a distortion and a loss of precision: see `Balance`.

    If share is 0, the objective is the distortion itself.
    """
    if share == 0:
        return distortion
    return (1 - share) * math.log(distortion + _LITTLE) + share * math.log(loss + _LITTLE)


def least_distortion(
    pairs: PathSums,
    given: Vector,
    tol: float,
    deadline: float,
    balance: Balance | None = None,
    squares_first: bool = True,
    plan: Plan | None = None,
    held: NDArray[np.bool_] | None = None,
) -> Optimum:
    """Find the lengths with the least average distortion, or the best balance with neighborhoods.

    Edges that are `held` keep their lengths.
    """
    problem = Quadratic(pairs, held)
    count = max(pairs.sums(FACTORS, given)[0], 1.0)
    starts = [given]
    if squares_first:  # ordinary least squares is cheap and often a better start
        starts.append(least_squares(pairs.with_power(0.0), given, 1e-6, deadline, held).length)
    start = _stated(pairs, given, count, balance)
    best = min(((_stated(pairs, length, count, balance), length) for length in starts), key=_value)
    length = best[1]
    steps = 0
    seconds = 0.0
    plan = plan or _suitable_plan(pairs, balance)
    # The curvature of one stage is a good start for the next, which would otherwise begin by halving
    # a far too long step.
    memory = Memory(len(length))
    for stage in plan.stages:
        if time.monotonic() + seconds > deadline or _residual(problem, pairs, best[1]) <= tol:
            break
        objective = _objective(pairs, count, stage, balance)
        length, more, seconds = _quasi_newton(objective, problem, length, plan, stage.steps, memory, deadline)
        steps += more
        best = min(best, (_stated(pairs, length, count, balance), length), key=_value)
    return Optimum(best[1], best[0], start, _residual(problem, pairs, best[1]), steps)


def _suitable_plan(pairs: PathSums, balance: Balance | None) -> Plan:
    if balance is None:
        return _DISTANCES if pairs.upper else _SAMPLED
    return _BALANCED if pairs.upper else _SAMPLED_BALANCED


def _value(end: tuple[float, Vector]) -> float:
    return end[0]


def _stated(pairs: PathSums, length: Vector, count: float, balance: Balance | None) -> float:
    """Return the reported objective: exact ranks, and errors with very little smoothing."""
    distortion = pairs.sums(SMOOTH, length, SMOOTHING)[0] / count
    if balance is None:
        return distortion
    return stated_objective(distortion, balance.near.loss(length), balance.share)


def _objective(pairs: PathSums, count: float, stage: Stage, balance: Balance | None) -> Objective:
    """Return the smooth objective of a stage, times the number of pairs."""
    if balance is None:
        return lambda length: pairs.sums(SMOOTH, length, stage.smoothing)
    share, near = balance
    width = stage.width * near.near

    def both(length: Vector) -> tuple[float, Vector]:
        value, gradient = pairs.sums(SMOOTH, length, stage.smoothing)
        loss, slope = near.smooth_loss(length, width)
        distortion = value / count + _LITTLE
        loss = loss + _LITTLE
        # Shifted by a constant so that progress can be measured as a fraction of the value.
        sum_of_logs = (1 - share) * math.log(distortion) + share * math.log(loss) - 2 * math.log(_LITTLE)
        by_edge = (1 - share) / distortion * gradient + share / loss * count * slope
        return count * sum_of_logs, by_edge

    return both


def _residual(problem: Quadratic, pairs: PathSums, length: Vector) -> float:
    """Return the largest derivative of the distortion divided by its largest possible value.

    Edges of length 0 are ignored if only shorter lengths would lower the objective.
    """
    gradient = pairs.sums(SMOOTH, length, SMOOTHING)[1]
    # By the Cauchy-Schwarz inequality, this bounds the sum of the derivatives u q / sqrt(q^2 +
    # eps^2) over the paths through an edge.
    largest = np.sqrt(np.maximum(pairs.crossing(), 1.0) * problem.diagonal)
    held = (length <= 0) & (gradient > 0)
    return float(np.abs(np.where(held, 0.0, gradient) / largest)[problem.measured].max(initial=0.0))


class Memory:
    """The last steps of a search and the resulting changes of the gradient."""

    def __init__(self, size: int) -> None:
        self.steps = np.zeros((_MEMORY, size))
        self.changes = np.zeros((_MEMORY, size))
        self.newest = -1

    def add(self, step: Vector, change: Vector) -> None:
        """Store a step in place of the oldest step."""
        self.newest = (self.newest + 1) % _MEMORY
        self.steps[self.newest] = step
        self.changes[self.newest] = change

    def turned(self, way: Vector, free: NDArray[np.bool_], diagonal: Vector) -> Vector:
        """Return the quasi-Newton direction among the free edges.

        `way` is the steepest descent.
        """
        product = np.zeros(_MEMORY)
        share = np.zeros(_MEMORY)
        turn_way(self.steps, self.changes, self.newest, free, diagonal, way, product, share)
        return way


def _quasi_newton(
    objective: Objective,
    problem: Quadratic,
    length: Vector,
    plan: Plan,
    most: int,
    memory: Memory,
    deadline: float,
) -> tuple[Vector, int, float]:
    """Take projected limited-memory BFGS steps (Nocedal, Math. Comput. 35, 1980).

    Returns the lengths, the number of steps, and the seconds per evaluation of the objective.
    Ranking thousands of points takes more than a second, so a step is not started if it would
    end after the deadline.
    """
    begin = time.monotonic()
    value, gradient = objective(length)
    seconds = time.monotonic() - begin
    step_deadline = deadline - seconds
    trace = [value]
    _, patience, progress = plan
    for steps in range(most):
        if time.monotonic() > step_deadline or (
            steps >= patience and trace[-patience] - value <= progress * value
        ):
            return length, steps, seconds
        free = problem.measured & ((length > 0) | (gradient < 0))
        way = memory.turned(np.where(free, -gradient, 0.0), free, problem.diagonal)
        for _ in range(40):
            step = np.where(free, np.maximum(0.0, length + way) - length, 0.0)
            after, slope = objective(length + step)
            if after < value and after <= value + 1e-4 * dot(gradient, step):
                break
            way = way / 2
            if time.monotonic() > step_deadline:
                return length, steps, seconds
        else:
            return length, steps, seconds
        memory.add(step, slope - gradient)
        length = length + step
        value = after
        gradient = slope
        trace.append(value)
    return length, most, seconds
