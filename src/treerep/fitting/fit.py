"""`fit`: from any metric to its tree."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..common.numbers import positive_number
from ..common.parallel import Workers, count_jobs
from ..common.progress import progress_bar
from ..metric.base import Metric, MetricError, check_labels
from ..metric.convert import as_metric
from ..tree.canonical import canonical_edges
from ..tree.tree import Tree

METHODS = ("treerep",)

# Up to here trials are compared on all pairs, and run side by side; above, on sampled rows, one after the other.
_EXACT_TRIALS = 2000
_SAMPLED_ROWS = 64


def fit(
    data: Any,
    *,
    method: str = "treerep",
    metric: str | None = None,
    rng: Any = 0,
    trials: int = 1,
    tol: float | str = "auto",
    pivot: str = "random",
    n_jobs: int | None = None,
) -> Tree:
    """Learn the tree that approximates a metric.

    Parameters
    ----------
    data : Metric, array, DataFrame, sparse matrix or networkx graph
        A distance matrix; points, with `metric`; or a graph (see `as_metric`). Never modified.
    method : "treerep"
        TreeRep (Sonthalia and Gilbert, NeurIPS 2020).
    metric : str, optional
        How to measure points: "euclidean", "cosine", ... (see `PointMetric`).
    rng : int, numpy Generator or None
        Seed of the random choices. The same seed gives the same tree, whatever the number of threads.
    trials : int
        Learn this many trees and keep the one of lowest average distortion after optimal scaling: over all pairs up to
        2,000 points, over 64 sampled rows beyond.
    tol : float or "auto"
        Lengths below it count as zero. "auto" is 0.1, as in the paper, for whole-number distances, and a few units in
        the last place of the largest distance otherwise. Rounding of the whole table to float32 or to some
        digits after the point is seen. If your distances are those of a tree with other noise, set it above the noise:
        below, TreeRep takes noise for structure.
    pivot : "random", "near" or "closest"
        Which point of a zone on an edge is placed next: any; the nearest to the edge's newer end among four; or the
        nearest of all, which is the paper's rule and quadratic on long paths. Compared in docs/treerep.md.
    n_jobs : int, optional
        Number of threads; None uses every core.

    Returns
    -------
    Tree
        With the points as nodes 0 ... n-1 and at most n Steiner nodes.

    Notes
    -----
    Exact on tree metrics: the tree comes back with its lengths and the fewest possible nodes. In general some 10 to
    20 distances per point are looked at, so the time is near n log n (n^2 at worst, for example on a star), and the
    memory O(n) beyond the data. Negative lengths, which metrics far from a tree produce, are set to 0.

    Examples
    --------
    Three points at distance 2 hang off a hidden one at distance 1:

    >>> tree = fit([[0, 2, 2], [2, 0, 2], [2, 2, 0]])
    >>> tree
    Tree(3 points, 1 Steiner node)
    >>> tree.newick()
    '(0:1.0,1:1.0,2:1.0);'
    """
    from .treerep import PIVOT_RULES

    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}")
    if pivot not in PIVOT_RULES:
        raise ValueError(f"unknown pivot rule {pivot!r}: choose one of {', '.join(PIVOT_RULES)}")
    space = as_metric(data, metric=metric)
    count = positive_number(trials, "trials")
    return _best_of(space, count, np.random.default_rng(rng), _tolerance(tol), PIVOT_RULES.index(pivot), n_jobs)


def _tolerance(tol: float | str) -> float | None:
    if isinstance(tol, str) and tol == "auto":
        return None
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.number)) or not 0 <= float(tol) < np.inf:
        raise ValueError(f"tol is a length of at least 0 or 'auto', not {tol!r}")
    return float(tol)


def _best_of(
    metric: Metric, trials: int, rng: np.random.Generator, tol: float | None, rule: int, n_jobs: int | None
) -> Tree:
    """Fit once per trial and keep the best tree, the first of equals."""
    n = len(metric)
    if not 1 <= n < 2**30:
        raise ValueError(f"fit takes 1 to {2**30 - 1:,} points, not {n:,}")
    labels = check_labels(metric.labels, n)
    side_by_side = trials > 1 and n <= _EXACT_TRIALS
    jobs = count_jobs(n_jobs)
    priorities = (rng.permutation(n).astype(np.int32) for _ in range(trials))
    with progress_bar(n * trials, "TreeRep", "points") as bar, Workers(jobs) as workers:

        def attempt(priority: NDArray[np.int32]) -> tuple[float, Tree]:
            threads = _Inline(workers) if side_by_side else workers
            tree = _fit_once(metric, labels, priority, tol, rule, threads, bar)
            return (0.0, tree) if trials == 1 else (_score(tree, metric, 1 if side_by_side else jobs), tree)

        results = workers.map(attempt, priorities) if side_by_side else map(attempt, priorities)
        return min(results, key=lambda result: result[0])[1]


class _Inline(Workers):
    """Workers for a task that itself runs on a pool: everything inline, but stopped with that pool."""

    def __init__(self, pool: Workers) -> None:
        super().__init__(1)
        self.stopped = pool.stopped


def _fit_once(
    metric: Metric,
    labels: tuple[str, ...] | None,
    priority: NDArray[np.int32],
    tol: float | None,
    rule: int,
    workers: Workers,
    bar: Any,
) -> Tree:
    from .treerep import TreeRep

    n = len(metric)
    if n == 1:
        return Tree(1, np.empty((0, 2), np.int64), np.empty(0), labels=labels)
    engine = TreeRep(metric, priority, tol, rule, workers, bar)
    edges, weights = engine.run()
    # Lengths between Steiner nodes can come out negative where the metric is no tree; dropping such an edge would
    # cut the tree in two, so its ends are put together instead.
    np.maximum(weights, 0.0, out=weights)
    if not np.isfinite(weights).all():
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    nodes = engine.nodes
    del engine  # its working memory is not needed any more, and the next step has its own
    return Tree._trusted(n, *canonical_edges(n, edges, weights, nodes), labels=labels)


def _score(tree: Tree, metric: Metric, n_jobs: int) -> float:
    from ..scoring.distortion import average_distortion

    rows: Literal["all"] | int = "all" if len(metric) <= _EXACT_TRIALS else _SAMPLED_ROWS
    return float(average_distortion(tree, metric, scale="optimal", rows=rows, rng=0, n_jobs=n_jobs))
