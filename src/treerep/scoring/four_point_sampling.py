"""Average hyperbolicity: the mean of the four-point value over random quadruples, from a few distances each.

Albert, DasGupta and Mobasheri, Topological implications of negative curvature for biological and social networks
(Physical Review E, 2014).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metric.base import Metric
from ..metric.matrix import MatrixMetric
from .pace import Best, Pace, Stopped
from .streaming import read_block

_BLOCK = 1 << 13
_TABLE = 1000
_NORMAL = 1.959964  # 95 %


class Mean(NamedTuple):
    """Mean of delta over quadruples, half the width of its 95 % interval, and how many there were."""

    value: float
    half_width: float
    quadruples: int


def sample_quadruples(metric: Metric, count: int, rng: Any, best: Best, pace: Pace) -> Mean:
    """Look at `count` quadruples of distinct points, drawn independently; the worst one goes to `best`.

    O(count) distances and memory. One block of 8,192 is looked at however short the time.
    """
    sizes = [min(_BLOCK, count - done) for done in range(0, count, _BLOCK)]
    tasks = list(zip(sizes, np.random.default_rng(rng).spawn(len(sizes)), strict=True))
    values: list[NDArray[np.float64]] = []
    # So few distances that quadruples ask for each of them again and again.
    table = MatrixMetric(_all(metric)) if len(metric) <= _TABLE else metric

    def work(task: tuple[int, np.random.Generator]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return four_point_values(table, distinct_quadruples(len(metric), *task))

    def keep(found: tuple[NDArray[np.float64], NDArray[np.int64]]) -> None:
        values.append(found[0])
        worst = int(np.argmax(found[0]))
        best.offer(float(found[0][worst]), found[1][worst])
        best.show(math.inf)

    keep(work(tasks[0]))
    try:
        for found in pace.map(work, tasks[1:]):
            keep(found)
    except Stopped:
        pass
    deltas = np.concatenate(values) / 2
    spread = float(deltas.std(ddof=1)) if len(deltas) > 1 else math.inf
    return Mean(math.fsum(deltas) / len(deltas), _NORMAL * spread / math.sqrt(len(deltas)), len(deltas))


def _all(metric: Metric) -> NDArray[np.float64]:
    everyone = np.arange(len(metric))
    upper = np.triu(read_block(metric, everyone, everyone), 1)
    return upper + upper.T


def distinct_quadruples(n: int, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `count` rows of four different points out of n >= 4, each as likely as any other.

    >>> distinct_quadruples(4, 2, np.random.default_rng(0)).shape
    (2, 4)
    """
    four = rng.integers(0, n - np.arange(4), size=(count, 4))
    for k in range(1, 4):
        # The number of a point among those not drawn yet -> its number among all.
        for earlier in np.sort(four[:, :k], axis=1).T:
            four[:, k] += four[:, k] >= earlier
    return four


def four_point_values(metric: Metric, four: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return h = largest - second largest sum of each row, and the row reordered: d(a, b) + d(c, d) is the largest."""
    a, b, c, d = four.T
    pairs = metric.pairs(np.concatenate([a, c, a, b, a, b]), np.concatenate([b, d, c, d, d, c])).reshape(6, -1)
    sums = pairs[0::2] + pairs[1::2]
    first = np.argmax(sums, axis=0)
    ordered = np.sort(sums, axis=0)
    # ab|cd, ac|bd, ad|bc
    orders = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]])
    return ordered[2] - ordered[1], np.take_along_axis(four, orders[first], axis=1)
