"""Mean average precision of the neighbors of a graph."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.backend import runner_backend
from .._core.checks import check_choice
from .._core.parallel import Runner
from .._core.progress import progress_bar
from .._core.typing import EngineLike, MetricLike, RNGLike
from ..metric._matching import matched
from ..metric._missing import refuse_missing
from ..metric.base import Metric, MetricError
from ._sampling import Rows, mean_over_points, sample_rows
from ._streaming import read_block, row_slices, to_metric
from .score import Score

#: Number of points sampled for more than EXACT_POINTS points, unless `rows` is given. This is
#: more than for distortion, because the precision of a point varies over most of 0 to 1. A
#: sample of 1,024 gives an interval of about +-0.02.
SAMPLED_POINTS = 1024

_TIES = ("definition", "rank")


def mean_average_precision(
    approx: MetricLike,
    graph: MetricLike,
    *,
    ties: Literal["definition", "rank"] = "definition",
    rows: Rows = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> Score:
    """Return how well distances rank the neighbors in a graph first. 1 is perfect.

    For a point v and a neighbor u, let B(v, u) be the points other than v that are at most as
    far from v as u is. The average precision of v is the mean, over its neighbors u, of the
    share of neighbors in B(v, u). The score is the mean over all points that have neighbors.

    Parameters
    ----------
    approx : Metric or anything `as_metric` accepts
        The distances to judge. Points are matched to the vertices of the graph as in
        `average_distortion`.
    graph : GraphMetric, scipy sparse matrix or networkx graph
        Points that share an edge are neighbors. Edge lengths do not matter.
    ties : "definition" or "rank"
        "definition" includes all points at the same distance as u in B(v, u). "rank" includes
        only those with a lower index, as published code does by sorting. Trees have many ties,
        so the two scores differ. Distances within 1e-9 of the largest distance in the row are
        tied.
    rows : int, "all" or None
        Number of points to rank, drawn without replacement. None ranks all points up to 20,000,
        and 1,024 points above; the score then has a 95% confidence interval.
    rng : int, numpy Generator or None
        Seed for sampling points.
    n_jobs : int, optional
        Number of threads; None uses all cores. It does not change the result.
    engine : "dask" or a dask.distributed Client, optional
        Compute on a cluster. The result is the same, bit for bit.

    Returns
    -------
    Score
        `Score.pairs` is the number of points ranked. Without any edge, the score is 1.

    See Also
    --------
    average_distortion : Mean relative error of distances.
    GraphMetric : The metric of a graph.
    Score : The result.

    Notes
    -----
    Exact over all points. O(n log degree) time per point and O(n) memory, without an n x n
    array. The score is defined in the appendix of Sonthalia and Gilbert, Tree! I am no Tree! I
    am a low dimensional hyperbolic embedding (NeurIPS 2020).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> mean_average_precision([[0, 2, 1], [2, 0, 1], [1, 1, 0]], path)  # (1/2 + 1 + 1/2) / 3
    0.6667 (all 3 points)
    """
    check_choice("ties", ties, _TIES)
    backend = runner_backend(n_jobs=n_jobs, engine=engine)
    backend.validate(approx=approx, graph=graph)
    network = to_metric(graph)
    starts, neighbors = _adjacency(network)
    judged = matched(to_metric(approx), network, ("approx", "graph"))
    refuse_missing(judged, "mean average precision")
    connected = np.flatnonzero(np.diff(starts))
    sample = sample_rows(len(connected), rows, rng, SAMPLED_POINTS, len(judged))
    points = connected if sample is None else connected[sample]
    ranking = Ranking(judged, points, starts, neighbors, ties == "rank")
    with backend.runner() as runner:
        return mean_over_points(average_precisions(ranking, runner), len(connected))


class Ranking(NamedTuple):
    """The distances to evaluate, and the points whose neighbors they rank."""

    judged: Metric
    points: NDArray[np.int64]
    # The neighbors of point i are neighbors[starts[i] : starts[i + 1]].
    starts: NDArray[np.int64]
    neighbors: NDArray[np.int64]
    by_rank: bool


def average_precisions(ranking: Ranking, runner: Runner) -> NDArray[np.float64]:
    """Return the average precision of each point of a ranking.

    A runner ranks the neighbors, block by block.
    """
    count = len(ranking.points)
    parts = [np.empty(0)]
    with progress_bar(count, "ranking neighbors", "point") as bar:
        for part in runner.map(_rank_rows, ranking, row_slices(count, len(ranking.judged))):
            parts.append(part)
            bar.update(len(part))
    return np.concatenate(parts)


def _adjacency(network: Metric) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the compressed rows (starts and neighbors) of a metric that has an adjacency."""
    from scipy.sparse import issparse

    adjacency: Any = getattr(network, "adjacency", None)
    if (
        not issparse(adjacency)
        or adjacency.format != "csr"
        or adjacency.shape != (len(network), len(network))
    ):
        raise TypeError(
            f"mean average precision needs a graph, but {type(network).__name__} has no "
            "edges: use a GraphMetric, a scipy sparse matrix or a networkx graph"
        )
    starts, neighbors = (np.require(x, np.int64, ["C", "W"]) for x in (adjacency.indptr, adjacency.indices))
    sources = np.repeat(np.arange(len(network)), np.diff(starts))
    if not adjacency.has_canonical_format or np.any(neighbors == sources):
        raise ValueError(
            "the graph's adjacency must list every neighbor once, in order, and must not contain self-loops"
        )
    return starts, neighbors


def _rank_rows(ranking: Ranking, part: slice) -> NDArray[np.float64]:
    """Return the average precisions of a slice of the points."""
    from ._precision_kernels import average_precision

    rows = ranking.points[part]
    distances = read_block(ranking.judged, rows, np.arange(len(ranking.judged)))
    out = np.empty(len(rows))
    average_precision(distances, rows, ranking.starts, ranking.neighbors, ranking.by_rank, out)
    if np.isnan(out).any():
        a, b = np.argwhere(~np.isfinite(distances))[0]
        raise MetricError(f"approx has d({rows[a]}, {b}) = {distances[a, b]}: scores need finite distances")
    return out
