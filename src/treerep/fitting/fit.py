"""`fit`: from any metric to its tree, by any method."""

from typing import Any, Literal, NamedTuple

from .._core.backend import backend_for
from .._core.checks import positive_number
from .._core.method import Method, find_method
from .._core.parallel import count_jobs
from .._core.typing import DeviceLike, EngineLike, MetricLike, RNGLike
from .._core.used import note
from ..tree.tree import Tree
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
    spr: bool | None = None,
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
        Seed of the random choices. The same seed gives the same tree for every number of
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
        (`method="treerep"` only) Which point of a zone on an edge is placed next. "random", the
        default: any. "near": the nearest to the edge's newer end among four. "closest": the
        nearest of all, which is the paper's rule and quadratic on long paths.
    finish : "treerep" or "nj"
        (`method="treerep"` only) "nj": neighbor joining finishes zones of at most `zone_size`
        points, together with the nodes that they hang off. It finds neighbors better if the
        data are far from a tree, in O(n zone_size).
    zone_size : int
        See `finish`; 100 by default.
    graph : "complete" or "knn"
        (`minimum_spanning_tree`, `bfs`, `level_tree` and `low_stretch` only) The graph of data
        that are not a graph. The complete graph is never stored. The graph of the `k` nearest
        neighbors (10 by default) is joined by the shortest edges if it is not connected.
    k : int
        See `graph`.
    root : int or label
        (`gromov`, `construct_tree`, `minimum_spanning_tree`, `bfs` and `level_tree` only) The
        point to start from.
    linkage : "average", "single" or "complete"
        (`method="gromov"` only) How the product of two clusters is computed.
    criterion : "balanced" or "ols"
        (`method="minimum_evolution"` only) How the length of a tree is defined.
    nni : bool
        (`method="minimum_evolution"` only) Whether to exchange neighboring subtrees while that
        makes the tree shorter. On by default.
    spr : bool
        (`method="minimum_evolution"` only) Whether to move subtrees to other edges while that
        makes the tree shorter. Needs `criterion="balanced"`, and then it is on by default,
        unless `nni=False`.
    trees : int
        (`method="bartal"` only) Number of random trees, 200 by default.
    size : int
        (`method="backbone"` only) Number of points whose tree is learned first, 2,000 by
        default. With fewer points, the tree of all points is learned.
    balance : float from 0 to 1
        (`auto` and `backbone` only) How much near distances count, from 0 (good long distances)
        to 1 (neighbors and groups). By default 0 for graphs and 1 for distances. For points it
        is 3/4 up to 2,000 points and 1/4 beyond.
    time_limit : float
        (`auto` and `backbone` only) Seconds for each round of moves and of lengths. Without a
        limit, the result depends on the seed only.
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

    TreeRep is exact on tree metrics: the tree has the right lengths and the fewest possible
    nodes. In general some 10 to 20 distances per point are read, so the time is near n log n
    (n^2 at worst, for example on a star), and the memory O(n) beyond the data. On metrics far
    from a tree, lengths that would be negative are 0.

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
        "spr": spr,
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
            f"{method} is not random, so all {count} trials would give the same tree: "
            "leave out trials"
        )
    if count > 1 and root is not None:
        raise ValueError(
            f"all {count} trials from root {root!r} would give the same tree: "
            "leave out root or trials"
        )
    backend = backend_for(n_jobs=n_jobs, engine=engine, device=device)
    return backend.fit(FitRequest(data, metric, method, options, count, rng))


fit.__doc__ = (fit.__doc__ or "").replace("<table of methods>", method_table())


class FitRequest(NamedTuple):
    """The arguments of `fit`, validated except for the data, which the backend reads."""

    data: MetricLike
    metric: str | None
    method: str
    options: dict[str, Any]
    trials: int
    rng: RNGLike


def _name_the_method(record: Method, given: dict[str, Any]) -> None:
    """Raise a ValueError for the first option that the default method does not take.

    The message names the methods that take it.
    """
    for name, value in given.items():
        if value is not None and name not in record.option_names:
            takers = [other.name for other in METHODS.values() if name in other.option_names]
            raise ValueError(
                f"{name} is an option of {', '.join(takers)}: add method={takers[0]!r}"
            )
