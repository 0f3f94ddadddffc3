"""Average hyperbolicity: the mean four-point value of random quadruples.

Albert, DasGupta and Mobasheri, Topological implications of negative curvature for biological
and social networks (Physical Review E, 2014).
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.typing import RNGLike
from ...metric.base import Metric
from ...metric.graph import GraphMetric
from ...metric.matrix import MatrixMetric
from ...scores._streaming import read_block
from .._pace import Best, LimitReached, Pace
from .._quadruples import check_distances, split_sums
from .graph_distances import FROM, TO, labels_pay, search_quadruples

Task = tuple[int, np.random.Generator]  # number of quadruples to draw, and the generator
Found = tuple[NDArray[np.float64], NDArray[np.int64]]  # see `four_point_values`

_BLOCK = 1 << 13
_PIECE = 1 << 8  # quadruples between two checks of the time
# quadruples of a graph that share one round of searches
_FIRST_WINDOW = 32
_WINDOW = 1 << 17
TABLE = 1000  # up to this many points, all distances are read
# quadruples per block: reading 144 distances, of which 24 are used, replaces 24 calls
_GROUP = 4
_NORMAL = 1.959964  # 95 %


class Mean(NamedTuple):
    """The mean of delta over quadruples, with half the width of its 95 % interval."""

    value: float
    half_width: float


def sample_quadruples(metric: Metric, count: int, rng: RNGLike, best: Best, pace: Pace) -> Mean:
    """Average delta over `count` random quadruples of distinct points; pass the worst to `best`.

    O(count) distances and memory. However short the time, a few quadruples are read (one in a
    graph).
    """
    sizes = [min(_BLOCK, count - done) for done in range(0, count, _BLOCK)]
    tasks = list(zip(sizes, np.random.default_rng(rng).spawn(len(sizes)), strict=True))
    values: list[NDArray[np.float64]] = []

    def keep(found: Found) -> None:
        values.append(found[0])
        worst = int(np.argmax(found[0]))
        best.offer(float(found[0][worst]), found[1][worst])
        best.show(math.inf)

    if isinstance(metric, GraphMetric) and not labels_pay(metric, count, pace):
        _sample_by_searches(metric, tasks, keep, pace)
    else:
        _sample_distances(metric, tasks, keep, pace)
    deltas = np.concatenate(values) / 2
    unit = float(deltas.max()) or 1.0  # squares of huge numbers would overflow
    spread = unit * float((deltas / unit).std(ddof=1)) if len(deltas) > 1 else math.inf
    return Mean(math.fsum(deltas) / len(deltas), _NORMAL * spread / math.sqrt(len(deltas)))


def _sample_distances(metric: Metric, tasks: list[Task], keep: Callable[[Found], None], pace: Pace) -> None:
    """Read the six distances of each quadruple from the metric."""
    # Quadruples of few points read the same distances repeatedly.
    table = MatrixMetric(_all(metric)) if len(metric) <= TABLE and not pace.late() else metric

    def work(task: Task) -> Found:
        four = distinct_quadruples(len(metric), *task)
        parts = [four_point_values(table, four[:_PIECE])]
        for begin in range(_PIECE, len(four), _PIECE):
            if pace.late():
                break
            parts.append(four_point_values(table, four[begin : begin + _PIECE]))
        values, ordered = zip(*parts, strict=True)
        return np.concatenate(values), np.concatenate(ordered)

    keep(work(tasks[0]))
    with suppress(LimitReached):
        for found in pace.map(work, tasks[1:]):
            keep(found)


def _sample_by_searches(
    graph: GraphMetric, tasks: list[Task], keep: Callable[[Found], None], pace: Pace
) -> None:
    """Search the graph from the points of many quadruples at a time. Quadruples share points."""
    least = 1
    for drawn in _windows(len(graph), tasks, _FIRST_WINDOW if pace.limited else _WINDOW):
        if not least and pace.late():
            return
        four = np.sort(drawn, axis=1)
        pairs = search_quadruples(graph, four, pace, least)
        if pairs.size:
            keep(split_sums(four[: pairs.shape[1]], pairs))
        least = 0


def _windows(n: int, tasks: list[Task], size: int) -> Iterator[NDArray[np.int64]]:
    """Draw all quadruples, in windows of doubling size. An unfinished window is lost."""
    waiting = np.empty((0, 4), np.int64)
    for task in tasks:
        waiting = np.concatenate([waiting, distinct_quadruples(n, *task)])
        while len(waiting) >= size:
            yield waiting[:size]
            waiting = waiting[size:]
            size = min(2 * size, _WINDOW)
    if len(waiting):
        yield waiting


def _all(metric: Metric) -> NDArray[np.float64]:
    everyone = np.arange(len(metric))
    upper = np.triu(read_block(metric, everyone, everyone), 1)
    return upper + upper.T


def distinct_quadruples(n: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `count` rows of four different points out of n >= 4, uniformly at random.

    >>> distinct_quadruples(4, 2, np.random.default_rng(0)).shape
    (2, 4)
    """
    four = rng.integers(0, n - np.arange(4), size=(count, 4))
    for k in range(1, 4):
        # Map the index of a point among the points not drawn yet to its index among all points.
        for earlier in np.sort(four[:, :k], axis=1).T:
            four[:, k] += four[:, k] >= earlier
    return four


def four_point_values(metric: Metric, four: NDArray[np.int64]) -> Found:
    """Return h of each row, and the reordered row: see `split_sums`."""
    # Ascending: if a matrix is slightly asymmetric, the upper half is used.
    four = np.sort(four, axis=1)
    i = four.T[list(FROM)]
    j = four.T[list(TO)]
    # A custom metric may define only `block`, which `Metric.pairs` calls for every pair.
    pairs = _in_blocks(metric, four) if type(metric).pairs is Metric.pairs else metric.pairs(i, j)
    check_distances(pairs, i, j)
    return split_sums(four, pairs)


def _in_blocks(metric: Metric, four: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return d(a, b), d(c, d), d(a, c), d(b, d), d(a, d), d(b, c) of each row, read in blocks."""
    out = np.empty((6, len(four)))
    for k in range(0, len(four), _GROUP):
        group = four[k : k + _GROUP]
        rows = group[:, :3].ravel()
        columns = group[:, 1:].ravel()
        own = np.arange(len(group))
        # (a, b, c) x (b, c, d) of every quadruple with itself
        block = read_block(metric, rows, columns).reshape(len(group), 3, len(group), 3)[own, :, own]
        out[:, k : k + _GROUP] = block[:, [0, 2, 0, 1, 0, 1], [0, 2, 1, 2, 2, 1]].T
    return out
