"""`refine`: from a tree to a better one, by weights and by moves."""

import math
import time
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._core.backend import backend_for
from .._core.checks import check_between, check_choice, check_flag, check_time_limit
from .._core.memory import check_memory
from .._core.parallel import Runner, Workers, run
from .._core.progress import progress_bar
from .._core.typing import DeviceLike, EngineLike, MetricLike, RNGLike
from .._core.used import note
from ..fitting._distances import EXACT_SCORES, checked_block, selection_score
from ..metric._matching import after_matching, matched
from ..metric.as_metric import as_metric
from ..metric.base import Metric
from ..metric.graph import GraphMetric
from ..metric.matrix import MatrixMetric
from ..metric.points import PointMetric
from ..scores._streaming import row_slices
from ..scores.distortion import average_distortion, distance_error
from ..scores.mean_average_precision import mean_average_precision
from ..scores.score import Score
from ..tree.tree import Tree
from .backbone._small_tree import kind_of
from .lengths._neighborhoods import neighbor_graph
from .lengths.least_distortion import stated_objective
from .lengths.weights import fit_weights
from .moves.search import Distances, rearrange
from .report import RefinedTree, Refinement

WEIGHTS = ("l1", "l2", "relative_l2", "heuristic", "none")

# Up to here distances are held as a matrix, and all pairs count.
_SMALL = 10_000
# Up to here another start is tried.
_OTHER_START = 5000
_STARTS = 20  # trees by relaxed neighbor joining, of which the best is tried
_SWEEPS = 4
_ROUNDS = 4  # of moves and weights, while they lower the objective
_SAMPLED_ROWS = 256
# Up to here the weights of two candidates are fitted to the end, beyond only those of the more
# promising one.
_TWO_CANDIDATES = 1500
# What is exact is left alone: an average distortion below this, or below the rounding of the
# data.
EXACT = 1e-9
# Largest error of an exact tree, as a multiple of that, where pairs at distance 0 have to be
# looked at too.
_WORST = 64
# Shares of the time that is left, where it is limited.
_FOR_OTHER_START = 0.25
_FOR_MOVES = 0.5
# The same for a backbone: reading distances and placing points, which cannot be cut short, and
# refining its tree.
_FOR_PLACING = 0.25
_FOR_SAMPLE = 0.15
# Size of a backbone, the least that is worth its time, and about how long a point takes for
# each point of the backbone.
_BACKBONE = 2000
_LEAST_BACKBONE = 50
_PLACING = 2e-8
# All pairs count if reading them takes less than this share of the time: a look at a tree takes
# longer than that.
_FOR_READING = 0.02
_TIMED_ROWS = 32
# A round of moves and weights that gains less than this share is the last.
_PROGRESS = 1e-3
_MOST_SHARE = 0.95
_OTHER = "relaxed_neighbor_joining"
_BACKBONE_START = "backbone"
_JUDGE = 1  # seed of the rows by which trees of many points are compared


class _Candidate(NamedTuple):
    tree: Tree
    # squared errors in the unit of `Distances`, so that they neither overflow nor vanish
    objective: float
    start: str
    moves: int = 0
    residual: float | None = None
    distortion: Score | None = None  # of those whose objective needs it ...
    precision: float | None = None  # ... so that nothing is measured twice


def refine(
    tree: Tree,
    data: MetricLike,
    *,
    metric: str | None = None,
    weights: Literal["l1", "l2", "relative_l2", "heuristic", "none"] = "l1",
    moves: bool = True,
    balance: float = 0.5,
    time_limit: float | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    engine: EngineLike = None,
    device: DeviceLike = None,
) -> RefinedTree:
    """Improve a tree: better edge weights, and better places for points and subtrees.

    Parameters
    ----------
    tree : Tree
        On the points of `data`. Never modified.
    data : Metric, array, DataFrame, sparse matrix or networkx graph
        What the tree approximates; see `as_metric`, also for `metric`.
    weights : "l1", "l2", "relative_l2", "heuristic" or "none"
        What the weights of the edges minimize. "l1": the average distortion, and with it lost
        precision of neighborhoods (see `balance`). "l2": the sum of squared errors, exactly.
        "relative_l2": the sum of squared relative errors (Fitch and Margoliash 1967).
        "heuristic": the 200 gradient steps on sampled pairs of the paper, for comparison.
        "none": they stay as they are but next to moves.
    moves : bool
        Whether the topology may change. Up to 5,000 points, relaxed neighbor joining is then
        tried as another start. Points and subtrees move if `balance` is below 1/2: moves are
        made for distances, neighborhoods lose by them. Distances that were given as such, a
        matrix or a metric of your own, may be those of a phylogeny: then moves look at near
        distances most, and no other start is tried. Beyond 10,000 points the tree of
        `fit(method="backbone")` takes the place of moves.
    balance : float from 0 to 1
        0: distances; 1: neighborhoods, that is mean average precision. The objective is (1 -
        s) log(distortion + 0.001) + s log(1 - precision + 0.001) with s : 1 - s = 2 balance : 3
        (1 - balance), s at most 0.95, or the distortion itself at 0. Neighbors are those of a
        graph, or the ten nearest points of any other data. Beyond 10,000 points the distortion
        alone is the objective. It is for "l1": the other weights have the objective in their
        name.
    time_limit : float, optional
        Seconds. What has been reached by then is returned. Reading the distances of up to
        10,000 points and scoring the tree once is not cut short: on two cores some seconds for
        10,000 points, and tenths of one for 3,000.
    rng, n_jobs, engine, device
        As in `fit`.

    Returns
    -------
    RefinedTree
        Never worse than `tree` by the objective, and equal to it if it is exact. `.refinement`
        says what was gained. If both have labels, the points are matched by label and the
        result is in the order of the data, as from `fit`.

    Notes
    -----
    Moves take a point or a subtree out and put it back where the squared error of its
    distances, weighted by 1 / d^p, is least, in O(N) for all places; p is 4 balance, at most 2,
    or for a matrix 8 balance, at most 4. Weights: "l2" takes O(n^2) in all, others O(n^2) a
    step. Beyond 10,000 points weights are fitted to 256 sampled rows. The result is the better
    of the tree given, so weighted, and of the tree around a backbone, by the distances of 256
    other rows.

    Examples
    --------
    >>> import treerep as tr
    >>> mammals = tr.datasets.sarich()
    >>> better = tr.refine(tr.fit(mammals, method="treerep"), mammals)
    >>> better.refinement.distortion < better.refinement.distortion_before
    True
    """
    if not isinstance(tree, Tree):
        raise TypeError(
            f"refine takes a Tree, for example from fit, and then the data, not a {type(tree).__name__}"
        )
    check_choice("weights", weights, WEIGHTS)
    check_arguments(moves, balance, time_limit)
    note("refine")
    backend = backend_for(n_jobs=n_jobs, engine=engine, device=device)
    backend.validate(data=data)
    space = as_metric(data, metric=metric)
    tree = matched(tree, space, ("tree", "data"))
    request = RefineRequest(tree, space, weights, bool(moves), float(balance), time_limit, rng)
    return backend.refine(request)


class RefineRequest(NamedTuple):
    """The validated arguments of `refine`; the points of the tree are in the order of the data."""

    tree: Tree
    metric: Metric
    weights: str
    moves: bool
    balance: float
    time_limit: float | None
    rng: RNGLike


def refined_tree(
    request: RefineRequest, n_jobs: int | None, runner: Runner | None = None
) -> RefinedTree:
    """Refine by threads alone, or with a runner for the passes that `fit_weights` gives away."""
    known = after_matching(request.tree, request.metric)
    work = _Run(request, n_jobs, runner)
    return work.finished(*work.refined(request.tree._settled(), request.moves), known)


def check_arguments(moves: Any, balance: Any, time_limit: Any) -> None:
    """Raise a ValueError that names the first argument out of range."""
    check_flag("moves", moves)
    check_between("balance", balance, 0, 1, "from 0 (distances) to 1 (neighborhoods)")
    check_time_limit(time_limit)


class _Run:
    """One refinement: the data as it is asked for again and again, and the time that is left."""

    def __init__(
        self, request: RefineRequest, n_jobs: int | None, runner: Runner | None
    ) -> None:
        metric = request.metric
        weights = request.weights
        balance = request.balance
        time_limit = request.time_limit
        self.begin = time.monotonic()
        self.limit = math.inf if time_limit is None else self.begin + time_limit
        self.look = 0.0  # seconds that the last look at a candidate took
        self.weights = weights
        self.n_jobs = n_jobs
        self.runner = runner
        self.rng = np.random.default_rng(request.rng)
        self.small = len(metric) <= _SMALL and _seconds_to_read(metric) < _FOR_READING * (
            time_limit or math.inf
        )
        self.graph = None
        self.neighbors = None
        # Distances and neighborhoods weigh 3 (1 - balance) to 2 balance, and distances never
        # nothing: they would grow beyond all bounds.
        share = min(2 * balance / (2 * balance + 3 * (1 - balance)), _MOST_SHARE)
        self.share = share if self.small and weights == "l1" and len(metric) > 2 else 0.0
        # Moves for near distances keep the splits of a phylogeny. Another start would lose
        # those of a good tree.
        near = weights == "l1" and balance > 0 and kind_of(metric) == "distances"
        self.moves_pay = balance < 0.5 or weights != "l1" or near
        self.other_start_pays = not near
        self.rounding = max(EXACT, metric.eps, metric.input_eps)
        self.metric = _held(metric, n_jobs) if self.small else metric
        # Points travel at less cost than the table of their distances, and have the same ones.
        self.sent = (
            metric if runner is not None and isinstance(metric, PointMetric) else self.metric
        )
        if self.share:
            graph = isinstance(metric, GraphMetric)
            self.neighbors = neighbor_graph(metric if graph else self.metric)
            self.graph = (
                metric
                if isinstance(metric, GraphMetric)
                else GraphMetric(_ones(self.neighbors))
            )
        self.rows: Literal["all"] | int = "all" if self.small else _SAMPLED_ROWS
        power = min(4.0, 8 * balance) if near else min(2.0, 4 * balance)
        self.power = {"l1": power, "relative_l2": 2.0}.get(weights, 0.0)
        self.errors = None if weights == "l1" else self.distances

    @cached_property
    def distances(self) -> Distances:
        """What moves are made for."""
        return Distances(self.metric, self.power, None if self.small else self.rng)

    @property
    def over(self) -> bool:
        """Whether there is no time left but for another look at what was found."""
        return time.monotonic() + self.look >= self.limit

    def turns(self, count: int, share: float = 1.0) -> Iterator[float]:
        """When each of several pieces of work has to be done that have this share of the time left together."""
        end = time.monotonic() + share * (self.limit - time.monotonic())
        for rest in range(count, 0, -1):
            now = time.monotonic()
            yield now + max(0.0, end - now) / rest

    def seconds(self, end: float) -> float | None:
        """Seconds until then, less what a look at the outcome takes."""
        return None if end == math.inf else max(0.0, end - self.look - time.monotonic())

    def distortion(self, tree: Tree) -> Score:
        """Average distortion: of all pairs, or of rows that the weights are not fitted to."""
        rows: Literal["all"] | int = "all" if self.small else _SAMPLED_ROWS
        return average_distortion(tree, self.metric, rows=rows, rng=_JUDGE, n_jobs=self.n_jobs)

    def precision(self, tree: Tree) -> float | None:
        """Mean average precision, where it counts."""
        return (
            None
            if self.graph is None
            else float(mean_average_precision(tree, self.graph, n_jobs=self.n_jobs))
        )

    def judge(
        self, tree: Tree, start: str, moves: int = 0, residual: float | None = None
    ) -> _Candidate:
        """A candidate with its objective."""
        begin = time.monotonic()
        found = _Candidate(tree, 0.0, start, moves, residual)
        if self.errors is not None:
            found = found._replace(objective=self.errors.in_units(tree))
        else:
            distortion = self.distortion(tree)
            precision = self.precision(tree)
            loss = 0.0 if precision is None else 1 - precision
            objective = stated_objective(float(distortion), loss, self.share)
            found = found._replace(
                objective=objective, distortion=distortion, precision=precision
            )
        self.look = time.monotonic() - begin
        return found

    def exact(self, given: _Candidate) -> bool:
        """Whether the tree has the distances of the data, up to rounding."""
        assert given.distortion is not None
        if len(given.tree) < 2 or given.distortion > self.rounding:
            return len(given.tree) < 2
        if not given.distortion.skipped:
            return True
        # Pairs at distance 0 have no relative error, and yet they may be apart in the tree.
        every = np.arange(len(given.tree))
        largest = float(checked_block(self.metric, every[:1], every).max())
        worst = distance_error(
            given.tree, self.metric, norm="linf", rows=self.rows, rng=_JUDGE, n_jobs=self.n_jobs
        )
        return float(worst) <= _WORST * self.rounding * largest

    def refined(self, tree: Tree, moves: bool) -> tuple[_Candidate, _Candidate]:
        """The tree as it was given, and the best that can be made of it and of another start."""
        given = self.judge(tree, "tree")
        if given.distortion is None:
            given = given._replace(distortion=self.distortion(tree))
        if self.exact(given):
            return given, given
        if not self.small:
            return given, min([given, *self.of_many_points(given, moves)], key=_objective)
        found = starts = [given]
        if moves and len(tree) > 3:
            if self.other_start_pays and len(tree) <= _OTHER_START and not self.over:
                found = starts = [given, self.judge(self.other_start(), _OTHER)]
            if self.moves_pay:
                found = [
                    *found,
                    *starts,
                    *map(self.moved, starts, self.turns(len(starts), _FOR_MOVES)),
                ]
        # The more promising ones get their weights fitted to the end.
        promising = sorted(found, key=_objective)[: 2 if len(tree) <= _TWO_CANDIDATES else 1]
        fitted = map(self.weighted, promising, self.turns(len(promising)))
        return given, min([given, *found, *fitted], key=_objective)

    def of_many_points(self, given: _Candidate, moves: bool) -> Iterator[_Candidate]:
        """The tree around a backbone, and the tree given, both with weights."""
        size = self.backbone_size() if moves else 0
        if size:
            from .backbone.build import backbone

            limit = (
                None
                if self.limit == math.inf
                else _FOR_SAMPLE * (self.limit - time.monotonic())
            )
            grown = backbone(
                self.metric, rng=self.rng, n_jobs=self.n_jobs, size=size, time_limit=limit
            )
            candidate = self.judge(grown, _BACKBONE_START)
            yield candidate
            if self.weights != "l1":  # the weights of a backbone's tree are for the distortion
                yield self.weighted(candidate, next(self.turns(2)))
        yield self.weighted(given, self.limit)

    def backbone_size(self) -> int:
        """How large a backbone there is time for; 0 if it would be too small to be of use, or hold all points."""
        n = len(self.metric)
        size = _BACKBONE
        if self.limit < math.inf:
            each = _seconds_to_read(self.metric) / n**2 + _PLACING
            size = min(size, int(_FOR_PLACING * (self.limit - time.monotonic()) / (n * each)))
        return size if _LEAST_BACKBONE <= size < n else 0

    def other_start(self) -> Tree:
        """The best of several trees by relaxed neighbor joining, chosen as by `fit`; of fewer if time is short."""
        from ..fitting.joining.relaxed_neighbor_joining import relaxed_neighbor_joining

        side_by_side = len(self.metric) <= EXACT_SCORES

        def scored(generator: np.random.Generator) -> tuple[float, Tree]:
            tree = relaxed_neighbor_joining(self.metric, rng=generator)
            return selection_score(tree, self.metric, 1 if side_by_side else self.n_jobs), tree

        end = next(self.turns(1, _FOR_OTHER_START))
        best: tuple[float, Tree] | None = None
        jobs = self.n_jobs if side_by_side else 1
        with progress_bar(_STARTS, "other starts", "trees") as bar, Workers(jobs) as workers:
            for score, tree in workers.map(scored, [self.rng, *self.rng.spawn(_STARTS - 1)]):
                best = (score, tree) if best is None or score < best[0] else best
                bar.update()
                workers.check()
                if time.monotonic() >= end:
                    break
        assert best is not None
        return best[1]

    def moved(self, candidate: _Candidate, end: float) -> _Candidate:
        """Moves and quick weights, in turn, while they lower the objective and the time is not over."""
        for _ in range(_ROUNDS):
            if self.seconds(end) == 0:
                break
            found = rearrange(
                candidate.tree,
                self.metric,
                distances=self.distances,
                sweeps=_SWEEPS,
                max_seconds=self.seconds(end),
                rng=self.rng,
            )
            moved = self.judge(found.tree, candidate.start, candidate.moves + found.moves)
            better = self.quickly_weighted(moved, end)
            gain = candidate.objective - better.objective
            if gain <= 0:
                break
            candidate = better
            if gain < _PROGRESS * abs(candidate.objective):
                break
        return candidate

    def quickly_weighted(self, candidate: _Candidate, end: float) -> _Candidate:
        """The same topology with weights by least squares, if that is better."""
        if self.weights in ("none", "heuristic") or self.seconds(end) == 0:
            return candidate
        fitted = fit_weights(
            candidate.tree,
            self.sent,
            power=self.power if self.weights != "l1" else 0.0,
            rows=self.rows,
            rng=self.rng,
            tol=1e-6,
            max_seconds=self.seconds(end),
            n_jobs=self.n_jobs,
            runner=self.runner,
        )
        after = self.judge(fitted.tree, candidate.start, candidate.moves, fitted.residual)
        return min(candidate, after, key=_objective)

    def weighted(self, candidate: _Candidate, end: float) -> _Candidate:
        """The same topology with the weights that were asked for."""
        if self.weights == "none" or self.over:
            return candidate
        fitted = fit_weights(
            candidate.tree,
            self.sent,
            objective={"relative_l2": "l2"}.get(self.weights, self.weights),
            power=self.power if self.weights == "relative_l2" else 0.0,
            balance=self.share,
            neighbors=self.neighbors,
            rows=self.rows,
            rng=self.rng,
            max_seconds=self.seconds(end),
            n_jobs=self.n_jobs,
            runner=self.runner,
        )
        return self.judge(fitted.tree, candidate.start, candidate.moves, fitted.residual)

    def finished(self, given: _Candidate, best: _Candidate, known: bool) -> RefinedTree:
        """The tree with its report."""
        size = 1.0 if self.errors is None else self.errors.size
        distortion = self.distortion(best.tree) if best.distortion is None else best.distortion
        assert given.distortion is not None
        refinement = Refinement(
            best.objective * size,
            given.objective * size,
            float(distortion),
            float(given.distortion),
            best.precision,
            given.precision,
            best.residual,
            best.moves,
            best.start,
            time.monotonic() - self.begin,
        )
        same = best.tree.support if best.moves == 0 and best.start == "tree" else None
        arrays = (
            len(best.tree),
            best.tree.edges,
            best.tree.weights,
            given.tree.labels,
            same,
            known,
        )
        return RefinedTree._with_report(*arrays, refinement)


def _objective(candidate: _Candidate) -> float:
    return candidate.objective


def _seconds_to_read(metric: Metric) -> float:
    """About how long reading all distances takes; 0 for few points."""
    n = len(metric)
    if n <= _TWO_CANDIDATES:
        return 0.0
    rows = np.arange(_TIMED_ROWS)
    cols = np.arange(n)
    checked_block(metric, rows[:1], cols)  # compiled on first use
    begin = time.monotonic()
    checked_block(metric, rows, cols)
    return (time.monotonic() - begin) * n / _TIMED_ROWS


def _held(metric: Metric, n_jobs: int | None) -> Metric:
    """Distances are read many times: as a table that is cheap to read."""
    if isinstance(metric, MatrixMetric):
        return metric
    n = len(metric)
    check_memory(
        8 * n * n,
        f"refine on {n:,} points",
        "sample the points, and insert the others afterwards",
    )
    matrix = np.empty((n, n))
    every = np.arange(n)

    def read(rows: slice) -> int:
        matrix[rows] = checked_block(metric, every[rows], every)
        return rows.stop - rows.start

    with progress_bar(n, "distances", "points") as bar:
        for done in run(read, row_slices(n, n), n_jobs):
            bar.update(done)
    return MatrixMetric(matrix, labels=metric.labels)


def _ones(graph: csr_array) -> csr_array:
    # Only who is a neighbor counts, and points at distance 0 are neighbors too.
    return csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
