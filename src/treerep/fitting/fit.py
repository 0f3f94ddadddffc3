"""`fit`: a tree for any metric, by any method."""

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
    """Fit a tree to distances, points or a graph.

    Parameters
    ----------
    data : Metric, array, DataFrame, sparse matrix or networkx graph
        A distance matrix, points (with `metric`) or a graph. `as_metric` lists all accepted
        types. The edges of a networkx graph have length 1 unless you pass
        `as_metric(G, weight=...)`. The data is never modified.
    method : str
        One of the methods in the table below. The default, "auto", is exact on tree metrics. On
        other data, "auto" joins neighbors and rearranges the tree for up to 2,000 points (5,000
        vertices of a graph), and uses "backbone" for more points.
    metric : str, optional
        The metric between points: "euclidean", "cosine", ... (see `PointMetric`). Without `metric`,
        an array is a distance matrix.
    rng : int, numpy Generator or None
        Seed of the random choices. The same seed gives the same tree for every number of
        threads.
    trials : int
        Number of trees to fit. The tree of lowest average distortion after optimal scaling is kept.
        The score uses all pairs for up to 2,000 points, and 64 sampled rows for more points. The
        `Tree.support` of an edge is the share of trials that contain its split.
    n_jobs : int, optional
        Number of threads. None uses all cores, and at least 16 threads for a matrix on disk.
    tol : float or "auto"
        (`method="treerep"` only) Lengths below this value count as zero. "auto", the default, is
        0.1 for whole-number distances, as in the paper, and a few units in the last place of the
        largest distance otherwise. Distances rounded to float32 or to a few decimals are
        recognized. If your distances come from a tree with other noise, set `tol` above the noise.
        Otherwise TreeRep fits the noise.
    pivot : "random", "near" or "closest"
        (`method="treerep"` only) The point of a zone to place next. "random", the default,
        picks any point. "near" picks the nearest of four points to the newer end of the edge.
        "closest" picks the nearest of all points; this is the paper's rule, and quadratic on
        long paths.
    finish : "treerep" or "nj"
        (`method="treerep"` only) "nj" finishes zones of at most `zone_size` points by neighbor
        joining, in O(n zone_size). This preserves neighborhoods better if the data is far from a
        tree.
    zone_size : int
        (`finish="nj"` only) Largest zone to finish by neighbor joining, 100 by default.
    graph : "complete" or "knn"
        (`minimum_spanning_tree`, `bfs`, `level_tree` and `low_stretch` only) The graph to use for
        data that is not a graph. The complete graph is never stored. If the graph of the `k`
        nearest neighbors is not connected, the shortest connecting edges are added.
    k : int
        (`graph="knn"` only) Number of nearest neighbors, 10 by default.
    root : int or label
        (`gromov`, `construct_tree`, `minimum_spanning_tree`, `bfs` and `level_tree` only) The
        point to start from.
    linkage : "average", "single" or "complete"
        (`method="gromov"` only) The Gromov product of two clusters.
    criterion : "balanced" or "ols"
        (`method="minimum_evolution"` only) The definition of tree length.
    nni : bool
        (`method="minimum_evolution"` only) Whether to exchange neighboring subtrees while this
        makes the tree shorter. On by default. `spr=True` includes these exchanges.
    spr : bool
        (`method="minimum_evolution"` only) Whether to move subtrees to other edges while this
        makes the tree shorter, from the tree of `bionj`. Needs `criterion="balanced"`. On by
        default for this criterion and up to 10,000 points, unless `nni=False`.
    trees : int
        (`method="bartal"` only) Number of random trees, 200 by default.
    size : int
        (`method="backbone"` only) Number of points in the backbone, 2,000 by default. With
        fewer points, all points are in the backbone.
    balance : float from 0 to 1
        (`auto` and `backbone` only) Weight of near distances, from 0 (best long distances) to 1
        (best neighbors and groups). The default is 0 for graphs and 1 for distances. For points,
        the default is 3/4 up to 2,000 points and 1/4 above.
    time_limit : float
        (`auto` and `backbone` only) Seconds for each round of moves and of edge lengths.
        Without a limit, the result depends on the seed only.
    engine : "dask" or a dask.distributed Client, optional
        Compute on a cluster. The result is the same, bit for bit.
    device : str or torch.device, optional
        Compute with torch on this device, for example "cuda" for a GPU. None uses the CPU.

    Returns
    -------
    Tree
        The points are nodes 0 ... n-1.

    See Also
    --------
    refine : Improve a tree.
    place : Add new points to a tree.
    embed : Embed a tree in hyperbolic space.
    average_distortion : Measure how well a tree fits the data.
    hyperbolicity : Measure how tree-like the data is.

    Notes
    -----
    <table of methods>

    The default root of "bfs" and "level_tree" costs up to n more searches (288 above 4,096
    points).

    TreeRep is exact on tree metrics: the tree has the right lengths and the fewest possible nodes.
    It usually reads 10 to 20 distances per point. The time is therefore near n log n (n^2 in the
    worst case, for example on a star), and the memory is O(n) beyond the data. If the data is far
    from a tree, lengths that would be negative are set to 0.

    Examples
    --------
    Three points at distance 2 from each other have a common neighbor at distance 1:

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
    count_jobs(n_jobs)  # raises errors early
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
            f"{method} is not random, so all {count} trials would give the same tree: leave out trials"
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
    """The arguments of `fit`. All are validated except for the data, which the backend reads."""

    data: MetricLike
    metric: str | None
    method: str
    options: dict[str, Any]
    trials: int
    rng: RNGLike


def _name_the_method(record: Method, given: dict[str, Any]) -> None:
    """Raise a ValueError for the first option that the default method does not accept.

    The message names the methods that accept this option.
    """
    for name, value in given.items():
        if value is not None and name not in record.option_names:
            takers = [other.name for other in METHODS.values() if name in other.option_names]
            raise ValueError(
                f"{name} is an option of {', '.join(takers)}: add method={takers[0]!r}"
            )
