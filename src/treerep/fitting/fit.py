"""`fit`: from any metric to its tree, by any method."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from ..common.engines import elsewhere
from ..common.numbers import positive_number
from ..common.options import chosen_options
from ..common.parallel import Workers, count_jobs
from ..common.progress import progress_bar
from ..common.used import note
from ..metric.base import Metric, check_labels
from ..metric.convert import as_metric
from ..tree.average import TreeAverage
from ..tree.support import Keys, inner_splits, share_of_splits
from ..tree.tree import Tree
from .result import EXACT_SCORES, selection_score

#: Every method, and the module of this room in which a function of that name has it.
METHODS = {
    "treerep": "treerep",
    "neighbor_joining": "neighbor_joining",
    "bionj": "bionj",
    "relaxed_neighbor_joining": "relaxed_neighbor_joining",
    "minimum_evolution": "minimum_evolution",
    "upgma": "upgma",
    "gromov": "gromov",
    "construct_tree": "construct_tree",
    "minimum_spanning_tree": "minimum_spanning_tree",
    "bfs": "bfs",
    "level_tree": "level_tree",
    "low_stretch": "low_stretch",
    "bartal": "bartal",
    "bartal_average": "bartal",
    "frt": "frt",
}


@overload
def fit(
    data: Any,
    *,
    method: Literal["bartal_average"],
    metric: str | None = ...,
    rng: Any = ...,
    n_jobs: int | None = ...,
    trees: int | None = ...,
    engine: Any = ...,
    device: Any = ...,
) -> Metric: ...
@overload
def fit(
    data: Any,
    *,
    method: str = ...,
    metric: str | None = ...,
    rng: Any = ...,
    trials: int = ...,
    n_jobs: int | None = ...,
    tol: float | Literal["auto"] | None = ...,
    pivot: str | None = ...,
    finish: str | None = ...,
    zone_size: int | None = ...,
    graph: str | None = ...,
    k: int | None = ...,
    root: int | None = ...,
    linkage: str | None = ...,
    criterion: str | None = ...,
    nni: bool | None = ...,
    trees: int | None = ...,
    engine: Any = ...,
    device: Any = ...,
) -> Tree: ...
def fit(
    data: Any,
    *,
    method: str = "treerep",
    metric: str | None = None,
    rng: Any = 0,
    trials: int = 1,
    n_jobs: int | None = None,
    tol: float | str | None = None,
    pivot: str | None = None,
    finish: str | None = None,
    zone_size: int | None = None,
    graph: str | None = None,
    k: int | None = None,
    root: int | None = None,
    linkage: str | None = None,
    criterion: str | None = None,
    nni: bool | None = None,
    trees: int | None = None,
    engine: Any = None,
    device: Any = None,
) -> Metric:
    """Learn the tree that approximates a metric.

    Parameters
    ----------
    data : Metric, array, DataFrame, sparse matrix or networkx graph
        A distance matrix; points, with `metric`; or a graph (see `as_metric`; a networkx graph counts edges unless
        `as_metric(G, weight=...)` names their lengths). Never modified.
    method : str
        One of those below. The page "Choosing a method" of the documentation compares them.
    metric : str, optional
        How to measure points: "euclidean", "cosine", ... (see `PointMetric`).
    rng : int, numpy Generator or None
        Seed of the random choices. The same seed gives the same tree, whatever the number of threads.
    trials : int
        Learn this many trees and keep the one of lowest average distortion after optimal scaling: over all pairs up to
        2,000 points, over 64 sampled rows beyond. The `support` of the tree's edges is the share of the trials that
        contain their split.
    n_jobs : int, optional
        Number of threads; None uses every core.
    tol : float or "auto"
        Of `treerep`. Lengths below it count as zero. "auto", the default, is 0.1, as in the paper, for whole-number
        distances, and a few units in the last place of the largest distance otherwise. Rounding of the whole table to
        float32 or to some digits after the point is seen. If your distances are those of a tree with other noise, set
        it above the noise: below, TreeRep takes noise for structure.
    pivot : "random", "near" or "closest"
        Of `treerep`. Which point of a zone on an edge is placed next: any (the default); the nearest to the edge's
        newer end among four; or the nearest of all, which is the paper's rule and quadratic on long paths.
    finish : "treerep" or "nj"
        Of `treerep`. "nj": zones of at most `zone_size` points are finished by neighbour joining, the nodes that they
        hang off among them. It finds neighbours better where the data is far from a tree, in O(n zone_size).
    zone_size : int
        See `finish`; 100 by default.
    graph : "complete" or "knn"
        Of `minimum_spanning_tree`, `bfs`, `level_tree` and `low_stretch`, which need a graph, for data that is none.
        The complete graph is never stored; the graph of the `k` nearest neighbours (10 by default) is connected by the
        shortest edges where it falls apart.
    k : int
        See `graph`.
    root : int
        Of `gromov`, `construct_tree`, `minimum_spanning_tree`, `bfs` and `level_tree`: the point to start from.
    linkage : "average", "single" or "complete"
        Of `gromov`: how the products of clusters are put together.
    criterion : "balanced" or "ols"
        Of `minimum_evolution`: what the length of a tree is.
    nni : bool
        Of `minimum_evolution`: whether to exchange neighbouring subtrees while that makes the tree shorter.
    trees : int
        Of `bartal` and `bartal_average`: how many trees are drawn, 200 by default.
    engine : "dask" or a dask.distributed Client, optional
        Work on a cluster; the result is the same, bit for bit. See the page "Scaling" of the documentation.
    device : str or torch.device, optional
        Work with torch on this device, for example "cuda".

    Returns
    -------
    Tree
        With the points as nodes 0 ... n-1. (Only "bartal_average" returns another Metric, the mean of several trees.)

    Notes
    -----
    ========================== ===================================================== ==================================
    method                     what it is                                            cost (time; memory beyond data)
    ========================== ===================================================== ==================================
    "treerep"                  TreeRep (Sonthalia and Gilbert 2020)                  about n log n; n
    "neighbor_joining"         exact NJ (Saitou and Nei 1987)                        about n^2 in practice; n^2
    "bionj"                    NJ with variances (Gascuel 1997)                      about n^2 in practice; 2 n^2
    "relaxed_neighbor_joining" NJ that joins any mutually nearest pair               about n^2; n^2
    "minimum_evolution"        greedy minimum evolution, then NNI                    n^2 times depth; n^2
    "upgma"                    average linkage, an ultrametric                       n^2; n^2
    "gromov"                   Gromov's tree of a root                               n^2; n ("single") or n^2
    "construct_tree"           ConstructTree (Abraham et al. 2007)                   about n^2 in practice; n
    "minimum_spanning_tree"    the shortest tree without new nodes                   n^2, or edges times log n; n
    "bfs"                      shortest paths from a central point                   n^2, or edges times log n; n
    "level_tree"               layering tree (Chepoi et al. 2008)                    edges; edges
    "low_stretch"              AKPW low-stretch spanning tree                        n^2 a round, or edges log n; n
    "bartal", "bartal_average" best, or mean, of random trees (Bartal 1996)          n^2 a halving and tree; n^2
    "frt"                      random dominating tree (Fakcharoenphol et al. 2003)   n^2; n log n
    ========================== ===================================================== ==================================

    The default root of "bfs" and "level_tree" costs up to n more searches (288 beyond 4,096 points).

    TreeRep is exact on tree metrics: the tree comes back with its lengths and the fewest possible nodes. In general
    some 10 to 20 distances per point are looked at, so the time is near n log n (n^2 at worst, for example on a star),
    and the memory O(n) beyond the data. Lengths that come out negative, on metrics far from a tree, are set to 0.

    Examples
    --------
    Three points at distance 2 hang off a hidden one at distance 1:

    >>> tree = fit([[0, 2, 2], [2, 0, 2], [2, 2, 0]])
    >>> tree
    Tree(3 points, 1 Steiner node)
    >>> tree.newick()
    '(0:1.0,1:1.0,2:1.0);'
    >>> fit([[0, 2, 2], [2, 0, 2], [2, 2, 0]], method="minimum_spanning_tree")
    Tree(3 points, 0 Steiner nodes)
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}")
    count, jobs = positive_number(trials, "trials"), count_jobs(n_jobs)
    learn = getattr(importlib.import_module(f".{METHODS[method]}", __package__), method)
    takes = inspect.signature(learn).parameters
    own = {
        "tol": tol, "pivot": pivot, "finish": finish, "zone_size": zone_size, "graph": graph, "k": k, "root": root,
        "linkage": linkage, "criterion": criterion, "nni": nni, "trees": trees,
    }  # fmt: skip
    options = chosen_options(method, learn, own)
    note(method)
    if count > 1 and "rng" not in takes:
        raise ValueError(f"{method} is not random, so all {count} trials would give the same tree: leave out trials")
    if count > 1 and root is not None:
        raise ValueError(f"all {count} trials from root {root!r} would give the same tree: leave out root or trials")
    other = elsewhere("fit", engine=engine, device=device)
    if other is not None:
        found: Tree = other(data, method=method, metric=metric, rng=rng, trials=count, n_jobs=n_jobs, **options)
        return found
    space = as_metric(data, metric=metric)
    n = len(space)
    if not 1 <= n < 2**30:
        raise ValueError(f"fit takes 1 to {2**30 - 1:,} points, not {n:,}")
    if n == 1:
        point = Tree(1, np.empty((0, 2), np.int64), np.empty(0), labels=check_labels(space.labels, n))
        return TreeAverage([point]) if method == "bartal_average" else point

    def attempt(generator: np.random.Generator, threads: int) -> Tree:
        shared = {name: value for name, value in (("rng", generator), ("n_jobs", threads)) if name in takes}
        return learn(space, **shared, **options)

    with Workers(1) as workers:  # so that no interrupt is lost, whatever the method does
        fitted = _best_of(attempt, space, count, np.random.default_rng(rng), jobs)
        workers.check()
    return fitted


def _best_of(
    attempt: Callable[[np.random.Generator, int], Tree],
    metric: Metric,
    trials: int,
    rng: np.random.Generator,
    jobs: int,
) -> Tree:
    """Fit once per trial and keep the best tree, the first of equals. The first trial is what trials=1 gives.

    The best tree gets the support of all. Of the others only the splits are kept.
    """
    if trials == 1:
        return attempt(rng, jobs)
    side_by_side = len(metric) <= EXACT_SCORES
    threads = 1 if side_by_side else jobs

    def scored(generator: np.random.Generator) -> tuple[float, Tree, Keys | None]:
        tree = attempt(generator, threads)
        return selection_score(tree, metric, threads), tree, inner_splits(tree) if isinstance(tree, Tree) else None

    with progress_bar(trials, "trials", "trees") as bar, Workers(jobs if side_by_side else 1) as workers:
        best: tuple[float, Tree] | None = None
        splits: list[Keys] = []
        for score, tree, found in workers.map(scored, [rng, *rng.spawn(trials - 1)]):
            best = (score, tree) if best is None or score < best[0] else best
            if found is not None:
                splits.append(found)
            bar.update()
            workers.check()
    assert best is not None
    tree = best[1]
    if not splits:  # bartal_average makes no tree
        return tree
    return Tree._trusted(tree.n_points, tree.edges, tree.weights, tree.labels, share_of_splits(tree, splits))
