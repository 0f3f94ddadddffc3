"""Scores of the trees that a refinement compares."""

import time
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._core.memory import check_memory
from .._core.parallel import run
from .._core.progress import progress_bar
from ..fitting._distances import checked_block
from ..metric.base import Metric
from ..metric.graph import GraphMetric
from ..metric.matrix import MatrixMetric
from ..metric.points import PointMetric
from ..scores._streaming import row_slices
from ..scores.distortion import average_distortion, distance_error
from ..scores.mean_average_precision import mean_average_precision
from ..scores.score import Score
from ..tree.tree import Tree
from ._clock import Clock
from .lengths._neighborhoods import neighbor_graph
from .lengths.least_distortion import stated_objective
from .moves.search import Distances

#: A tree counts as exact if its average distortion is below this value or below the rounding
#: error of the data.
EXACT = 1e-9
# Pairs at distance 0 have no relative error. If the data has such pairs, the largest absolute
# error of an exact tree is at most this multiple of the rounding.
_LARGEST_ERROR = 64
# Seed of the rows on which large trees are compared. Weights are fitted to different rows.
_SCORING_SEED = 1


class Candidate(NamedTuple):
    """A candidate for the result, with its scores."""

    tree: Tree
    # Squared errors are in the unit of `Distances`, so they neither overflow nor underflow.
    objective: float
    start: str
    moves: int = 0
    residual: float | None = None
    # Scores that the objective needs are stored, so that each is computed only once.
    distortion: Score | None = None
    precision: float | None = None


def exact_distortion(metric: Metric) -> float:
    """Return the average distortion up to which a tree counts as exact for this metric."""
    return max(EXACT, metric.eps, metric.input_eps)


def objective_of(candidate: Candidate) -> float:
    """Return the value by which candidates are compared."""
    return candidate.objective


class Scorer:
    """Computes the objective of trees.

    metric : the data; a matrix if distances are read many times
    rows : "all", or the number of sampled rows on which trees are compared
    share : weight of neighborhoods relative to distances, from 0 to 1
    graph : the neighborhoods, if they are part of the objective
    errors : the squared errors to minimize; None if the objective is the distortion
    rounding : the largest distortion of an exact tree
    """

    def __init__(
        self,
        metric: Metric,
        *,
        rows: Literal["all"] | int,
        share: float,
        graph: GraphMetric | None,
        errors: Distances | None,
        rounding: float,
        clock: Clock,
        n_jobs: int | None,
    ) -> None:
        self.metric = metric
        self.rows = rows
        self.share = share
        self.graph = graph
        self.errors = errors
        self.clock = clock
        self.n_jobs = n_jobs
        self.rounding = rounding

    def distortion(self, tree: Tree) -> Score:
        """Return the average distortion over all pairs, or over sampled rows."""
        return average_distortion(tree, self.metric, rows=self.rows, rng=_SCORING_SEED, n_jobs=self.n_jobs)

    def precision(self, tree: Tree) -> float | None:
        """Return the mean average precision, or None if neighborhoods are not part of the objective."""
        if self.graph is None:
            return None
        return float(mean_average_precision(tree, self.graph, n_jobs=self.n_jobs))

    def score(self, tree: Tree, start: str, moves: int = 0, residual: float | None = None) -> Candidate:
        """Score a tree. The clock records how long the scoring took."""
        begin = time.monotonic()
        if self.errors is not None:
            objective = self.errors.weighted_error(tree)
            scored = Candidate(tree, objective, start, moves, residual)
        else:
            distortion = self.distortion(tree)
            precision = self.precision(tree)
            loss = 0.0 if precision is None else 1 - precision
            objective = stated_objective(float(distortion), loss, self.share)
            scored = Candidate(tree, objective, start, moves, residual, distortion, precision)
        self.clock.scoring_time = time.monotonic() - begin
        return scored

    def is_exact(self, candidate: Candidate) -> bool:
        """Return whether a tree reproduces the distances of the data, up to rounding."""
        if len(candidate.tree) < 2:
            return True
        assert candidate.distortion is not None
        if candidate.distortion > self.rounding:
            return False
        if not candidate.distortion.skipped:
            return True
        # Pairs at distance 0 have no relative error, but the tree may separate them.
        points = np.arange(len(candidate.tree))
        row = checked_block(self.metric, points[:1], points)
        largest = float(row.max(where=row >= 0, initial=0.0))
        error = distance_error(
            candidate.tree,
            self.metric,
            norm="linf",
            rows=self.rows,
            rng=_SCORING_SEED,
            n_jobs=self.n_jobs,
        )
        return float(error) <= _LARGEST_ERROR * self.rounding * largest


def as_matrix(metric: Metric, n_jobs: int | None) -> MatrixMetric:
    """Return the metric as a matrix, which is fast to read repeatedly."""
    if isinstance(metric, MatrixMetric):
        return metric
    n = len(metric)
    check_memory(
        8 * n * n,
        f"refine on {n:,} points",
        "fit a tree to a sample of the points and place the others in it",
    )
    matrix = np.empty((n, n))
    points = np.arange(n)
    # Distances of points cost the same in both directions and agree in all bits. Graphs compute whole
    # rows, and a custom metric may be asymmetric by mistake.
    half = isinstance(metric, PointMetric)

    def read(rows: slice) -> int:
        start = rows.start if half else 0
        matrix[rows, start:] = checked_block(metric, points[rows], points[start:])
        if half:
            matrix[rows.stop :, rows] = matrix[rows, rows.stop :].T
        return rows.stop - rows.start

    with progress_bar(n, "distances", "points") as bar:
        for done in run(read, row_slices(n, n), n_jobs):
            bar.update(done)
    return MatrixMetric(matrix, labels=metric.labels)


def neighborhoods(metric: Metric, matrix: Metric) -> tuple[csr_array, GraphMetric]:
    """Return the neighbors of each point, with distances and as a graph.

    `matrix` holds the same distances as `metric`.
    """
    if isinstance(metric, GraphMetric):
        return neighbor_graph(metric), metric
    neighbors = neighbor_graph(matrix)
    # Every edge has length 1, so points at distance 0 are neighbors as well.
    ones = np.ones(neighbors.nnz)
    edges = csr_array((ones, neighbors.indices, neighbors.indptr), shape=neighbors.shape)
    return neighbors, GraphMetric(edges)
