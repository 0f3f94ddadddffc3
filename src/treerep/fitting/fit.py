"""`fit`: a tree for any metric, by any method."""

from typing import Literal, overload

from .._core.backend import backend_for
from .._core.checks import positive_number
from .._core.parallel import count_jobs
from .._core.typing import DeviceLike, EngineLike, MetricLike, RNGLike
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum
from ._request import make_request
from ._sums import fit_trees
from .bootstrap import fit_with_bootstrap
from .methods import DEFAULT, TRIALS, method_table


@overload
def fit(
    data: MetricLike,
    *,
    trees: int,
    method: Literal["auto"] = "auto",
    metric: str | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> TreeSum: ...


@overload
def fit(
    data: MetricLike,
    *,
    trees: None = None,
    method: str = DEFAULT,
    metric: str | None = None,
    rng: RNGLike = 0,
    trials: int = TRIALS,
    keep: Literal["best", "greedy", "majority", "strict"] = "best",
    bootstrap: int | None = None,
    n_jobs: int | None = None,
    tol: float | Literal["auto"] | None = None,
    pivot: Literal["random", "near", "closest"] | None = None,
    graph: Literal["complete", "knn"] | None = None,
    k: int | None = None,
    root: int | str | None = None,
    linkage: Literal["average", "single"] | None = None,
    moves: bool | None = None,
    draws: int | None = None,
    size: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
    engine: EngineLike = None,
    device: DeviceLike = None,
) -> Tree: ...


def fit(
    data: MetricLike,
    *,
    method: str = DEFAULT,
    metric: str | None = None,
    rng: RNGLike = 0,
    trials: int = TRIALS,
    keep: Literal["best", "greedy", "majority", "strict"] = "best",
    trees: int | None = None,
    bootstrap: int | None = None,
    n_jobs: int | None = None,
    tol: float | Literal["auto"] | None = None,
    pivot: Literal["random", "near", "closest"] | None = None,
    graph: Literal["complete", "knn"] | None = None,
    k: int | None = None,
    root: int | str | None = None,
    linkage: Literal["average", "single"] | None = None,
    moves: bool | None = None,
    draws: int | None = None,
    size: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
    engine: EngineLike = None,
    device: DeviceLike = None,
) -> Tree | TreeSum:
    """Fit a tree to distances, points, sequences or a graph.

    Parameters
    ----------
    data : Metric, array, DataFrame, sparse matrix, networkx graph or path of a file
        A distance matrix, points (with `metric`), a graph, or a file, for example an alignment.
        `as_metric` lists all accepted types. The edges of a networkx graph have length 1 unless you pass
        `as_metric(G, weight=...)`. The data is never modified.
    method : str
        One of the methods in the table below. The default, "auto", is exact on tree metrics. On
        other data, "auto" joins neighbors and rearranges the tree for up to 2,000 points (4,000
        if distances are given, 5,000 vertices of a graph), and uses "backbone" for more points. For
        sequences, characters and squared Euclidean points, it is "minimum_evolution".
    metric : str, optional
        The metric between points: "euclidean", "cosine", ... (see `PointMetric`), or the model for
        sequences: "k2p", "tn93", ... (see `SequenceMetric`). Without `metric`, an array is a
        distance matrix.
    rng : int, numpy Generator or None
        Seed of the random choices. The same seed gives the same tree for every number of
        threads.
    trials : int
        Number of trees to fit. The `Tree.support` of an edge is the share of trials that contain
        its split.
    keep : "best", "greedy", "majority" or "strict"
        (with `trials`) "best" keeps the tree of lowest average distortion after optimal scaling.
        The score uses all pairs for up to 2,000 points, and 64 sampled rows for more points. The
        other values keep a `consensus` of all trials, with mean edge lengths. On simulated
        alignments, the greedy consensus of 100 trials of TreeRep has about half the wrong splits
        of the best trial. "auto" has fewer wrong splits than this consensus, and
        "minimum_evolution" has fewer for 200 taxa or more.
    trees : int, optional
        (`method="auto"` only) Fit a sum of up to this many trees, a `TreeSum`, instead of one tree:
        d = d_1 + ... + d_k. Five trees often halve the distortion of one tree. A tree metric gives
        one tree. No more trees are added after ten trees in a row that do not lower the
        distortion.
    bootstrap : int, optional
        Number of bootstrap replicates, for example 100. The tree is fitted to the data itself.
        `Tree.support` is then the share of replicate trees that contain the split of an edge
        (see `bootstrap_trees`). The data must be points, sequences or characters. Each replicate is
        fitted with the same arguments, including `trials`.
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
    graph : "complete" or "knn"
        (`minimum_spanning_tree`, `bfs`, `level_tree` and `low_stretch` only) The graph to use for
        data that is not a graph. The complete graph is never stored. If the graph of the `k`
        nearest neighbors is not connected, the shortest connecting edges are added.
    k : int
        (`graph="knn"` only) Number of nearest neighbors, 10 by default.
    root : int or label
        (`gromov`, `construct_tree`, `minimum_spanning_tree`, `bfs` and `level_tree` only) The
        point to start from.
    linkage : "average" or "single"
        (`method="gromov"` only) The Gromov product of two clusters.
    moves : bool
        (`method="linf"` only) Whether to move points and subtrees while this lowers the largest
        error. On by default.
    draws : int
        (`method="bartal"` only) Number of random trees, 200 by default.
    size : int
        (`method="backbone"` only) Number of points in the backbone. The default is 2,000, or 4,000
        if distances are given. With fewer points, all points are in the backbone.
    balance : float from 0 to 1
        (`auto` and `backbone` only) Weight of near distances, from 0 (best long distances) to 1
        (best neighbors and groups). The default is 0 for graphs and 1 for distances. Up to 10,000
        points with coordinates, it rises from 1/2 to 1 while points move, and it is 1/4 above.
        With `trees`, the default is 1/4, and the objective is that of `refine`.
    time_limit : float
        (`auto`, `backbone` and `linf` only) Seconds for each round of moves and of edge lengths; for
        `linf` and with `trees`, seconds in total. Without a limit, the result depends on the seed only.
    engine : "dask" or a dask.distributed Client, optional
        Compute on a cluster. The result is the same, bit for bit.
    device : str or torch.device, optional
        Compute with torch on this device, for example "cuda" for a GPU. None uses the CPU.

    Returns
    -------
    Tree or TreeSum
        The points are nodes 0 ... n-1. With `trees`, the result is a `TreeSum`.

    See Also
    --------
    refine : Improve a tree.
    place : Add new points to a tree.
    bootstrap_trees : Fit trees to bootstrap replicates of the data.
    embed : Embed a tree in hyperbolic space.
    average_distortion : Measure how well a tree fits the data.

    Notes
    -----
    <table of methods>

    "auto", "neighbor_joining", "bionj" and "minimum_evolution" accept a metric with missing
    distances (see `MatrixMetric`). The tree starts from NJ* (Criscuolo and Gascuel, BMC
    Bioinformatics 9, 2008) and fits the measured pairs. If these are distances of a tree and at most
    a third is missing, the tree nearly always reproduces them; several trees may do so. The time is
    O(n^3).

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
    count_jobs(n_jobs)  # raises errors early
    given = {
        "tol": tol,
        "pivot": pivot,
        "graph": graph,
        "k": k,
        "root": root,
        "linkage": linkage,
        "moves": moves,
        "draws": draws,
        "size": size,
        "balance": balance,
        "time_limit": time_limit,
    }
    if trees is not None:
        others = {
            "trials": None if trials == TRIALS else trials,
            "keep": None if keep == "best" else keep,
            "bootstrap": bootstrap,
            "engine": engine,
            "device": device,
        }
        return fit_trees(data, metric, method, trees, given, others, rng=rng, n_jobs=n_jobs)
    request = make_request(data, metric, method, given, trials, keep, rng)
    backend = backend_for(n_jobs=n_jobs, engine=engine, device=device)
    if bootstrap is None:
        return backend.fit(request)
    return fit_with_bootstrap(backend, request, positive_number(bootstrap, "bootstrap"))


fit.__doc__ = (fit.__doc__ or "").replace("<table of methods>", method_table())
