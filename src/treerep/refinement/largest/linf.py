"""Trees with a small largest error: the best of rooted trees, improved by moves.

1. For every root, the *root error* is the least largest error of the trees that keep all distances
   from the root. The roots with the least errors are kept, with their trees.
2. *Moves* lower a smooth version of the largest error, which becomes sharper from sweep to sweep.
"""

import math
import time
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_flag, check_time_limit
from ..._core.parallel import Workers
from ..._core.progress import ProgressBar, progress_bar
from ...fitting._distances import dense_matrix, rounding_of
from ...fitting._finished_tree import finished_tree
from ...fitting.rooted.root_restricted import root_restricted_tree
from ...metric.base import Metric
from ...scores.largest_error import choose_roots, root_errors
from ...tree.structure.rooted import edges_of
from ...tree.tree import Tree
from ..moves.search import Arrays, binary_edges, binary_preorder
from ._soft_move_kernels import Errors, new_workspace, soften

# The rate b of the objective is this number divided by the largest error. It grows from sweep to
# sweep. Larger numbers overflow.
_SHARPNESS = np.geomspace(30.0, 200.0, 40)
# Number of trees that are moved: several up to this many points.
_STARTS = 4
_SEVERAL_STARTS = 2000
# Steps between two checks for the deadline and for interrupts: a few hundredths of a second.
_BUDGET = 4_000_000


class _Result(NamedTuple):
    error: float  # largest error
    tree: Tree


def linf(
    metric: Metric,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    moves: bool = True,
    time_limit: float | None = None,
) -> Tree:
    """Fit a tree with a small largest absolute error.

    This error is `distance_error(tree, data, norm="linf")`. The method starts from the best of the
    trees that keep all distances from one point, and moves points and subtrees.

    Parameters
    ----------
    moves : bool
        Whether to move points and subtrees. Without moves, the distances from one point, the root,
        are kept exactly.
    time_limit : float, optional
        Seconds after which the moves stop. Without a limit, the result depends on the seed only.

    See Also
    --------
    fit : Fit a tree by any method.
    distance_error : The largest error with `norm="linf"`.
    methods.gromov : Another tree with a root.

    Notes
    -----
    If the triangle inequality holds, the error is at most three times that of the best tree, with
    and without moves (Agarwala et al., SIAM J. Comput. 28, 1998). Moves never raise the error. On
    tree metrics the method is exact.

    Up to 2,000 points, all points are used as roots, in O(n^3) time. For more points, 8 * 10^9 /
    n^2 roots are drawn, but at least 8. From each of the best four roots (above 2,000 points: from
    the best root), 40 sweeps move every subtree to its best place. A sweep takes O(n^2) time per
    level of the tree. The matrices take 32 n^2 bytes for each thread.

    Examples
    --------
    A square. The star with edges of length 3/4 is the best tree:

    >>> import treerep as tr
    >>> square = [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    >>> tree = tr.fit(square, method="linf")
    >>> round(float(tr.distance_error(tree, square, norm="linf")), 2)
    0.5
    """
    check_flag("moves", moves)
    check_time_limit(time_limit)
    matrix = dense_matrix(metric, "linf", matrices=4.0, n_jobs=n_jobs)
    starts = _root_trees(metric, matrix, rng, n_jobs)
    exact = rounding_of(metric, float(matrix.max()))
    if not moves or starts[0].error <= exact or len(metric) < 3:
        return starts[0].tree
    search = _Search(metric, matrix, exact, time_limit)
    return search.best(starts, rng, n_jobs)


def _root_trees(
    metric: Metric, matrix: NDArray[np.float64], rng: np.random.Generator, n_jobs: int | None
) -> list[_Result]:
    """Return the trees of the best roots, the best first."""
    n = len(metric)
    exact = rounding_of(metric, float(matrix.max()))
    roots = choose_roots(n, rng)
    errors = root_errors(matrix, roots[:1], 1)
    if errors[0] <= exact:
        return [_Result(0.0, root_restricted_tree(metric, matrix, roots[0], 0.0))]
    errors = root_errors(matrix, roots, n_jobs)
    best = np.argsort(errors, kind="stable")[: _STARTS if n <= _SEVERAL_STARTS else 1]
    found = []
    for k in best:
        tree = root_restricted_tree(metric, matrix, roots[k], errors[k])
        # Different from errors[k] only if the triangle inequality is violated.
        found.append(_Result(_largest_error(tree, matrix), tree))
    return sorted(found, key=_error_of)


def _error_of(result: _Result) -> float:
    return result.error


def _largest_error(tree: Tree, matrix: NDArray[np.float64]) -> float:
    return float(np.abs(tree.distances() - matrix).max())


class _Search:
    """The search for moves. Distances are in a unit that keeps their squares in range."""

    def __init__(
        self,
        metric: Metric,
        matrix: NDArray[np.float64],
        exact: float,
        time_limit: float | None,
    ) -> None:
        self.metric = metric
        self.unit = math.ldexp(1.0, math.frexp(float(matrix.max()))[1])
        self.matrix = matrix / self.unit
        self.exact = exact / self.unit
        self.deadline = math.inf if time_limit is None else time.monotonic() + time_limit

    def best(self, starts: list[_Result], rng: np.random.Generator, n_jobs: int | None) -> Tree:
        """Move the subtrees of every start. Return the best tree, or the first of equal trees."""
        tasks = list(zip(starts, rng.spawn(len(starts)), strict=True))
        total = len(tasks) * len(_SHARPNESS)
        with progress_bar(total, "moves", "sweeps") as bar, Workers(n_jobs) as workers:
            found = list(workers.map(partial(self._improved, workers=workers, bar=bar), tasks))
        return min([*starts, *found], key=_error_of).tree

    def _improved(
        self, task: tuple[_Result, np.random.Generator], workers: Workers, bar: ProgressBar
    ) -> _Result:
        """Return the best tree of all sweeps from one start, or the start itself."""
        start, generator = task
        edges, lengths = binary_edges(start.tree.contracted())
        arrays = edges, lengths / self.unit
        errors = self._errors(arrays)
        best = start.error / self.unit
        found = None
        for sharpness in _SHARPNESS:
            largest = float(np.abs(errors).max())
            if largest <= self.exact or self._expired():
                break
            arrays = self._swept(arrays, errors, sharpness / largest, generator, workers)
            errors = self._errors(arrays)
            largest = float(np.abs(errors).max())
            if largest < best:
                best = largest
                found = arrays
            bar.update()
        return start if found is None else _Result(best * self.unit, self._tree(found))

    def _expired(self) -> bool:
        return time.monotonic() >= self.deadline

    def _errors(self, arrays: Arrays) -> NDArray[np.float64]:
        errors: NDArray[np.float64] = Tree(len(self.metric), *arrays).distances()
        errors -= self.matrix
        return errors

    def _swept(
        self,
        arrays: Arrays,
        errors: NDArray[np.float64],
        rate: float,
        generator: np.random.Generator,
        workers: Workers,
    ) -> Arrays:
        """Move every subtree once, in random order, and return the new edges and lengths."""
        n = len(self.metric)
        reach = 2.0 * float(np.abs(errors).max())
        state = Errors(np.exp(rate * errors), rate, reach)
        workspace = new_workspace(n)
        nodes = generator.permutation(2 * n - 2)
        # The root is a point and cannot move in this sweep.
        tree = binary_preorder(*arrays, int(generator.integers(n)))
        done = 0
        while done < len(nodes) and not self._expired():
            done = soften(tree, state, workspace, nodes, done, _BUDGET)
            workers.check()
        return edges_of(tree)

    def _tree(self, arrays: Arrays) -> Tree:
        edges, lengths = arrays
        return finished_tree(self.metric, edges, lengths * self.unit).contracted()
