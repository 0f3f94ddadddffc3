"""`refine`: improve the weights and the topology of a tree."""

from typing import Literal, overload

from .._core.backend import runner_backend
from .._core.checks import check_choice
from .._core.parallel import Runner
from .._core.typing import EngineLike, MetricLike, RNGLike
from .._core.used import note
from ..metric._matching import after_matching, matched
from ..metric._missing import refuse_missing
from ..metric.as_metric import as_metric
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum
from ._arguments import check_arguments
from ._run import RefineRequest, Run
from .report import RefinedTree
from .sums.fit import SumRequest, refine_sum

WEIGHTS = ("l1", "l2", "relative_l2", "none")

__all__ = ["WEIGHTS", "RefineRequest", "refine", "refined_tree"]


@overload
def refine(
    tree: Tree,
    data: MetricLike,
    *,
    metric: str | None = None,
    weights: Literal["l1", "l2", "relative_l2", "none"] = "l1",
    moves: bool = True,
    balance: float = 0.5,
    time_limit: float | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> RefinedTree: ...


@overload
def refine(
    tree: TreeSum,
    data: MetricLike,
    *,
    metric: str | None = None,
    weights: Literal["l1", "l2", "relative_l2", "none"] = "l1",
    moves: bool = True,
    balance: float = 0.5,
    time_limit: float | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> TreeSum: ...


def refine(
    tree: Tree | TreeSum,
    data: MetricLike,
    *,
    metric: str | None = None,
    weights: Literal["l1", "l2", "relative_l2", "none"] = "l1",
    moves: bool = True,
    balance: float = 0.5,
    time_limit: float | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> RefinedTree | TreeSum:
    """Improve the edge lengths and the topology of a tree, or of a sum of trees.

    Parameters
    ----------
    tree : Tree or TreeSum
        A tree, or a sum of trees, on the points of `data`. It is never modified.
    data : Metric, array, DataFrame, sparse matrix or networkx graph
        The distances that the tree approximates. See `as_metric`, also for `metric`. If some
        distances are missing, only the measured pairs count, and the objective does not include
        neighborhoods.
    weights : "l1", "l2", "relative_l2" or "none"
        The objective of the edge lengths.

        - "l1": the average distortion, combined with the precision of neighborhoods (see
          `balance`).
        - "l2": the sum of squared errors, minimized exactly.
        - "relative_l2": the sum of squared relative errors (Fitch and Margoliash 1967).
        - "none": edge lengths change only through moves.
    moves : bool
        Whether the topology may change. Points and subtrees move if `balance` is below 1/2,
        because moves improve distances at the cost of neighborhoods. Up to 5,000 points,
        relaxed neighbor joining is tried as a second start. For a matrix or a custom metric,
        moves favor near distances, as suits a phylogeny, and no second start is tried. Above
        10,000 points, the tree of `fit(method="backbone")` replaces moves.
    balance : float from 0 to 1
        (`weights="l1"` only) 0 optimizes distances, and 1 optimizes neighborhoods (mean average
        precision). The objective is (1 - s) log(distortion + 0.001) + s log(1 - precision + 0.001),
        with s / (1 - s) = 2 balance / (3 (1 - balance)) and s at most 0.95. With balance 0, the
        objective is the distortion. Neighbors are the neighbors in a graph, or the ten nearest
        points of other data. Above 10,000 points, the objective is the distortion alone.
    metric : str, optional
        For points: as in `as_metric`.
    time_limit : float, optional
        Seconds after which the best tree so far is returned. The limit does not interrupt reading
        the distances of up to 10,000 points and scoring the tree once. On two cores, reading and
        scoring take a few seconds for 10,000 points, and tenths of a second for 3,000.
    rng, n_jobs, engine
        As in `fit`.

    Returns
    -------
    RefinedTree or TreeSum
        Never worse than `tree` by the objective, and equal to `tree` if `tree` is exact. Its
        attribute `RefinedTree.refinement` reports the improvement. If tree and data have
        labels, points are matched by label. The points of the result are in the order of the
        data, as from `fit`. A sum of trees gives a `TreeSum`, without a report.

    See Also
    --------
    fit : Fit a tree.
    place : Add new points to a tree.
    Refinement : The report of the improvement.
    average_distortion : Measure how well a tree fits the data.
    mean_average_precision : Measure how well a tree keeps neighborhoods.

    Notes
    -----
    A move removes a point or a subtree and reattaches it where the squared error of its
    distances, weighted by 1 / d^p, is least. Testing all places takes O(N). The exponent p is 4
    balance, at most 2; for a matrix it is 8 balance, at most 4. "l2" takes O(n^2) in total, and
    the other objectives O(n^2) per step.

    Each tree of a sum moves to fit what the other trees leave, and all edge lengths are fitted
    together after every round of moves, also with `weights="none"`. A sum needs all distances in
    memory. `engine` does not apply to sums.

    Above 10,000 points, edge lengths are fitted to 256 sampled rows. Two trees are compared on 256
    other rows, and the better one is returned: either `tree` with new lengths or a backbone tree.

    Examples
    --------
    >>> import treerep as tr
    >>> mammals = tr.datasets.sarich()
    >>> better = tr.refine(tr.fit(mammals, method="treerep"), mammals)
    >>> better.refinement.distortion < better.refinement.distortion_before
    True
    """
    if not isinstance(tree, Tree | TreeSum):
        raise TypeError(
            "refine expects a Tree or a TreeSum, for example from fit, followed by the data; "
            f"got a {type(tree).__name__}"
        )
    check_choice("weights", weights, WEIGHTS)
    check_arguments(moves, balance, time_limit)
    note("refine")
    backend = runner_backend(n_jobs=n_jobs, engine=engine)
    backend.validate(data=data)
    space = as_metric(data, metric=metric)
    tree = matched(tree, space, ("tree", "data"))
    if isinstance(tree, TreeSum):
        if engine is not None:
            raise ValueError("a sum of trees is refined by threads: leave out engine")
        refuse_missing(space, "a sum of trees", "refine one tree")
        options = float(balance), weights, time_limit, rng, n_jobs
        return refine_sum(tree, SumRequest(space, len(tree.trees), *options), moves=bool(moves))
    request = RefineRequest(tree, space, weights, bool(moves), float(balance), time_limit, rng)
    return backend.refine(request)


def refined_tree(
    request: RefineRequest,
    n_jobs: int | None,
    runner: Runner | None = None,
) -> RefinedTree:
    """Refine with threads, or with a runner for the passes that `fit_weights` can delegate."""
    order_known = after_matching(request.tree, request.metric)
    run = Run(request, n_jobs, runner)
    given, best = run.refined()
    return run.report(given, best, order_known)
