"""`refine`: from a tree to a better one, by weights and by moves."""

import math
import time
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..fitting.fit import fit
from ..fitting.result import dense_matrix
from ..metric.base import Metric
from ..metric.convert import as_metric
from ..metric.graph import GraphMetric
from ..metric.matrix import MatrixMetric
from ..scoring.distortion import average_distortion
from ..scoring.precision import mean_average_precision
from ..scoring.streaming import check_choice, check_same_points
from ..tree.tree import Tree
from .least_distortion import stated_objective
from .moves import ALL_PAIRS, Distances, rearrange
from .neighborhoods import neighbor_graph
from .weights import fit_weights

WEIGHTS = ("l1", "l2", "relative_l2", "heuristic", "none")

# Up to here distances are held as a matrix, and all pairs count.
_SMALL = ALL_PAIRS
# Up to here another start is tried.
_OTHER_START = 5000
_STARTS = 20  # trees by relaxed neighbour joining, of which the best is tried
_SWEEPS = 4
_ROUNDS = 4  # of moves and weights, while they lower the objective
_SAMPLED_ROWS = 256
# Up to here the weights of two candidates are fitted to the end, beyond only those of the more promising one.
_TWO_CANDIDATES = 1500
# What is exact is left alone.
_EXACT = 1e-9
# A round of moves and weights that gains less than this share is the last. Samples cannot tell less than a hundredth.
_PROGRESS, _SAMPLED_PROGRESS = 1e-3, 1e-2
_MOST_SHARE = 0.95
_OTHER = "relaxed_neighbor_joining"
_JUDGE = 1  # seed of the rows by which trees of many points are compared


class Refinement(NamedTuple):
    """What `refine` has reached. Distortion and precision are of all pairs, or of sampled rows of many points."""

    objective: float  # what was minimised, of the tree that came out ...
    objective_before: float  # ... and of the one that went in
    distortion: float
    distortion_before: float
    precision: float | None  # mean average precision; None where neighbourhoods do not count
    precision_before: float | None
    residual: float | None  # violation of the weights' optimality conditions, see `fit_weights`; None if not fitted
    moves: int  # subtrees moved on the way to the tree
    start: str  # "tree", or "relaxed_neighbor_joining" if that led further
    seconds: float


class RefinedTree(Tree):
    """A tree that knows how it was refined: `tree.refinement`. What is made of it is a plain Tree again."""

    refinement: Refinement


class _Candidate(NamedTuple):
    tree: Tree
    objective: float
    start: str
    moves: int = 0
    residual: float | None = None


def refine(
    tree: Tree,
    data: Any,
    *,
    metric: str | None = None,
    weights: Literal["l1", "l2", "relative_l2", "heuristic", "none"] = "l1",
    moves: bool = True,
    balance: float = 0.5,
    time_limit: float | None = None,
    rng: Any = 0,
    n_jobs: int | None = None,
) -> RefinedTree:
    """Improve a tree: better edge weights, and better places for points and subtrees.

    Parameters
    ----------
    tree : Tree
        On the points of `data`. Never modified.
    data : Metric, array, DataFrame, sparse matrix or networkx graph
        What the tree approximates; see `as_metric`, also for `metric`.
    weights : "l1", "l2", "relative_l2", "heuristic" or "none"
        What the weights of the edges minimise. "l1": the average distortion, and with it lost precision of
        neighbourhoods (see `balance`). "l2": the sum of squared errors, exactly. "relative_l2": the sum of squared
        relative errors (Fitch and Margoliash 1967). "heuristic": the 200 gradient steps on sampled pairs of the paper,
        for comparison. "none": they stay as they are but next to moves.
    moves : bool
        Whether the topology may change. Up to 5,000 points, relaxed neighbour joining is then tried as another start.
        Points and subtrees move if `balance` is below 1/2: moves are made for distances, neighbourhoods lose by them.
    balance : float from 0 to 1
        0: distances; 1: neighbourhoods, that is mean average precision. The objective is
        (1 - s) log(distortion + 0.001) + s log(1 - precision + 0.001) with s : 1 - s = 2 balance : 3 (1 - balance), s
        at most 0.95, or the distortion itself at 0.
        Neighbours are those of a graph, or the ten nearest points of any other data. Beyond 10,000 points the
        distortion alone is the objective, and balance only sets how much near points count in the moves. It is for
        "l1": the other weights have the objective in their name.
    time_limit : float, optional
        Seconds. What has been reached by then is returned.
    rng, n_jobs
        As in `fit`.

    Returns
    -------
    RefinedTree
        Never worse than `tree` by the objective, and equal to it if it is exact. `.refinement` says what was gained.

    Notes
    -----
    Moves take a point or a subtree out and put it back where the squared error of its distances, weighted by
    1 / d^(4 balance) (at most 1 / d^2), is least, in O(N) for all places. Weights: "l2" takes O(n^2) in all, others
    O(n^2) a step. Beyond 10,000 points weights are fitted to 256 sampled rows, and moves look at 512 reference points.

    Examples
    --------
    >>> import treerep as tr
    >>> mammals = tr.datasets.sarich()
    >>> better = tr.refine(tr.fit(mammals), mammals)
    >>> better.refinement.distortion < better.refinement.distortion_before
    True
    """
    check_choice("weights", weights, WEIGHTS)
    _check_arguments(moves, balance, time_limit)
    space = as_metric(data, metric=metric)
    check_same_points(tree, space, ("tree", "data"))
    run = _Run(space, weights, float(balance), time_limit, rng, n_jobs)
    return run.finished(tree, run.refined(tree, moves))


def _check_arguments(moves: Any, balance: Any, time_limit: Any) -> None:
    if not isinstance(moves, (bool, np.bool_)):
        raise ValueError(f"moves is True or False, not {moves!r}")
    if isinstance(balance, bool) or not isinstance(balance, (int, float, np.number)) or not 0 <= balance <= 1:
        raise ValueError(f"balance is a number from 0 (distances) to 1 (neighbourhoods), not {balance!r}")
    number = isinstance(time_limit, (int, float, np.number)) and not isinstance(time_limit, bool)
    if time_limit is not None and not (number and time_limit > 0):
        raise ValueError(f"time_limit is a number of seconds above 0, or None, not {time_limit!r}")


class _Run:
    """One refinement: the data as it is asked for again and again, and the time that is left."""

    def __init__(
        self, metric: Metric, weights: str, balance: float, time_limit: float | None, rng: Any, n_jobs: int | None
    ) -> None:
        self.begin = time.monotonic()
        self.limit = math.inf if time_limit is None else self.begin + time_limit
        self.weights, self.n_jobs = weights, n_jobs
        self.rng = np.random.default_rng(rng)
        self.small = len(metric) <= _SMALL
        self.graph, self.neighbors = None, None
        # Distances and neighbourhoods weigh 3 (1 - balance) to 2 balance, and distances never nothing: they would grow
        # beyond all bounds.
        share = min(2 * balance / (2 * balance + 3 * (1 - balance)), _MOST_SHARE)
        self.share = share if self.small and weights == "l1" and len(metric) > 2 else 0.0
        self.moves_pay = balance < 0.5 or weights != "l1"
        if self.share:
            self.neighbors = neighbor_graph(metric)
            self.graph = metric if isinstance(metric, GraphMetric) else GraphMetric(_ones(self.neighbors))
        self.metric = _held(metric) if self.small else metric
        self.rows: Literal["all"] | int = "all" if self.small else _SAMPLED_ROWS
        self.power = {"l1": min(2.0, 4 * balance), "relative_l2": 2.0}.get(weights, 0.0)
        self.errors = None if weights == "l1" else Distances(self.metric, self.power, None if self.small else self.rng)

    @property
    def left(self) -> float | None:
        """Seconds left."""
        return None if self.limit == math.inf else max(0.0, self.limit - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self.limit

    def distortion(self, tree: Tree) -> float:
        """Average distortion: of all pairs, or of rows that the weights are not fitted to."""
        rows: Literal["all"] | int = "all" if self.small else _SAMPLED_ROWS
        return float(average_distortion(tree, self.metric, rows=rows, rng=_JUDGE, n_jobs=self.n_jobs))

    def precision(self, tree: Tree) -> float | None:
        """Mean average precision, where it counts."""
        return None if self.graph is None else float(mean_average_precision(tree, self.graph, n_jobs=self.n_jobs))

    def judge(self, tree: Tree, start: str, moves: int = 0, residual: float | None = None) -> _Candidate:
        """A candidate with its objective."""
        if self.errors is not None:
            return _Candidate(tree, self.errors.objective(tree), start, moves, residual)
        precision = self.precision(tree)
        loss = 0.0 if precision is None else 1 - precision
        return _Candidate(tree, stated_objective(self.distortion(tree), loss, self.share), start, moves, residual)

    def refined(self, tree: Tree, moves: bool) -> _Candidate:
        """The best that can be made of the tree, and of another start."""
        given = self.judge(tree, "tree")
        if len(tree) < 2 or self.distortion(tree) <= _EXACT:
            return given
        moves = moves and len(tree) > 3
        found = [given]
        if moves:
            starts = [given]
            if len(tree) <= _OTHER_START and not self.over:
                other = fit(self.metric, method=_OTHER, trials=_STARTS, rng=self.rng, n_jobs=self.n_jobs)
                starts.append(self.judge(other, _OTHER))
            found += starts[1:]
            if self.moves_pay:
                found += [self.moved(start) for start in starts]
        # The more promising ones get their weights fitted to the end.
        found.sort(key=_objective)
        several = 2 if self.small and len(tree) <= _TWO_CANDIDATES else 1
        return min([given, *found, *(self.weighted(one) for one in found[:several])], key=_objective)

    def moved(self, candidate: _Candidate) -> _Candidate:
        """Moves and quick weights, in turn, while they lower the objective."""
        for _ in range(_ROUNDS):
            if self.over:
                break
            found = rearrange(
                candidate.tree, self.metric, power=self.power, sweeps=_SWEEPS if self.small else 1,
                max_seconds=self.left, rng=self.rng,
            )  # fmt: skip
            tree, residual = found.tree, None
            better = self.judge(tree, candidate.start, candidate.moves + found.moves)
            if self.weights != "none" and not self.over:
                power = self.power if self.weights != "l1" else 0.0
                fitted = fit_weights(
                    tree, self.metric, power=power, rows=self.rows, rng=self.rng, tol=1e-6, max_seconds=self.left,
                    n_jobs=self.n_jobs,
                )  # fmt: skip
                tree, residual = fitted.tree, fitted.residual
                better = min(
                    better, self.judge(tree, candidate.start, candidate.moves + found.moves, residual), key=_objective
                )
            gain = candidate.objective - better.objective
            if gain <= 0:
                break
            candidate = better
            if gain < (_PROGRESS if self.small else _SAMPLED_PROGRESS) * abs(candidate.objective):
                break
        return candidate

    def weighted(self, candidate: _Candidate) -> _Candidate:
        """The same topology with the weights that were asked for."""
        if self.weights == "none" or self.over:
            return candidate
        fitted = fit_weights(
            candidate.tree, self.metric, objective={"relative_l2": "l2"}.get(self.weights, self.weights),
            power=self.power if self.weights == "relative_l2" else 0.0, balance=self.share, neighbors=self.neighbors,
            rows=self.rows, rng=self.rng, max_seconds=self.left, n_jobs=self.n_jobs,
        )  # fmt: skip
        return self.judge(fitted.tree, candidate.start, candidate.moves, fitted.residual)

    def finished(self, tree: Tree, best: _Candidate) -> RefinedTree:
        """The tree with its report."""
        before = self.judge(tree, "tree")
        refinement = Refinement(
            best.objective, before.objective, self.distortion(best.tree), self.distortion(tree),
            self.precision(best.tree), self.precision(tree), best.residual, best.moves, best.start,
            time.monotonic() - self.begin,
        )  # fmt: skip
        same = best.tree.support if best.moves == 0 and best.start == "tree" else None
        refined = RefinedTree._trusted(tree.n_points, best.tree.edges, best.tree.weights, tree.labels, same)
        assert isinstance(refined, RefinedTree)
        refined.__dict__["refinement"] = refinement
        return refined


def _objective(candidate: _Candidate) -> float:
    return candidate.objective


def _held(metric: Metric) -> Metric:
    """Distances are read many times: as a table that is cheap to read."""
    if isinstance(metric, MatrixMetric):
        return metric
    return MatrixMetric(dense_matrix(metric, "refine"), labels=metric.labels)


def _ones(graph: csr_array) -> csr_array:
    # Only who is a neighbour counts, and points at distance 0 are neighbours too.
    return csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
