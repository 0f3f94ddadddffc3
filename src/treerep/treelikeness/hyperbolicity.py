"""`hyperbolicity`: Gromov's delta."""

import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.checks import check_choice, check_flag, check_time_limit, positive_number
from .._core.parallel import Workers
from .._core.progress import progress_bar
from .._core.typing import MetricLike, RNGLike
from .._core.used import note
from ..metric._missing import refuse_missing
from ..metric.as_metric import as_metric
from ..metric.base import Metric, refuse_squared
from ..metric.graph import GraphMetric
from ..metric.matrix import MatrixMetric
from ..metric.oracle.classes import TreeOracle
from ._diameter import bound_diameter, bound_graph_diameter
from ._pace import Best, Bound, LimitReached, Pace
from ._spaces import (
    Space,
    adjacency_arrays,
    components,
    largest_distance,
    read_row,
    read_space,
    restrict,
    rounding,
    search_component,
    search_row,
    triangle_inequality_holds,
)
from .base_points.bounds import exact_violation, search_bases, triangle_violation
from .exact.far_apart import search_far_apart
from .exact.far_points import search_far_points
from .methods import METHODS
from .result import Hyperbolicity
from .sampling.quadruples import TABLE, Mean, sample_quadruples

# Limits of method="auto": seconds to about a minute on two cores.
_AUTO_POINTS = 4_000
_AUTO_COMPONENT = 30_000
_AUTO_WEIGHTED = 10_000
_AUTO_STEPS = 3e9
_SMALL = 200
_SAMPLED_ROWS = 16  # rows that method="sample" uses for the diameter


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
) -> Hyperbolicity:
    """Return Gromov's delta by the four-point condition: 0 for a tree.

    For four points a, b, c, d, take the three sums d(a, b) + d(c, d), d(a, c) + d(b, d) and
    d(a, d) + d(b, c). delta is half the largest difference between the largest and the second
    largest sum, over all quadruples. delta is at most half the diameter.

    Parameters
    ----------
    data : Metric or anything `as_metric` accepts
        For a `Tree`, only the data points count, and delta is 0.
    metric : str, optional
        For points: as in `as_metric`.
    method : "auto", "exact", "base" or "sample"
        - "exact" searches pairs that are far apart, from the farthest down, in every
          biconnected component of a graph. If a time limit ends the search, the result is an
          interval.
        - "base" takes O(n^3) time. With one base point w, delta_w <= delta <= 2 delta_w.
          Several base points narrow the interval.
        - "sample" draws random quadruples, and gives the mean of their values with a 95% interval,
          and bounds of delta. This method needs little memory.
        - "auto" uses "exact" for graphs with components of up to 30,000 vertices (10,000 with
          edge lengths), and for other metrics of up to 4,000 points. If "exact" takes too long,
          "base" follows, and the result may be an interval. For larger data, or too little
          memory, "auto" uses "sample".
    normalize : bool
        Divide by the diameter, as the TreeRep paper does.
    time_limit : float, optional
        Seconds after which the best interval so far is returned. However short the limit, the
        data is validated and one row of distances is read. "sample" also reads a few
        quadruples.
    bases : int
        (`method="base"` only) Number of base points.
    quadruples : int
        (`method="sample"` only) Number of quadruples.
    rng : int, numpy Generator or None
        (`method="sample"` only) Seed of the quadruples.
    n_jobs : int, optional
        Number of threads; None uses all cores. Without a time limit, the number does not change the
        result.

    Returns
    -------
    Hyperbolicity
        A float with bounds (`low`, `high`), `exact`, the four points that prove the value
        (`witness`), `diameter`, `relative`, `method`, and `mean` for "sample".

    See Also
    --------
    fit : Fit a tree.
    average_distortion : Measure how well a tree fits the data.
    Hyperbolicity : The result.

    Notes
    -----
    Exact for whole numbers. For other distances, values up to 4 sqrt(n) eps diameter may be
    rounding errors and are reported as 0; eps is the precision of the arithmetic. If the
    triangle inequality is violated, the four points of delta need not be distinct, and delta
    can exceed half the diameter.

    The upper bound of "sample" is half the diameter. For a matrix, which may violate the triangle
    inequality, the bound is the diameter. For custom metrics, it is infinite.

    Memory is n^2 distances of 1, 2 or 8 bytes. A graph takes twice this memory, but only for its
    largest biconnected component, and usually 1 byte per distance. The exact search also lists the
    pairs that it has reached, at up to 24 bytes each. "base" keeps a second matrix, and for real
    distances a third matrix of half the size.

    Borassi, Coudert, Crescenzi and Marino, On computing the hyperbolicity of real-world graphs
    (ESA 2015); Gromov, Hyperbolic groups (1987).

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    >>> hyperbolicity(square)  # 2 + 2 vs 1 + 1, twice
    1 (exact, diameter 2)
    >>> hyperbolicity(square).witness
    (0, 2, 1, 3)
    """
    check_choice("method", method, tuple(METHODS))
    check_time_limit(time_limit)
    note("hyperbolicity")
    check_flag("normalize", normalize)
    bases = positive_number(bases, "bases")
    quadruples = positive_number(quadruples, "quadruples")
    began = time.monotonic()  # the limit includes the time to read the data
    distances = as_metric(data, metric=metric)
    refuse_missing(distances, "hyperbolicity")
    refuse_squared(distances, "hyperbolicity")
    with Workers(n_jobs) as workers, progress_bar(math.inf, "hyperbolicity", "step") as bar:
        steps = _AUTO_STEPS if method == "auto" else math.inf
        task = _Task(
            distances,
            Best(bar),
            Pace(workers, time_limit, steps, began),
            triangle_inequality_holds(distances),
            "base" if method == "base" else "exact",
            bases,
        )
        outcome = _run(task, method, quadruples, rng)
    return _result(task, outcome, normalize)


@dataclass(frozen=True)
class _Task:
    """The arguments of a search."""

    metric: Metric
    best: Best
    pace: Pace
    triangle_inequality: bool  # whether the inequality is known to hold
    method: Literal["exact", "base"]
    bases: int


class _Outcome(NamedTuple):
    """The result of a method. The lower bound of h and its witness are in `Best`."""

    method: str
    high: float  # upper bound of h = 2 delta
    least_diameter: float
    most_diameter: float
    mean: Mean | None = None


class _Components(NamedTuple):
    """The biconnected components of a graph, the largest first."""

    source: Space | GraphMetric
    vertices: list[NDArray[np.int64]]
    scratch: NDArray[np.int64]  # -1 for each vertex of the graph

    def read(self, component: int, pace: Pace) -> Space:
        """Return the distances within one component."""
        vertices = self.vertices[component]
        if isinstance(self.source, GraphMetric):
            return search_component(self.source, vertices, self.scratch, pace)
        return restrict(self.source, vertices, self.scratch)


def _run(task: _Task, method: str, quadruples: int, rng: RNGLike) -> _Outcome:
    """Choose and run the search for a method and a metric."""
    metric = task.metric
    if not isinstance(metric, GraphMetric) and isinstance(metric.oracle, TreeOracle):
        # In a tree, two sweeps find the diameter of the data points.
        diameter, _ = bound_diameter(metric, True, 2, Pace(task.pace.workers, None))
        return _Outcome("exact", 0.0, diameter, diameter)
    auto = method == "auto"
    if len(metric) > 3 and (method == "sample" or (auto and _too_large(metric))):
        return _sample(task, quadruples, rng)
    try:
        return _bound(task, then_bases=auto)
    except MemoryError:
        if not auto:
            raise
        return _sample(task, quadruples, rng)


def _too_large(metric: Metric) -> bool:
    """Return whether method="auto" uses sampling."""
    if not isinstance(metric, GraphMetric):
        return len(metric) > _AUTO_POINTS
    parts = components(adjacency_arrays(metric))
    largest = _AUTO_WEIGHTED if metric.weighted else _AUTO_COMPONENT
    return bool(parts) and len(parts[0]) > largest


def _sample(task: _Task, quadruples: int, rng: RNGLike) -> _Outcome:
    low, high = _bound_any_diameter(replace(task, pace=task.pace.part(0.25)))
    mean = sample_quadruples(task.metric, quadruples, rng, task.best, task.pace)
    bound = high if task.triangle_inequality else 2 * high
    return _Outcome("sample", bound, low, high, mean)


def _bound_any_diameter(task: _Task) -> tuple[float, float]:
    """Bound the diameter: from all distances if reading them is cheap, or from a few rows."""
    metric = task.metric
    if isinstance(metric, GraphMetric) and len(metric) <= TABLE:
        return bound_graph_diameter(metric, task.pace)
    if isinstance(metric, MatrixMetric) or len(metric) <= TABLE:
        with suppress(LimitReached):
            diameter = largest_distance(metric, task.pace)
            return diameter, diameter
    return bound_diameter(metric, task.triangle_inequality, _SAMPLED_ROWS, task.pace)


def _bound(task: _Task, *, then_bases: bool) -> _Outcome:
    """Run "exact" or "base". If `then_bases` is set, bases follow an incomplete exact search."""
    if isinstance(task.metric, GraphMetric):
        return _bound_graph(task, task.metric)
    try:
        points = np.arange(len(task.metric))
        search_far_points(lambda k: read_row(task.metric, k), points, task.best, task.pace)
        space = read_space(task.metric, task.pace)
    except LimitReached:
        low, high = bound_diameter(task.metric, task.triangle_inequality, 1, task.pace)
        return _Outcome(task.method, high, low, high)
    diameter = float(space.distances.max())
    if space.graph is not None:
        parts = _Components(space, components(space.graph), np.full(len(space.points), -1))
        high = _search_components(replace(task, triangle_inequality=True), parts, diameter)
        return _Outcome(task.method, high, diameter, diameter)
    bound = _search_space(task, space)
    if then_bases and not bound.complete:
        other = _search_bases(task, space)
        return _Outcome("base", min(bound.high, other.high), diameter, diameter)
    return _Outcome(task.method, bound.high, diameter, diameter)


def _bound_graph(task: _Task, graph: GraphMetric) -> _Outcome:
    parts = components(adjacency_arrays(graph))
    if parts:
        largest = parts[0]
        search_far_points(lambda k: search_row(graph, largest[k], largest), largest, task.best, task.pace)
    low, high = bound_graph_diameter(graph, task.pace)
    found = _search_components(task, _Components(graph, parts, np.full(len(graph), -1)), high)
    return _Outcome(task.method, found, low, high)


def _search_components(task: _Task, parts: _Components, diameter: float) -> float:
    """Search biconnected components, the largest first; return an upper bound of h."""
    high = 0.0
    for k, vertices in enumerate(parts.vertices):
        if _component_bound(task, vertices, diameter) <= task.best.h:
            break
        try:
            bound = _search_space(task, parts.read(k, task.pace))
        except LimitReached:
            bound = Bound(_component_bound(task, vertices, diameter), complete=False)
        high = max(high, bound.high)
        if not bound.complete:
            return _bound_remaining(task, parts, k + 1, diameter, high)
    return max(high, task.best.h)


def _component_bound(task: _Task, vertices: NDArray[np.int64], diameter: float) -> float:
    """Return an upper bound of h in a component from its size alone."""
    if isinstance(task.metric, GraphMetric) and task.metric.weighted:
        return diameter
    # Any two of m vertices are on a cycle, so they are at most m / 2 steps apart, and h is at
    # most the diameter.
    return min(diameter, len(vertices) // 2)


def _bound_remaining(task: _Task, parts: _Components, first: int, diameter: float, high: float) -> float:
    """Raise an upper bound of h to cover the components from `first` on, which were not searched.

    A few small components are read nevertheless, so that their bounds do not exceed those of the
    large components.
    """
    unlimited = Pace(task.pace.workers, None)
    for k in range(first, len(parts.vertices)):
        vertices = parts.vertices[k]
        bound = _component_bound(task, vertices, diameter)
        if bound <= high:
            break
        if len(vertices) <= _SMALL and k - first < _SMALL:
            bound = float(parts.read(k, unlimited).distances.max())
        high = max(high, bound)
    return high


def _search_space(task: _Task, space: Space) -> Bound:
    return _search_bases(task, space) if task.method == "base" else _search_exact(task, space)


def _search_bases(task: _Task, space: Space) -> Bound:
    return search_bases(space, task.triangle_inequality, task.bases, task.best, task.pace)


def _search_exact(task: _Task, space: Space) -> Bound:
    """Search one space for its exact h.

    Without a graph, one base is tried first, which immediately settles tree metrics.
    """
    best = task.best
    integral = task.metric.integral
    step = 1.0 if integral else 0.0
    largest = float(space.distances.max())
    slack = 0.0 if integral else 4 * task.metric.eps * largest
    if space.graph is not None:
        return search_far_apart(space, slack, step, best, task.pace)
    if largest == 0:
        return Bound(0.0, complete=True)
    triangles = task.triangle_inequality
    high = largest if triangles else 2 * largest
    violated = 0.0
    try:
        if not triangles:
            violation, violated, four = triangle_violation(space, task.pace)
            best.offer(violation, four)
            slack = max(slack, violated)
            triangles = violated == 0
        one_base = search_bases(space, triangles, 1, best, task.pace)
        high = min(high, one_base.high)
        if high <= rounding(task.metric, largest):
            return Bound(high, complete=True)
        found = search_far_apart(space, slack, step, best, task.pace)
        if not found.complete:
            return Bound(min(high, found.high), complete=False)
        if best.h < violated:  # a triangle may be worse than four different points
            best.offer(*exact_violation(space, task.pace))
            return Bound(best.h, complete=True)
        return found
    except LimitReached:
        return Bound(high, complete=False)


def _result(task: _Task, outcome: _Outcome, normalize: bool) -> Hyperbolicity:
    best = task.best
    mean = outcome.mean
    zero = rounding(task.metric, outcome.least_diameter)
    low = best.h if best.h > zero else 0.0
    high = outcome.high if outcome.high > max(low, zero) else low
    least, most = (outcome.least_diameter, outcome.most_diameter) if normalize else (1.0, 1.0)
    unit = least or 1.0  # if all distances are 0
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
