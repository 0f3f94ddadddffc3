"""`fit`: from any metric to its tree, by any method."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from .._core.backend import backend_for
from .._core.checks import positive_number
from .._core.method import Method, find_method
from .._core.parallel import Runner, Workers, count_jobs
from .._core.progress import progress_bar
from .._core.typing import DeviceLike, EngineLike, MetricLike, RNGLike
from .._core.used import note
from ..metric.base import Metric, check_labels
from ..tree.comparison.support import Keys, inner_splits, share_of_splits
from ..tree.tree import Tree
from ._distances import selection_score
from .methods import DEFAULT, METHODS, TRIALS, method_table


def fit(
    data: MetricLike,
    *,
    method: str = DEFAULT,
    metric: str | None = None,
    rng: RNGLike = 0,
    trials: int = TRIALS,
    n_jobs: int | None = None,
    tol: float | Literal["auto"] | None = None,
    pivot: Literal["random", "near", "closest"] | None = None,
    finish: Literal["treerep", "nj"] | None = None,
    zone_size: int | None = None,
    graph: Literal["complete", "knn"] | None = None,
    k: int | None = None,
    root: int | str | None = None,
    linkage: Literal["average", "single", "complete"] | None = None,
    criterion: Literal["balanced", "ols"] | None = None,
    nni: bool | None = None,
    trees: int | None = None,
    size: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
    engine: EngineLike = None,
    device: DeviceLike = None,
) -> Tree:
    """Learn the tree that approximates a metric.

    Parameters
    ----------
    data : Metric, array, DataFrame, sparse matrix or networkx graph
        A distance matrix; points, with `metric`; or a graph (see `as_metric`; a networkx graph
        counts edges unless `as_metric(G, weight=...)` names their lengths). Never modified.
    method : str
        One of those below. "auto", the default, is a good tree in all respects: exact on tree
        metrics, otherwise by neighbor joining and moves up to 2,000 points (5,000 vertices of
        a graph), and "backbone" beyond. The page "Choosing a method" of the documentation
        compares them.
    metric : str, optional
        How to measure points: "euclidean", "cosine", ... (see `PointMetric`). Without it, an
        array holds distances.
    rng : int, numpy Generator or None
        Seed of the random choices. The same seed gives the same tree, whatever the number of
        threads.
    trials : int
        Learn this many trees and keep the one of lowest average distortion after optimal
        scaling: over all pairs up to 2,000 points, over 64 sampled rows beyond. The `support`
        of the tree's edges is the share of the trials that contain their split.
    n_jobs : int, optional
        Number of threads; None uses every core, and at least 16 for a matrix on disk.
    tol : float or "auto"
        (`method="treerep"` only) Lengths below this count as zero. "auto", the default, is 0.1
        for whole-number distances, as in the paper, and a few units in the last place of the
        largest distance otherwise. Tables that were rounded to float32 or to a few digits after
        the point are recognized. If your distances are those of a tree with other noise, set
        `tol` above the noise: otherwise TreeRep takes noise for structure.
    pivot : "random", "near" or "closest"
        Of `treerep`. Which point of a zone on an edge is placed next: any (the default); the
        nearest to the edge's newer end among four; or the nearest of all, which is the paper's
        rule and quadratic on long paths.
    finish : "treerep" or "nj"
        Of `treerep`. "nj": zones of at most `zone_size` points are finished by neighbor
        joining, the nodes that they hang off among them. It finds neighbors better where the
        data is far from a tree, in O(n zone_size).
    zone_size : int
        See `finish`; 100 by default.
    graph : "complete" or "knn"
        Of `minimum_spanning_tree`, `bfs`, `level_tree` and `low_stretch`, which need a graph,
        for data that is none. The complete graph is never stored; the graph of the `k` nearest
        neighbors (10 by default) is connected by the shortest edges where it falls apart.
    k : int
        See `graph`.
    root : int or label
        Of `gromov`, `construct_tree`, `minimum_spanning_tree`, `bfs` and `level_tree`: the
        point to start from.
    linkage : "average", "single" or "complete"
        Of `gromov`: how the products of clusters are put together.
    criterion : "balanced" or "ols"
        Of `minimum_evolution`: what the length of a tree is.
    nni : bool
        Of `minimum_evolution`: whether to exchange neighboring subtrees while that makes the
        tree shorter.
    trees : int
        (`method="bartal"` only) Number of random trees, 200 by default.
    size : int
        (`method="backbone"` only) Number of points whose tree is learned first, 2,000 by
        default. If there are no more points, it is the tree of all.
    balance : float from 0 to 1
        Of `auto` and `backbone`: how much near distances count, from 0 (good long distances) to
        1 (neighbors and groups). By default 0 for graphs, 3/4 for up to 2,000 points and 1/4
        for more, and 1 for distances that were given as such.
    time_limit : float
        Of `auto` and `backbone`: seconds for each round of moves and of lengths. Without it,
        the seed alone decides.
    engine : "dask" or a dask.distributed Client, optional
        Work on a cluster; the result is the same, bit for bit. See the page "Scaling" of the
        documentation.
    device : str or torch.device, optional
        Work with torch on this device, for example "cuda" for a GPU; with the threads of the
        CPU by default.

    Returns
    -------
    Tree
        With the points as nodes 0 ... n-1.

    Notes
    -----
    <table of methods>

    The default root of "bfs" and "level_tree" costs up to n more searches (288 beyond 4,096
    points).

    TreeRep is exact on tree metrics: the tree comes back with its lengths and the fewest
    possible nodes. In general some 10 to 20 distances per point are looked at, so the time is
    near n log n (n^2 at worst, for example on a star), and the memory O(n) beyond the data.
    Lengths that would come out negative, on metrics far from a tree, are 0.

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
    record = find_method(METHODS, method)
    count = positive_number(trials, "trials")
    count_jobs(n_jobs)  # raises an error early
    given = {
        "tol": tol,
        "pivot": pivot,
        "finish": finish,
        "zone_size": zone_size,
        "graph": graph,
        "k": k,
        "root": root,
        "linkage": linkage,
        "criterion": criterion,
        "nni": nni,
        "trees": trees,
        "size": size,
        "balance": balance,
        "time_limit": time_limit,
    }
    if method == DEFAULT:
        _name_the_method(record, given)
    options = record.chosen(given)
    note(method)
    if count > 1 and not record.random:
        raise ValueError(
            f"{method} is not random, so all {count} trials would give the same tree: leave out trials"
        )
    if count > 1 and root is not None:
        raise ValueError(
            f"all {count} trials from root {root!r} would give the same tree: leave out root or trials"
        )
    backend = backend_for(n_jobs=n_jobs, engine=engine, device=device)
    return backend.fit(FitRequest(data, metric, method, options, count, rng))


fit.__doc__ = (fit.__doc__ or "").replace("<table of methods>", method_table())


class FitRequest(NamedTuple):
    """The arguments of `fit`, validated but for the data, which each backend reads in its own way."""

    data: MetricLike
    metric: str | None
    method: str
    options: dict[str, Any]
    trials: int
    rng: RNGLike


class Plan(NamedTuple):
    """How a tree is learned, but for the random choices."""

    metric: Metric
    method: str
    options: dict[str, Any]
    threads: int | None
    learn: Callable[..., Tree] | None = None  # replaces the method's function


class _Trial(NamedTuple):
    tree: Tree
    state: Any  # of the generator afterwards, which may have been a copy
    score: float = 0.0
    splits: Keys | None = None


def best_tree(plan: Plan, trials: int, rng: RNGLike, runner: Runner) -> Tree:
    """Fit once per trial and keep the best tree, the first of equals.

    The first trial is what trials=1 gives.

    The best tree gets the support of all. Of the others only the splits are kept.
    """
    n = len(plan.metric)
    if not 1 <= n < 2**30:
        raise ValueError(f"fit takes 1 to {2**30 - 1:,} points, not {n:,}")
    if n == 1:
        return Tree(
            1,
            np.empty((0, 2), np.int64),
            np.empty(0),
            labels=check_labels(plan.metric.labels, n),
        )
    generator = np.random.default_rng(rng)
    generators = [generator, *generator.spawn(trials - 1)] if trials > 1 else [generator]
    best: _Trial | None = None
    splits: list[Keys] = []
    # An interrupt that a method has lost is not lost on these workers.
    with progress_bar(trials, "trials", "trees") as bar, Workers(1) as workers:
        for trial in runner.map(_scored if trials > 1 else _learned, plan, generators):
            if best is None:
                generator.bit_generator.state = trial.state
            best = trial if best is None or trial.score < best.score else best
            if trial.splits is not None:
                splits.append(trial.splits)
            bar.update()
            workers.check()
    assert best is not None
    tree = best.tree
    if not splits:
        return tree
    support = share_of_splits(tree, splits)
    return Tree._trusted(
        tree.n_points, tree.edges, tree.weights, tree.labels, support, tree.order_known
    )


def _name_the_method(record: Method, given: dict[str, Any]) -> None:
    """Raise a ValueError that names the methods of the first option that the default method does not take."""
    for name, value in given.items():
        if value is not None and name not in record.option_names:
            takers = [other.name for other in METHODS.values() if name in other.option_names]
            raise ValueError(
                f"{name} is an option of {', '.join(takers)}: add method={takers[0]!r}"
            )


def _learned(plan: Plan, generator: np.random.Generator) -> _Trial:
    record = METHODS[plan.method]
    learn = plan.learn or record.load()
    shared: dict[str, Any] = {}
    if record.random:
        shared["rng"] = generator
    if record.threads and plan.learn is None:
        shared["n_jobs"] = plan.threads
    return _Trial(learn(plan.metric, **shared, **plan.options), generator.bit_generator.state)


def _scored(plan: Plan, generator: np.random.Generator) -> _Trial:
    trial = _learned(plan, generator)
    score = selection_score(trial.tree, plan.metric, plan.threads)
    return trial._replace(score=score, splits=inner_splits(trial.tree))
