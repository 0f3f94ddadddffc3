"""Edge weights for a fixed topology.

The weights minimize the squared errors, the distortion, or a balance of distortion and
neighborhoods.
"""

import math
import time
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..._core.checks import check_between, check_choice
from ..._core.parallel import Runner, Workers
from ..._core.progress import progress_bar
from ..._core.typing import RNGLike
from ...metric._matching import matched
from ...metric.base import Metric
from ...scores._sampling import sample_rows
from ...tree.tree import Tree
from ._nearby import Nearby
from ._neighborhoods import Neighborhoods, neighbor_graph
from ._pairs import Optimum, Pairs
from ._splits import SplitTree, distribute, find_tree_splits, gather
from .least_distortion import COARSE, NEARBY, Balance, least_distortion
from .least_squares import least_squares

_OBJECTIVES = ("l2", "l1")
# The given lengths of edges inside clades of at most this many points, and at most 1/8 of them, are
# good for near relations.
_NEAR_CLADE = 32


class WeightFit(NamedTuple):
    """A tree with fitted weights, and the quality of the fit."""

    tree: Tree  # the same topology
    value: float  # objective of the tree
    start: float  # objective of the given tree
    residual: float  # largest violation of the optimality conditions, dimensionless
    iterations: int
    pairs: int  # number of pairs in the objective
    exact: bool  # all pairs are used, and the residual is below `tol`


def fit_weights(
    tree: Tree,
    metric: Metric,
    *,
    objective: str = "l2",
    power: float = 0.0,
    balance: float = 0.0,
    neighbors: csr_array | None = None,
    nearby: bool = False,
    rows: int | Literal["all"] = "all",
    squares_first: bool = True,
    rng: RNGLike = 0,
    tol: float = 1e-9,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    runner: Runner | None = None,
) -> WeightFit:
    """Fit the weights of a tree to the distances of a metric. The topology does not change.

    Parameters
    ----------
    tree : Tree on the points of `metric`
        The search starts from the weights of this tree.
    objective : "l2" or "l1"
        "l2" is the sum of (d_T - d)^2 / d^power over the pairs. "l1" is the smoothed average
        distortion, the mean of sqrt(q^2 + 1e-6) with q = d_T / d - 1.
    power : float from 0 to 2, for "l2"
        0 is ordinary least squares, and 2 is relative least squares (Fitch and Margoliash, Science
        155, 1967).
    balance : float from 0 to 1, for "l1"
        0 minimizes the average distortion, and 1 maximizes mean average precision. In between,
        the weighted mean of the logarithms of the distortion and of 1 - precision is minimized.
    neighbors : csr_array, optional
        The neighborhoods of `balance`. By default the edges of a graph, or the ten nearest
        points.
    nearby : bool
        Compare each point only with the points near it in the tree. Its neighbors are the ten
        nearest of these points. This takes O(n), and O(n^2) otherwise. The given lengths of edges
        inside clades of at most 32 points (and 1/8 of all) should be good: they are held until the others fit.
    rows : int or "all"
        Use the distances from this number of random points to all points instead of all pairs.
        This is an unbiased estimate of the objective. Edges that the sample does not determine
        keep about their old lengths. The search ends when a step gains less than a thousandth.
    squares_first : bool, for "l1"
        Whether to start from ordinary least squares if that start is better. This is not needed if
        the tree already has fitted lengths.
    tol : float
        Residual to reach. For "l2", the residual of an edge is the amount by which its length would
        change if only this edge were free, as a fraction of the largest distance from a point. With
        a power, the residual is the resulting change of the weighted distances, as a fraction of
        their norm. Short distances then count as much as long distances. For "l1", the residual is
        the gradient divided by its largest possible value. Expect 1e-2, because a smoothed minimum
        has sharp bends, and more if distances span eight orders of magnitude.
    time_limit : float, optional
        Seconds after which the best weights so far are returned. The residual shows how good these
        weights are.
    runner : Runner, optional
        Performs the passes over the pairs for "l2" with power 0, instead of threads. Other
        objectives need too many passes: sending the sums would take longer than computing them.

    Notes
    -----
    Pairs at distance 0 have no relative error: "l1" ignores them, and "l2" with a power weights
    them like the smallest positive distance. Edges on no path between the pairs keep their
    weights. Edges with the same split (a chain through Steiner nodes) share their sum in the
    old proportions. The result is never worse than the given tree.

    Time: "l2" with power 0 takes two passes over the pairs and O(N) per step. All other
    objectives take about 100 to 1,000 passes. A pass takes O(n^2), also in a deep tree, or
    O(rows N). Distances are kept if they fit into half of the free memory and are read again in
    every pass otherwise. The result is bitwise identical for every n_jobs.

    Examples
    --------
    >>> import treerep as tr
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0])
    >>> fit_weights(tree, tr.as_metric([[0, 3, 4], [3, 0, 5], [4, 5, 0]])).tree.weights
    array([1., 2., 3.])
    """
    check_choice("objective", objective, _OBJECTIVES)
    check_between("power", power, 0.0, 2.0)
    check_between("balance", balance, 0.0, 1.0)
    tree = matched(tree, metric, ("tree", "metric"))
    if len(tree) < 2:
        return WeightFit(tree, 0.0, 0.0, 0.0, 0, 0, True)
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    splits = find_tree_splits(tree)
    sample = sample_rows(len(tree), rows, rng, len(tree))
    with Workers(n_jobs) as workers, progress_bar(np.inf, "lengths", "passes") as bar:
        # The distortion of a pair at distance 0 is undefined, but its squared error is not.
        power = 2.0 if objective == "l1" else float(power)
        pairs = Pairs(
            splits,
            metric,
            sample,
            power,
            workers,
            with_zeros=objective == "l2",
            runner=None if power else runner,
            bar=bar,
        )
        given = gather(splits, tree.weights) / pairs.unit
        if objective == "l2":
            best = least_squares(pairs, given, tol, deadline)
        else:
            shared = None
            plan = None
            if balance > 0 and nearby:
                smaller = np.minimum(pairs.below, len(tree) - pairs.below)
                held = (smaller > 1) & (smaller <= min(_NEAR_CLADE, len(tree) // 8))
                start = least_distortion(pairs, given, tol, deadline, plan=COARSE, held=held)
                given = start.length
                squares_first = False
                shared = Balance(float(balance), Nearby(metric, splits, pairs.unit, workers))
                plan = NEARBY
            elif balance > 0:
                graph = neighbor_graph(metric) if neighbors is None else neighbors
                near = Neighborhoods(graph, splits, pairs.unit, workers)
                shared = Balance(float(balance), near)
            best = least_distortion(pairs, given, tol, deadline, shared, squares_first, plan)
    exact = sample is None and best.residual <= tol
    return fitted(tree, splits, best, pairs.unit, pairs.count, exact)


def fitted(
    tree: Tree,
    splits: SplitTree,
    best: Optimum,
    unit: float,
    count: int,
    exact: bool,
) -> WeightFit:
    """Return the tree with the weights found by a search, which are in units of `unit`."""
    given = gather(splits, tree.weights)
    # Unchanged lengths keep their exact values.
    found = np.where(best.length == given / unit, given, best.length * unit)
    weights = distribute(splits, tree.weights, found, given)
    fitted = tree.with_weights(weights)
    return WeightFit(fitted, best.value, best.start, best.residual, best.iterations, count, exact)
