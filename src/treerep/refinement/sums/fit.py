"""Sums of trees for any metric: `fit(data, trees=k)` and `refine` of a sum."""

import math
import time
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..._core.memory import check_memory
from ..._core.parallel import Workers
from ..._core.typing import RNGLike
from ...fitting._distances import checked_block
from ...fitting.joining.relaxed_neighbor_joining import relaxed_neighbor_joining
from ...metric._matching import after_matching
from ...metric.base import Metric
from ...metric.graph import GraphMetric
from ...metric.matrix import MatrixMetric
from ...scores.distortion import average_distortion
from ...scores.mean_average_precision import mean_average_precision
from ...tree.tree import Tree
from ...tree.tree_sum import TreeSum
from .._candidates import as_matrix, exact_distortion, neighborhoods
from .._clock import Clock
from ..backbone.build import auto
from ..lengths._pairs import ZERO_SHARE
from ..lengths.least_distortion import stated_objective
from .many_points import Sample, place_all
from .search import Matrix, SumSearch, grow
from .weights import fit_sum_weights

#: Up to this many points, all pairs are used, and trees are improved by moves.
ALL_PAIRS = 5000
#: Rounds of moves and lengths after each new tree, and at the end.
_ROUNDS = 2
_LAST_ROUNDS = 8
# More points are placed in the trees of a sample of this size.
_SAMPLE = 2000
_SAMPLE_TIME = 0.4
# Rounds of `refine`.
_REFINE_ROUNDS = 6
# Part of a limited time for the search of topologies. The rest is for the lengths.
_SEARCH_TIME = 0.6
# Matrices of n x n numbers during the search.
_MATRICES = 9
#: Default balance of distances (0) and neighborhoods (1).
BALANCE = 0.25


class SumRequest(NamedTuple):
    """The validated arguments of a fit or a refinement of a sum of trees."""

    metric: Metric
    trees: int
    balance: float | None = None  # None: BALANCE, or the default of `auto` for one tree
    weights: str = "l1"  # "l1", "l2", "relative_l2" or "none"
    time_limit: float | None = None
    rng: RNGLike = 0
    n_jobs: int | None = None

    @property
    def _near(self) -> float:
        return BALANCE if self.balance is None else self.balance

    @property
    def share(self) -> float:
        """Weight of neighborhoods in the objective: see `refine`."""
        if self.weights != "l1":
            return 0.0
        return min(2 * self._near / (3 - self._near), 0.95)

    @property
    def power(self) -> float:
        """Moves divide squared errors by d^power."""
        if self.weights == "l1":
            return min(2.0, 4 * self._near)
        return 2.0 if self.weights == "relative_l2" else 0.0


def fit_sum(
    metric: Metric,
    *,
    trees: int,
    balance: float | None = None,
    time_limit: float | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> TreeSum:
    """Fit a sum of trees. See `fit`."""
    request = SumRequest(metric, trees, balance, time_limit=time_limit, rng=rng, n_jobs=n_jobs)
    generator = np.random.default_rng(request.rng)
    if request.trees == 1 or len(metric) < 4:
        return TreeSum([_one_tree(request, generator)])
    with Workers(request.n_jobs) as workers:
        if len(metric) > ALL_PAIRS:
            return _many_points(request, generator, workers)
        return _few_points(request, generator, workers)


def _few_points(request: SumRequest, generator: np.random.Generator, workers: Workers) -> TreeSum:
    """Fit a sum of trees to all pairs. A tree metric gives one tree."""
    run = _Run(request, generator, workers)
    table = run.search.table
    first = relaxed_neighbor_joining(table, rng=generator)
    if average_distortion(first, table) <= exact_distortion(request.metric):
        return TreeSum([_one_tree(request, generator)])
    run.search.start([first])
    run.search.improve(_ROUNDS)
    grow(run.search, request.trees, _ROUNDS, _LAST_ROUNDS)
    return run.fitted(run.search.best)


def _many_points(request: SumRequest, generator: np.random.Generator, workers: Workers) -> TreeSum:
    """Fit a sum of trees to a sample, and place all other points in its trees."""
    metric = request.metric
    n = len(metric)
    clock = Clock(request.time_limit)
    points = np.sort(generator.choice(n, _SAMPLE, replace=False))
    table = MatrixMetric(checked_block(metric, points, points), symmetrize="mean")
    limit = None if request.time_limit is None else _SAMPLE_TIME * request.time_limit
    # Neighborhoods within a sample say little about neighborhoods of all points.
    part = request._replace(metric=table, balance=0.0, time_limit=limit)
    found = _few_points(part, generator, workers)
    if len(found.trees) == 1:
        return TreeSum([_one_tree(request, generator)])
    return place_all(Sample(points, found.trees), metric, generator, workers, clock.deadline)


def refine_sum(given: TreeSum, request: SumRequest, *, moves: bool) -> TreeSum:
    """Improve a sum of trees. The result is never worse by the objective of `refine`."""
    generator = np.random.default_rng(request.rng)
    with Workers(request.n_jobs) as workers:
        run = _Run(request, generator, workers)
        order_known = after_matching(given, request.metric)
        if run.is_exact(given):
            return given._with_points(given.labels, order_known)
        candidates = [(run.objective(given), given)]
        if request.weights != "none":
            candidates.append(run.scored(given.trees))
        if moves and len(given) > 3:
            run.search.start([run.scaled(tree) for tree in given.trees])
            run.search.improve(_REFINE_ROUNDS)
            candidates.append(run.scored(run.rescaled(run.search.best)))
        best = min(candidates, key=lambda found: found[0])[1]
        return best._with_points(given.labels, order_known)


def _one_tree(request: SumRequest, generator: np.random.Generator) -> Tree:
    metric = request.metric
    if len(metric) == 1:  # methods need two points
        return Tree(1, [], [], labels=metric.labels, order_known=metric.order_known)
    return auto(
        metric,
        rng=generator,
        n_jobs=request.n_jobs,
        balance=request.balance,
        time_limit=request.time_limit,
    )


class _Run:
    """The data of one fit: a table of distances in units of about the largest distance."""

    def __init__(self, request: SumRequest, generator: np.random.Generator, workers: Workers) -> None:
        metric = request.metric
        n = len(metric)
        check_memory(
            8 * _MATRICES * n * n,
            f"a sum of trees on {n:,} points",
            "fit the sum to a sample of the points",
        )
        self.request = request
        self.workers = workers
        self.started = time.monotonic()
        self.matrix = as_matrix(metric, request.n_jobs)
        distances = np.asarray(self.matrix.distances, np.float64)
        # A power of two changes no digits.
        self.unit = math.ldexp(1.0, math.frexp(float(distances.max()) or 1.0)[1])
        self.search = SumSearch(
            MatrixMetric(distances / self.unit),
            [],
            request.power,
            generator,
            workers,
            self._deadline(_SEARCH_TIME),
        )
        self.neighbors: csr_array | None = None
        self.graph: GraphMetric | None = None
        if request.share > 0:
            graph, self.graph = neighborhoods(metric, self.matrix)
            # In the units of the table, because their median sets the width of rank steps.
            parts = graph.data / self.unit, graph.indices, graph.indptr
            self.neighbors = csr_array(parts, shape=graph.shape)

    def _deadline(self, share: float) -> float:
        limit = self.request.time_limit
        return math.inf if limit is None else self.started + share * limit

    def scaled(self, tree: Tree) -> Tree:
        return tree.with_weights(tree.weights / self.unit)

    def rescaled(self, trees: list[Tree]) -> list[Tree]:
        return [tree.with_weights(tree.weights * self.unit) for tree in trees]

    def scored(self, trees: list[Tree] | tuple[Tree, ...]) -> tuple[float, TreeSum]:
        """Fit the lengths, and return the objective and the sum."""
        found = self.fitted([self.scaled(tree) for tree in trees])
        return self.objective(found), found

    def fitted(self, trees: list[Tree]) -> TreeSum:
        """Fit the lengths of the final topologies, which are in the units of the table."""
        request = self.request
        metric = request.metric
        if request.weights != "none":
            powers = {"l2": 0.0, "relative_l2": 2.0}
            trees = fit_sum_weights(
                trees,
                self.search.table,
                self.workers,
                objective="l1" if request.weights == "l1" else "l2",
                power=powers.get(request.weights, 0.0),
                share=request.share,
                neighbors=self.neighbors,
                deadline=self._deadline(1.0),
            ).trees
        contracted = TreeSum(tree.contracted() for tree in self.rescaled(trees))
        return contracted._with_points(metric.labels, metric.order_known)

    def is_exact(self, trees: TreeSum) -> bool:
        """Return whether a sum reproduces all distances, up to rounding."""
        rounding = exact_distortion(self.request.metric)
        if len(trees) < 2:
            return True
        distortion = average_distortion(trees, self.request.metric, n_jobs=self.request.n_jobs)
        if not distortion.skipped:
            return distortion <= rounding
        # Pairs at distance 0 have no relative error, but the trees may separate them.
        errors = np.abs(self._errors(trees))
        return not distortion > rounding and bool(errors.max() <= 64 * rounding)

    def _errors(self, trees: TreeSum) -> Matrix:
        """Return the errors of all distances, in the units of the table."""
        found = trees.distances(n_jobs=self.request.n_jobs) / self.unit
        return found - self.search.distances

    def objective(self, trees: TreeSum) -> float:
        """Return the objective of `refine`: squared errors, or distortion and precision."""
        metric = self.request.metric
        jobs = self.request.n_jobs
        if self.request.weights in ("l2", "relative_l2"):
            return self._squared_error(trees)
        loss = 0.0
        if self.graph is not None:
            loss = 1 - float(mean_average_precision(trees, self.graph, n_jobs=jobs))
        distortion = float(average_distortion(trees, metric, n_jobs=jobs))
        return stated_objective(distortion, loss, self.request.share)

    def _squared_error(self, trees: TreeSum) -> float:
        """Return the sum of squared errors, divided by d^power.

        If the power is not 0, pairs at distance 0 are left out, as in `SumPairs`.
        """
        errors = self._errors(trees)
        if self.request.power > 0:
            truth = self.search.distances
            factors = np.zeros_like(truth)
            np.power(truth, -self.request.power / 2, out=factors, where=truth > ZERO_SHARE)
            errors *= factors
        return float((errors**2).sum())
