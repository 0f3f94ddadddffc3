"""delta-hyperbolicity: how far these distances are from a tree."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.backend import backend_for
from .._core.checks import check_choice, check_flag, check_time_limit, positive_number
from .._core.parallel import Workers
from .._core.progress import progress_bar
from .._core.typing import DeviceLike, MetricLike, RNGLike
from .._core.used import note
from ..metric.as_metric import as_metric
from ..metric.base import Metric
from ..metric.graph import GraphMetric
from ..metric.matrix import MatrixMetric
from ..metric.oracle.classes import TreeOracle
from ._diameter import bound_diameter, bound_graph_diameter
from ._pace import Best, Pace, Stopped
from ._spaces import (
    Space,
    components,
    largest_distance,
    obeys_triangles,
    read_row,
    read_space,
    restrict,
    rounding,
    search_component,
    search_row,
)
from .base_points.bounds import Search, exact_violation, search_bases, triangle_violation
from .exact.far_apart import search_far_apart
from .exact.far_points import search_far_points
from .methods import METHODS
from .result import Hyperbolicity
from .sampling.quadruples import TABLE, Mean, sample_quadruples

# What method="auto" takes on: seconds to about a minute on two cores.
_AUTO_POINTS = 4_000
_AUTO_COMPONENT = 30_000
_AUTO_WEIGHTED = 10_000
_AUTO_STEPS = 3e9
_SMALL = 200
_SAMPLED_ROWS = 16  # rows that method="sample" spends on the diameter

Look = Callable[[Space], tuple[float, bool]]
Make = Callable[[NDArray[np.int64], Pace], Space]


def hyperbolicity(
    data: MetricLike,
    *,
    metric: str | None = None,
    method: Literal["auto", "exact", "base", "sample"] = "auto",
    normalize: bool = False,
    time_limit: float | None = None,
    bases: int = 4,
    quadruples: int = 100_000,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
    device: DeviceLike = None,
) -> Hyperbolicity:
    """Return Gromov's delta in its four-point form: 0 for a tree, half the diameter at most.

    delta is half the largest value of (largest - second largest) of the three sums d(a, b) +
    d(c, d), d(a, c) + d(b, d), d(a, d) + d(b, c) over all points a, b, c, d.

    Parameters
    ----------
    data : Metric or anything `as_metric` takes
        Of a `Tree` only the data points count, and delta is 0.
    metric : str, optional
        For points: as in `as_metric`.
    method : "auto", "exact", "base" or "sample"
        - "exact" searches the pairs that are far apart, from the farthest down, in every
          biconnected component of a graph. Stopped early it gives an interval.
        - "base" takes O(n^3): with one base point delta_w <= delta <= 2 delta_w; several bases
          narrow that.
        - "sample" looks at random quadruples: the mean of their values with a 95% interval, and
          a lower bound of delta. It needs no memory to speak of. In a graph distances come from
          searches, or from hub labels if those are soon built. The upper bound of delta is half
          the diameter (for a matrix, which may violate triangles, all of it), and infinite
          where that is not known: for metrics of your own.
        - "auto" is "exact" for graphs with components up to 30,000 vertices (10,000 with edge
          lengths) and for other metrics up to 4,000 points, with a limit to its work, after
          which bases are tried and the result may be an interval; beyond, or without the
          memory, "sample".
    normalize : bool
        Divide by the diameter, as the TreeRep paper does.
    time_limit : float, optional
        Seconds from the call on; the best interval found by then is returned. Work is cut into
        pieces of hundredths of a second. However short the time, the data are checked and one
        row of distances is read (in a graph, one search); for "sample" a few quadruples as
        well.
    bases : int
        Number of base points of "base".
    quadruples : int
        Number of quadruples of "sample".
    rng : seed or numpy Generator
        Used by "sample" only.
    n_jobs : int, optional
        Number of threads; None uses every core. Without a time limit the result is the same for
        every number.
    device : str or torch.device, optional
        Work with torch on this device, for example "cuda": for method "base".

    Returns
    -------
    Hyperbolicity
        A float, with `.low`, `.high`, `.exact`, the four points that prove it (`.witness`),
        `.diameter`, `.relative`, `.method`, and `.mean` for "sample".

    Notes
    -----
    Exact for whole numbers. Otherwise distances are taken as they are given, and values up to 4
    sqrt(n) eps diameter are reported as 0, where eps is the precision of the arithmetic:
    rounding makes as much of 0. If the triangle inequality is violated, the four points of
    delta need not be distinct, and delta can exceed half the diameter.

    Memory is n^2 distances of 1, 2 or 8 bytes; for graphs twice that, but of the largest
    biconnected component only, and mostly 1 byte. The exact search lists the pairs it has come
    to, up to 24 bytes for each: few where it is fast. "base" keeps a second matrix, and for
    real distances a third of half the size.

    Borassi, Coudert, Crescenzi and Marino, On computing the hyperbolicity of real-world graphs
    (ESA 2015); Gromov, Hyperbolic groups (1987).

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    >>> hyperbolicity(square)  # 2 + 2 against 1 + 1, twice
    1 (exact, diameter 2)
    >>> hyperbolicity(square).witness
    (0, 2, 1, 3)
    """
    check_choice("method", method, tuple(METHODS))
    check_time_limit(time_limit)
    note("hyperbolicity")
    search = backend_for(n_jobs=n_jobs, device=device).defect_search(method)
    check_flag("normalize", normalize)
    bases = positive_number(bases, "bases")
    quadruples = positive_number(quadruples, "quadruples")
    began = time.monotonic()  # the limit includes what it takes to read the data
    distances = as_metric(data, metric=metric)
    with Workers(n_jobs) as workers, progress_bar(math.inf, "hyperbolicity", "step") as bar:
        steps = _AUTO_STEPS if method == "auto" else math.inf
        job = _Job(
            distances,
            Best(bar),
            Pace(workers, time_limit, steps, began),
            obeys_triangles(distances),
            search,
        )
        if not isinstance(distances, GraphMetric) and isinstance(distances.oracle, TreeOracle):
            # In a tree two sweeps find the diameter, among the data points too.
            reach, _ = bound_diameter(distances, True, 2, Pace(workers, None))
            outcome = _Outcome("exact", 0.0, reach, reach)
        elif len(distances) > 3 and (
            method == "sample" or (method == "auto" and _too_large(distances))
        ):
            outcome = _sample(job, quadruples, rng)
        else:
            try:
                outcome = _bound(job, method, bases)
            except MemoryError:
                if method != "auto":
                    raise
                outcome = _sample(job, quadruples, rng)
    return _result(job, outcome, normalize)


class _Job(NamedTuple):
    metric: Metric
    best: Best
    pace: Pace
    triangles: bool  # the triangle inequality is known to hold
    search: Search  # see `search_bases`


class _Outcome(NamedTuple):
    method: str
    high: float  # upper bound of h = 2 delta
    least_diameter: float
    most_diameter: float
    mean: Mean | None = None


def _too_large(metric: Metric) -> bool:
    if not isinstance(metric, GraphMetric):
        return len(metric) > _AUTO_POINTS
    rows = metric.adjacency
    parts = components((rows.indptr, rows.indices, None))
    return bool(parts) and len(parts[0]) > (
        _AUTO_WEIGHTED if metric.weighted else _AUTO_COMPONENT
    )


def _sample(job: _Job, quadruples: int, rng: RNGLike) -> _Outcome:
    low, high = _bound_any_diameter(job._replace(pace=job.pace.part(0.25)))
    mean = sample_quadruples(job.metric, quadruples, rng, job.best, job.pace)
    return _Outcome("sample", high * (1 if job.triangles else 2), low, high, mean)


def _bound_any_diameter(job: _Job) -> tuple[float, float]:
    """Return bounds of the diameter: all distances are read where that is cheap, and otherwise a few rows."""
    if isinstance(job.metric, GraphMetric) and len(job.metric) <= TABLE:
        return bound_graph_diameter(job.metric, job.pace)
    if isinstance(job.metric, MatrixMetric) or len(job.metric) <= TABLE:
        with suppress(Stopped):
            return 2 * (largest_distance(job.metric, job.pace),)
    return bound_diameter(job.metric, job.triangles, _SAMPLED_ROWS, job.pace)


def _bound(job: _Job, method: str, bases: int) -> _Outcome:
    """Run "exact" or "base", or both one after the other for "auto"."""
    name = "base" if method == "base" else "exact"
    if isinstance(job.metric, GraphMetric):
        return _bound_graph(job, job.metric, name, bases)
    try:
        everyone = np.arange(len(job.metric))
        search_far_points(lambda k: read_row(job.metric, k), everyone, job.best, job.pace)
        space = read_space(job.metric, job.pace)
    except Stopped:
        low, high = bound_diameter(job.metric, job.triangles, 1, job.pace)
        return _Outcome(name, high, low, high)
    diameter = float(space.distances.max())
    if space.graph is not None:
        place = np.full(len(space.points), -1)
        parts = components(space.graph)
        look = _looker(job._replace(triangles=True), name, bases)
        found = _over_components(
            job, look, parts, lambda vertices, _: restrict(space, vertices, place), diameter
        )
        return _Outcome(name, found, diameter, diameter)
    found, done = _looker(job, name, bases)(space)
    if method == "auto" and not done:
        high, _ = search_bases(space, job.triangles, bases, job.best, job.pace, job.search)
        name = "base"
        found = min(found, high)
    return _Outcome(name, found, diameter, diameter)


def _bound_graph(job: _Job, graph: GraphMetric, method: str, bases: int) -> _Outcome:
    rows = graph.adjacency
    parts = components((rows.indptr, rows.indices, None))
    if parts:
        search_far_points(
            lambda k: search_row(graph, parts[0][k], parts[0]), parts[0], job.best, job.pace
        )
    low, high = bound_graph_diameter(graph, job.pace)
    place = np.full(len(graph), -1)

    def make(vertices: NDArray[np.int64], pace: Pace) -> Space:
        return search_component(graph, vertices, place, pace)

    found = _over_components(job, _looker(job, method, bases), parts, make, high)
    return _Outcome(method, found, low, high)


def _looker(job: _Job, method: str, bases: int) -> Look:
    """Return the search of one space."""
    if method == "base":
        return lambda space: search_bases(
            space, job.triangles, bases, job.best, job.pace, job.search
        )
    return lambda space: _search(job, space)


def _over_components(
    job: _Job, look: Look, parts: list[NDArray[np.int64]], make: Make, diameter: float
) -> float:
    """Search the biconnected components of a graph, the largest first; return an upper bound of h."""
    high = 0.0
    for k, vertices in enumerate(parts):
        if _ceiling(job, vertices, diameter) <= job.best.h:
            break
        try:
            found, done = look(make(vertices, job.pace))
        except Stopped:
            found = _ceiling(job, vertices, diameter)
            done = False
        high = max(high, found)
        if not done:
            return _over_the_rest(job, parts[k + 1 :], make, diameter, high)
    return max(high, job.best.h)


def _ceiling(job: _Job, vertices: NDArray[np.int64], diameter: float) -> float:
    # Any two of m vertices lie on a cycle, so they are m / 2 steps apart at most, and h is at
    # most the diameter.
    return (
        diameter
        if getattr(job.metric, "weighted", False)
        else min(diameter, len(vertices) // 2)
    )


def _over_the_rest(
    job: _Job, parts: list[NDArray[np.int64]], make: Make, diameter: float, high: float
) -> float:
    """Raise an upper bound of h to what the components might have that there was no time for.

    A few small ones are measured all the same, so that they do not spoil what is known of the
    large ones.
    """
    free = Pace(job.pace.workers, None)
    for k, vertices in enumerate(parts):
        ceiling = _ceiling(job, vertices, diameter)
        if ceiling <= high:
            break
        if len(vertices) <= _SMALL and k < _SMALL:
            ceiling = float(make(vertices, free).distances.max())
        high = max(high, ceiling)
    return high


def _search(job: _Job, space: Space) -> tuple[float, bool]:
    """Search one space for its exact h.

    Without a graph, one base comes first: it settles tree metrics at once.
    """
    step = 1.0 if job.metric.integral else 0.0
    largest = float(space.distances.max())
    slack = 0.0 if job.metric.integral else 4 * job.metric.eps * largest
    if space.graph is not None:
        return search_far_apart(space, slack, step, job.best, job.pace)
    if largest == 0:
        return 0.0, True
    triangles = job.triangles
    high = largest * (1 if job.triangles else 2)
    violated = 0.0
    try:
        if not triangles:
            violation, violated, four = triangle_violation(space, job.pace)
            job.best.offer(violation, four)
            slack = max(slack, violated)
            triangles = violated == 0
        high = min(high, search_bases(space, triangles, 1, job.best, job.pace, job.search)[0])
        if high <= rounding(job.metric, largest):
            return high, True
        found, done = search_far_apart(space, slack, step, job.best, job.pace)
        if done and job.best.h < violated:  # a triangle may be worse than four different points
            job.best.offer(*exact_violation(space, job.pace))
            found = job.best.h
    except Stopped:
        return high, False
    return (found, True) if done else (min(high, found), False)


def _result(job: _Job, outcome: _Outcome, normalize: bool) -> Hyperbolicity:
    best = job.best
    mean = outcome.mean
    zero = rounding(job.metric, outcome.least_diameter)
    low = best.h if best.h > zero else 0.0
    high = outcome.high if outcome.high > max(low, zero) else low
    least, most = (outcome.least_diameter, outcome.most_diameter) if normalize else (1.0, 1.0)
    unit = least or 1.0  # all distances 0
    return Hyperbolicity(
        low / 2 / unit,
        low=low / 2 / (unit if most == least else most),
        high=high / 2 / unit,
        witness=best.witness if low > 0 else None,
        diameter=outcome.least_diameter,
        relative=low / (outcome.least_diameter or 1.0),
        method=outcome.method,
        mean=None if mean is None else mean.value / unit,
        mean_low=None if mean is None else max(0.0, mean.value - mean.half_width) / unit,
        mean_high=None if mean is None else (mean.value + mean.half_width) / unit,
    )
