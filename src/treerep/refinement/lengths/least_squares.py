"""Ordinary or weighted least squares by a projected Newton method.

This is the method of Bertsekas (SIAM J. Control Optim. 20, 1982). Let A be the path matrix,
with a row per pair of points and a column per edge, so that the tree distances are A w. We
minimize |U (A w - d)|^2 over w >= 0, where U is diagonal. A is never formed:

- The gradient A^T U^2 (A w - d) takes one pass over the pairs (`path_sum_kernels.row_sums`).
- For U = 1, the product A^T A w takes O(N) (`cut_sums`). Solving A^T A w = b also takes O(N),
  even with fixed edges (`solve_cuts`). Such a solution is due to Bryant and Waddell (Rapid
  evaluation of least-squares and minimum-evolution criteria on phylogenetic trees, Mol. Biol.
  Evol. 15, 1998).
- For other U, this solution is a preconditioner that follows the shape of the tree.

Steps are therefore exact for U = 1 and need few conjugate gradient iterations otherwise, even
on long paths.
"""

import time

import numpy as np
from numpy.typing import NDArray

from ._descent_kernels import dot
from ._pairs import Optimum, PathSums
from ._path_sum_kernels import FACTORS, SQUARES
from ._principal_pivoting import principal_pivoting
from ._splits import Vector

_STEPS = 1000
#: Above this number of points many steps are needed, and guessing which edges are free is faster.
#: For fewer points, guessing would save only hundredths of a second, and stored results depend on
#: the last digits of the steps.
_MANY_POINTS = 10_000
_CONJUGATE_STEPS = 500
#: A Newton step is accurate enough when conjugate gradients have reduced its error to this
#: fraction (measured).
_ACCURACY = 0.1
_LAST_DIGITS = 1e-6
#: A sample barely determines many of the edges, and its noise should not be fitted. So stop
#: when a step lowers the objective by less than this fraction, and limit the conjugate
#: gradients.
_SAMPLED_PROGRESS = 1e-3
_SAMPLED_CONJUGATE_STEPS = 30


class Quadratic:
    """The function 1/2 |U (A w - d)|^2 of the lengths w.

    Provides products with H = A^T U^2 A and approximate solutions of H w = b.
    """

    def __init__(self, pairs: PathSums, held: NDArray[np.bool_] | None = None) -> None:
        self.pairs = pairs
        whole = (pairs.below * (pairs.n - pairs.below)).astype(np.float64)
        length = np.zeros(len(whole))
        self.diagonal = pairs.sums(FACTORS, length)[1] if pairs.weighted else pairs.crossing()
        # |U d|^2, the reference for an edge's fraction of the objective.
        self.size = pairs.sums(SQUARES, length)[0] if pairs.weighted else 0.0
        # Edges that are on no path of a pair keep their lengths.
        self.measured = self.diagonal > 0
        self.measured[0] = False
        if held is not None:
            self.measured &= ~held
        self.diagonal = np.where(self.measured, self.diagonal, 1.0)
        # The matrix for U = 1, rescaled to the diagonal of H.
        self._stretch = np.where(self.measured, np.sqrt(whole / self.diagonal), 1.0)

    def product(self, length: Vector) -> Vector:
        """Return H w. O(N) for U = 1, otherwise a pass over the pairs."""
        return self.pairs.product(length)

    def precondition(self, free: NDArray[np.bool_], right: Vector) -> Vector:
        """Solve H w = b among the free edges. O(N).

        The solution is exact for U = 1 and all pairs, and approximate otherwise. With sampled
        rows, only the diagonal of H is used. A preconditioner shaped like the tree would
        separate edges that the sample does not, and steps would fit noise. (With 20,000 points
        and 256 rows, the objective on other rows rose by half.)
        """
        if not self.pairs.upper:
            return np.where(free, right / self.diagonal, 0.0)
        return self._stretch * self.pairs.solve(free, self._stretch * right)

    def residual(self, length: Vector, gradient: Vector) -> float:
        """Return the largest amount by which a single edge would change, 0 only at the minimum.

        For U = 1, the residual is a fraction of the largest distance. With factors, it is the
        resulting change of U A w, as a fraction of |U d|, so that edges among short distances count
        as much as edges among long distances.
        """
        moved = (np.maximum(0.0, length - gradient / self.diagonal) - length)[self.measured]
        if self.size > 0:
            factor = np.sqrt(self.diagonal[self.measured] / self.size)
            return float(np.abs(moved * factor).max(initial=0.0))
        return float(np.abs(moved).max(initial=0.0)) * self.pairs.unit / self.pairs.radius


def least_squares(
    pairs: PathSums,
    given: Vector,
    tol: float,
    deadline: float,
    held: NDArray[np.bool_] | None = None,
) -> Optimum:
    """Find the lengths with the least weighted squares that are not negative.

    Edges that are `held` keep their lengths.
    """
    problem = Quadratic(pairs, held)
    steps = 0
    value, gradient = pairs.sums(SQUARES, given)
    start = value
    best = given, value, problem.residual(given, gradient)
    ordinary = pairs.upper and not pairs.weighted
    # Exact steps are cheap, so continue to the last digits, which long paths need.
    goal = _LAST_DIGITS * tol if ordinary else tol
    if ordinary and pairs.n > _MANY_POINTS:
        found = principal_pivoting(problem, given, gradient)
        at_found = None if found is None else pairs.sums(SQUARES, found)
        if found is not None and at_found is not None and at_found[0] <= best[1]:
            value, gradient = at_found
            best = (found, value, problem.residual(found, gradient))
            goal = tol
    # Steps only update the gradient, so its rounding errors accumulate. Recompute it from the
    # distances and continue.
    for _ in range(3 if pairs.upper else 1):
        if best[2] <= goal or time.monotonic() > deadline:
            break
        length, more = _descend(problem, best[0], gradient, best[1], goal, deadline)
        steps += more
        value, gradient = pairs.sums(SQUARES, length)
        if value > best[1]:
            break
        best = length, value, problem.residual(length, gradient)
    # Lengths are in units of `unit`, and the factors in the corresponding power of `unit`.
    with np.errstate(over="ignore"):
        size = np.float64(pairs.unit) ** (2.0 - pairs.power)
        return Optimum(best[0], float(best[1] * size), float(start * size), best[2], steps)


def _descend(
    problem: Quadratic,
    length: Vector,
    gradient: Vector,
    value: float,
    tol: float,
    deadline: float,
) -> tuple[Vector, int]:
    """Take projected Newton steps until the residual is below tol.

    Every step lowers the objective.
    """
    least = 0.0 if problem.pairs.upper else _SAMPLED_PROGRESS
    for steps in range(_STEPS):
        if problem.residual(length, gradient) <= tol / 2 or time.monotonic() > deadline:
            return length, steps
        free = problem.measured & ((length > 0) | (gradient < 0))
        newton = _conjugate_gradients(problem, free, -gradient, deadline)
        step, image = _search(problem, length, gradient, newton, 12)
        if not step.any() and problem.size > 0:
            step, image = _step_to_zero(problem, length, gradient, free, newton, deadline)
        if not step.any():
            # If many edges are just above 0, the plain gradient leads there.
            plain = np.where(problem.measured, -gradient / problem.diagonal, 0.0)
            step, image = _search(problem, length, gradient, plain, 60)
        if not step.any():
            return length, steps
        # The objective is |U (A w - d)|^2 = 2 f.
        gain = -dot(2 * gradient + image, step)
        length = np.maximum(0.0, length + step)
        gradient = gradient + image
        value = value - gain
        if gain <= least * value:
            return length, steps + 1
    return length, _STEPS


def _search(
    problem: Quadratic,
    length: Vector,
    gradient: Vector,
    way: Vector,
    halvings: int,
) -> tuple[Vector, Vector]:
    """Return the first projected step that lowers the objective enough, and H times it.

    The step lengths tried are 1, 1/2, 1/4, ... Returns zeros if no step length succeeds.
    """
    for _ in range(halvings):
        step = np.where(problem.measured, np.maximum(0.0, length + way) - length, 0.0)
        image = problem.product(step)
        expected = dot(gradient, step)
        # f(w + s) - f(w) = g s + s H s / 2
        if expected < 0 and expected + dot(step, image) / 2 <= 1e-4 * expected:
            return step, image
        way = way / 2
    return np.zeros(len(length)), np.zeros(len(length))


def _step_to_zero(
    problem: Quadratic,
    length: Vector,
    gradient: Vector,
    free: NDArray[np.bool_],
    newton: Vector,
    deadline: float,
) -> tuple[Vector, Vector]:
    """Return a Newton step until the first edge reaches 0, and H times it.

    The projection of a full step cuts off short edges among long edges, and may fail to lower the
    objective. A straight step always lowers the objective, if edges at 0 that would
    decrease are held fixed (Lawson and Hanson, Solving least squares problems, 1974).
    """
    while not time.monotonic() > deadline:
        held = free & (length <= 0) & (newton < 0)
        if not held.any():
            break
        free = free & ~held
        newton = _conjugate_gradients(problem, free, -gradient, deadline)
    falling = free & (newton < 0)
    reach = np.full(len(length), np.inf)
    reach[falling] = length[falling] / -newton[falling]
    share = min(1.0, float(reach.min()))
    step = np.where(free, share * newton, 0.0)
    step[reach <= share] = -length[reach <= share]
    image = problem.product(step)
    if dot(gradient, step) + dot(step, image) / 2 < 0:
        return step, image
    return np.zeros(len(length)), np.zeros(len(length))


def _conjugate_gradients(
    problem: Quadratic, free: NDArray[np.bool_], right: Vector, deadline: float
) -> Vector:
    """Solve H w = b among the free edges until the error is reduced to the fraction _ACCURACY."""
    found = np.zeros(len(right))
    rest = np.where(free, right, 0.0)
    step = problem.precondition(free, rest)
    size = first = dot(rest, step)
    for _ in range(_CONJUGATE_STEPS if problem.pairs.upper else _SAMPLED_CONJUGATE_STEPS):
        if not size > _ACCURACY**2 * first or time.monotonic() > deadline:
            break
        image = np.where(free, problem.product(step), 0.0)
        curvature = dot(step, image)
        if not curvature > 0:  # a direction that the sample does not determine
            break
        found += (size / curvature) * step
        rest -= (size / curvature) * image
        better = problem.precondition(free, rest)
        size, before = dot(rest, better), size
        step = better + (size / before) * step
    return found
