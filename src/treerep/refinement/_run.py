"""The steps of `refine`: build alternative starts, move subtrees, fit weights, keep the best tree."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from .._core.parallel import Runner, Workers, count_jobs
from .._core.progress import progress_bar
from .._core.typing import RNGLike
from ..fitting._distances import checked_block
from ..fitting._trials import EXACT_SCORES, selection_score
from ..metric.base import Metric
from ..metric.points import PointMetric
from ..tree.tree import Tree
from ._candidates import (
    Candidate,
    Scorer,
    as_matrix,
    exact_distortion,
    neighborhoods,
    objective_of,
)
from ._clock import Clock
from .backbone._small_tree import kind_of
from .lengths.weights import fit_weights
from .moves.search import Distances, rearrange
from .report import RefinedTree, Refinement

# Number of relaxed neighbor-joining trees. The best of these trees is the second start.
_OTHER_STARTS = 20
# Number of large trees that are built at the same time.
_LARGE_STARTS = 4
# Rounds of moves and weights, and sweeps over all points per round.
_ROUNDS = 4
_SWEEPS = 4
# Stop after a round that improves the objective by less than this fraction.
_PROGRESS = 1e-3
# Tolerance for fitting weights between two rounds.
_QUICK_TOL = 1e-6
# Fractions of a limited time for the second start and for the moves.
_OTHER_START_TIME = 0.25
_MOVES_TIME = 0.5
# Backbone: fraction of the time for reading distances and placing points, which cannot be
# interrupted, and fraction for refining the tree of the backbone.
_PLACING_TIME = 0.25
_SAMPLE_TIME = 0.15
# Approximate seconds to place one point, per point of the backbone.
_PLACING_SECONDS = 2e-8
# Use all pairs if reading them takes less than this fraction of the time. Scoring a tree takes
# longer than reading.
_READING_TIME = 0.02
_TIMED_ROWS = 32
# The objective always includes distances: weights fitted to neighborhoods alone grow without
# bound.
_LARGEST_SHARE = 0.95


@dataclass(frozen=True)
class Limits:
    """Numbers of points at which a refinement changes its strategy."""

    #: Up to this size, distances are stored as a matrix and all pairs are used.
    all_pairs: int = 10_000
    #: Up to this size, a second start is built. Each neighbor-joining tree takes O(n^2) time.
    other_start: int = 5000
    #: Up to this size, the weights of two candidates are fitted fully. For more points only the
    #: more promising candidate is fitted, because fitting takes most of the time.
    two_candidates: int = 1500
    #: Number of rows to which weights are fitted if not all pairs are used. Scores use other
    #: rows.
    sampled_rows: int = 256
    #: Size of a backbone, and the smallest size of a backbone that is worth the time.
    backbone: int = 2000
    least_backbone: int = 50


LIMITS = Limits()


class RefineRequest(NamedTuple):
    """The validated arguments of `refine`. The points of the tree are in the data's order."""

    tree: Tree
    metric: Metric
    weights: str
    moves: bool
    balance: float
    time_limit: float | None
    rng: RNGLike


class Goal(NamedTuple):
    """The objective of a refinement, and the steps that improve it."""

    weights: str  # objective of the weights, as named by the user
    all_pairs: bool  # False: rows are sampled
    share: float  # weight of neighborhoods relative to distances, from 0 to 1
    power: float  # moves divide squared errors by d^power
    moves: bool  # whether to move points and subtrees
    other_start: bool  # whether to build a second start

    @property
    def length_power(self) -> float:
        """Power of the distance by which squared errors are divided when weights are fitted."""
        return 0.0 if self.weights == "l1" else self.power


def choose_goal(request: RefineRequest) -> Goal:
    """Derive the goal of a refinement from its arguments and data."""
    balance = request.balance
    weights = request.weights
    n = len(request.metric)
    missing = request.metric.has_missing
    # Samples of rows and second starts need all distances, and so do neighborhoods.
    all_pairs = missing or (n <= LIMITS.all_pairs and _reads_soon(request))
    # Distances and neighborhoods are weighted 3 (1 - balance) to 2 balance.
    share = min(2 * balance / (2 * balance + 3 * (1 - balance)), _LARGEST_SHARE)
    if missing or not (all_pairs and weights == "l1" and n > 2):
        share = 0.0
    # A distance matrix may come from a phylogeny. Moves that favor short distances keep the splits
    # of the phylogeny. Starting again from another tree would lose the splits of a good tree.
    phylogeny = weights == "l1" and balance > 0 and kind_of(request.metric) == "distances"
    power = 0.0
    if weights == "relative_l2":
        power = 2.0
    elif weights == "l1":
        power = min(4.0, 8 * balance) if phylogeny else min(2.0, 4 * balance)
    # Moves improve distances at the expense of neighborhoods.
    moves = balance < 0.5 or weights != "l1" or phylogeny
    return Goal(weights, all_pairs, share, power, request.moves and moves, not (phylogeny or missing))


def _reads_soon(request: RefineRequest) -> bool:
    """Return whether reading all distances takes a small fraction of the time limit."""
    seconds = seconds_to_read(request.metric)
    return not request.time_limit or seconds < _READING_TIME * request.time_limit


def seconds_to_read(metric: Metric) -> float:
    """Estimate the seconds to read all distances; 0 for few points."""
    n = len(metric)
    if n <= LIMITS.two_candidates:
        return 0.0
    rows = np.arange(_TIMED_ROWS)
    cols = np.arange(n)
    checked_block(metric, rows[:1], cols)  # compiles the kernel
    begin = time.monotonic()
    checked_block(metric, rows, cols)
    return (time.monotonic() - begin) * n / _TIMED_ROWS


class Run:
    """One refinement: its request, goal, clock and data."""

    def __init__(
        self,
        request: RefineRequest,
        n_jobs: int | None,
        runner: Runner | None,
    ) -> None:
        self.clock = Clock(request.time_limit)
        self.tree = request.tree._settled()
        self.moves = request.moves
        self.n_jobs = n_jobs
        self.runner = runner
        self.rng = np.random.default_rng(request.rng)
        self.goal = choose_goal(request)
        self.rows: Literal["all"] | int = "all" if self.goal.all_pairs else LIMITS.sampled_rows
        metric = request.metric
        self.metric = as_matrix(metric, n_jobs) if self.goal.all_pairs else metric
        # A runner sends the data to other processes, and points take less space than their
        # distance matrix.
        sends_points = runner is not None and isinstance(metric, PointMetric)
        self.fitted_metric = metric if sends_points else self.metric
        self.neighbors = None
        graph = None
        if self.goal.share:
            self.neighbors, graph = neighborhoods(metric, self.metric)
        self.scorer = Scorer(
            self.metric,
            rows=self.rows,
            share=self.goal.share,
            graph=graph,
            errors=None if self.goal.weights == "l1" else self.distances,
            rounding=exact_distortion(metric),
            clock=self.clock,
            n_jobs=n_jobs,
        )

    @cached_property
    def distances(self) -> Distances:
        """The distances on which moves are evaluated."""
        return Distances(self.metric, self.goal.power, None if self.goal.all_pairs else self.rng)

    def refined(self) -> tuple[Candidate, Candidate]:
        """Return the given tree and the best tree found, both scored."""
        given = self.scorer.score(self.tree, "tree")
        if given.distortion is None:
            given = given._replace(distortion=self.scorer.distortion(self.tree))
        if self.scorer.is_exact(given):
            return given, given
        if not self.goal.all_pairs:
            return given, min([given, *self._many_points(given)], key=objective_of)
        found = self._topologies(given)
        # Only the most promising candidates get fully fitted weights.
        few = len(self.tree) <= LIMITS.two_candidates
        promising = sorted(found, key=objective_of)[: 2 if few else 1]
        fitted = map(self.fit_weights, promising, self.clock.deadlines(len(promising)))
        return given, min([given, *found, *fitted], key=objective_of)

    def _topologies(self, given: Candidate) -> list[Candidate]:
        """Return the given tree, the second start, and both after moves."""
        n = len(self.tree)
        starts = [given]
        if not self.moves or n <= 3:
            return starts
        other_start = self.goal.other_start and n <= LIMITS.other_start
        if other_start and not self.clock.expired:
            joined = self._other_start()
            starts.append(self.scorer.score(joined, "relaxed_neighbor_joining"))
        if not self.goal.moves:
            return starts
        deadlines = self.clock.deadlines(len(starts), _MOVES_TIME)
        moved = map(self._rearrange, starts, deadlines)
        # Starts are listed twice, so that only the better start gets weights if moves improve
        # neither.
        return [*starts, *starts, *moved]

    def _many_points(self, given: Candidate) -> Iterator[Candidate]:
        """Yield the tree built around a backbone and the given tree, both with fitted weights."""
        size = self.backbone_size() if self.moves else 0
        if size:
            from .backbone._small_tree import kind_of
            from .backbone.build import backbone

            time_limit = _SAMPLE_TIME * self.clock.left if self.clock.limited else None
            # The objective is the distortion alone, so near relations of points are left as they are.
            balance = 0.0 if kind_of(self.metric) == "points" else None
            grown = backbone(
                self.metric,
                rng=self.rng,
                n_jobs=self.n_jobs,
                size=size,
                balance=balance,
                time_limit=time_limit,
            )
            candidate = self.scorer.score(grown, "backbone")
            yield candidate
            if self.goal.weights != "l1":  # "backbone" minimized l1
                yield self.fit_weights(candidate, next(self.clock.deadlines(2)))
        yield self.fit_weights(given, self.clock.deadline)

    def backbone_size(self) -> int:
        """Return the size of the largest backbone that fits the time limit.

        Return 0 if the backbone would be too small to help or would contain all points.
        """
        n = len(self.metric)
        size = LIMITS.backbone
        if self.clock.limited:
            reading = seconds_to_read(self.metric) / n**2
            seconds = n * (reading + _PLACING_SECONDS)  # per point of the backbone
            size = min(size, int(_PLACING_TIME * self.clock.left / seconds))
        return size if LIMITS.least_backbone <= size < n else 0

    def _other_start(self) -> Tree:
        """Return the best of several relaxed neighbor-joining trees, selected as in `fit`.

        Fewer trees are built if time is short.
        """
        from ..fitting.joining.relaxed_neighbor_joining import relaxed_neighbor_joining

        # One thread per tree. Each tree needs a matrix, so few threads for many points.
        threads = count_jobs(self.n_jobs)
        if len(self.metric) > EXACT_SCORES:
            threads = min(threads, _LARGE_STARTS)

        def scored(generator: np.random.Generator) -> tuple[float, Tree]:
            tree = relaxed_neighbor_joining(self.metric, rng=generator)
            return selection_score(tree, self.metric, 1), tree

        deadline = next(self.clock.deadlines(1, _OTHER_START_TIME))
        best: tuple[float, Tree] | None = None
        bar = progress_bar(_OTHER_STARTS, "other starts", "trees")
        generators = [self.rng, *self.rng.spawn(_OTHER_STARTS - 1)]
        with bar, Workers(threads) as workers:
            for score, tree in workers.map(scored, generators):
                best = (score, tree) if best is None or score < best[0] else best
                bar.update()
                workers.check()
                if time.monotonic() >= deadline:
                    break
        assert best is not None
        return best[1]

    def _rearrange(self, candidate: Candidate, deadline: float) -> Candidate:
        """Alternate moves and quickly fitted weights while they lower the objective."""
        for _ in range(_ROUNDS):
            time_limit = self.clock.time_limit(deadline)
            if time_limit == 0:
                break
            found = rearrange(
                candidate.tree,
                self.metric,
                distances=self.distances,
                sweeps=_SWEEPS,
                time_limit=time_limit,
                rng=self.rng,
            )
            moves = candidate.moves + found.moves
            moved = self.scorer.score(found.tree, candidate.start, moves)
            better = self._fit_quickly(moved, deadline)
            gain = candidate.objective - better.objective
            if gain <= 0:
                break
            candidate = better
            if gain < _PROGRESS * abs(candidate.objective):
                break
        return candidate

    def _fit_quickly(self, candidate: Candidate, deadline: float) -> Candidate:
        """Fit weights by least squares. Return the unchanged tree if the fit is not better."""
        time_limit = self.clock.time_limit(deadline)
        if self.goal.weights == "none" or time_limit == 0:
            return candidate
        fitted = fit_weights(
            candidate.tree,
            self.fitted_metric,
            power=self.goal.length_power,
            rows=self.rows,
            rng=self.rng,
            tol=_QUICK_TOL,
            time_limit=time_limit,
            n_jobs=self.n_jobs,
            runner=self.runner,
        )
        after = self.scorer.score(fitted.tree, candidate.start, candidate.moves, fitted.residual)
        return min(candidate, after, key=objective_of)

    def fit_weights(self, candidate: Candidate, deadline: float) -> Candidate:
        """Return the same topology with the weights that the user requested."""
        weights = self.goal.weights
        if weights == "none" or self.clock.expired:
            return candidate
        fitted = fit_weights(
            candidate.tree,
            self.fitted_metric,
            objective="l2" if weights == "relative_l2" else weights,
            power=self.goal.length_power,
            balance=self.goal.share,
            neighbors=self.neighbors,
            rows=self.rows,
            rng=self.rng,
            time_limit=self.clock.time_limit(deadline),
            n_jobs=self.n_jobs,
            runner=self.runner,
        )
        return self.scorer.score(fitted.tree, candidate.start, candidate.moves, fitted.residual)

    def report(self, given: Candidate, best: Candidate, order_known: bool) -> RefinedTree:
        """Return the best tree with its report."""
        errors = self.scorer.errors
        unit = 1.0 if errors is None else errors.size
        distortion = best.distortion
        if distortion is None:
            distortion = self.scorer.distortion(best.tree)
        assert given.distortion is not None
        refinement = Refinement(
            objective=best.objective * unit,
            objective_before=given.objective * unit,
            distortion=float(distortion),
            distortion_before=float(given.distortion),
            precision=best.precision,
            precision_before=given.precision,
            residual=best.residual,
            moves=best.moves,
            start=best.start,
            seconds=self.clock.elapsed,
        )
        tree = best.tree
        same_splits = best.moves == 0 and best.start == "tree"
        support = tree.support if same_splits else None
        arrays = (len(tree), tree.edges, tree.weights, given.tree.labels, support, order_known)
        return RefinedTree._with_report(*arrays, refinement)
