"""Fit a tree to a metric with missing distances, by the methods that accept one.

1. *Start*: NJ* joins neighbors, and points and subtrees move to the places that best fit their
   measured distances. "auto" skips step 2.
2. *Alternate*: for other methods, each missing distance is replaced by the length of its path in
   the tree, and the method fits a tree to all distances. This repeats while the measured
   distances fit better, as in expectation maximization.
3. *Branches without distances*: points move to branches that their distances do not exclude
   (`free_branches`), and the lengths are fitted again.

Lengths minimize the squared relative errors of the measured distances, or for "auto" the average
distortion.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.used import note
from ...fitting._distances import dense_matrix, rounding_of
from ...fitting._finished_tree import finished_tree
from ...fitting.methods import METHODS
from ...fitting.missing.measured import check_measured_pairs
from ...fitting.missing.nj_star import MATRICES, nj_star
from ...metric.base import Metric
from ...metric.matrix import MatrixMetric
from ...tree.tree import Tree
from .._arguments import check_arguments
from ..backbone._small_tree import small_tree, weighting
from ..lengths.weights import WeightFit, fit_weights
from ..moves.search import rearrange
from .free_branches import use_free_branches

# Most repetitions of step 2.
_ROUNDS = 5
# Powers of the distance by which moves and lengths divide squared errors. On
# simulated alignments, lengths of power 0 gave more wrong splits.
_MOVE_POWER = 4.0
_LENGTH_POWER = 2.0


def fit_measured(metric: Metric, *, method: str, **options: Any) -> Tree:
    """Fit a tree to the measured distances of a metric. `options` are those of the method."""
    note("missing")
    distances = dense_matrix(metric, method, matrices=MATRICES)
    check_measured_pairs(metric, distances)
    start = nj_star(metric, distances)
    if method == "auto":
        tree = _auto(metric, start, **options)
    else:
        if len(start) > 3:
            start = rearrange(start, metric, power=_MOVE_POWER, rng=0).tree
        tree = _alternate(metric, distances, start, method, options)
    # A fit leaves edges of 0 with lengths as large as rounding errors.
    return tree.contracted(rounding_of(metric, float(np.nanmax(distances))))


def _learn(metric: Metric, complete: NDArray[np.float64], method: str, options: dict[str, Any]) -> Tree:
    """Run a method on complete distances, rounded like those of the metric."""
    single = metric.input_eps > np.finfo(np.float64).eps
    square = complete.astype(np.float32) if single else complete
    table = MatrixMetric(square, labels=metric.labels)
    tree: Tree = METHODS[method].load()(table, **options)
    return tree


def _auto(
    metric: Metric,
    start: Tree,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Move the points and subtrees of a start, and fit its lengths, as `auto` does."""
    check_arguments(True, 0.0 if balance is None else balance, time_limit)
    choice = weighting("distances", balance, len(metric))
    (power,) = choice.moves
    tree = small_tree(
        start,
        metric,
        choice,
        power=power,
        graph=None,
        rng=rng,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )
    tree = use_free_branches(tree, metric)
    fitted = fit_weights(tree, metric, objective="l1", rng=rng, time_limit=time_limit, n_jobs=n_jobs)
    return finished_tree(metric, fitted.tree.edges, fitted.tree.weights)


def _alternate(
    metric: Metric,
    distances: NDArray[np.float64],
    start: Tree,
    method: str,
    options: dict[str, Any],
) -> Tree:
    """Alternate between missing distances and the tree while the measured distances fit better."""
    points = np.arange(len(distances))
    missing = np.isnan(distances)
    fitted = _fit_lengths(start, metric)
    best: WeightFit | None = None
    for _ in range(_ROUNDS):
        complete = np.where(missing, fitted.tree.block(points, points), distances)
        mean = (complete + complete.T) / 2
        fitted = _fit_lengths(_learn(metric, mean, method, options), metric)
        if best is not None and not fitted.value < best.value:
            break
        best = fitted
    assert best is not None
    return _fit_lengths(use_free_branches(best.tree, metric), metric).tree


def _fit_lengths(tree: Tree, metric: Metric) -> WeightFit:
    return fit_weights(tree, metric, objective="l2", power=_LENGTH_POWER)
