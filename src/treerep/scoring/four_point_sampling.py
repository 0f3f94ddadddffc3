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
from .quadruples import check_distances, split_sums
from .streaming import read_block

_BLOCK = 1 << 13
TABLE = 1000  # points whose distances are all read
_GROUP = 4  # quadruples asked for in one block: 24 distances of 144, in place of 24 calls
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
    table = MatrixMetric(_all(metric)) if len(metric) <= TABLE else metric

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
    unit = float(deltas.max()) or 1.0  # squares of huge numbers overflow
    spread = unit * float((deltas / unit).std(ddof=1)) if len(deltas) > 1 else math.inf
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
    four = np.sort(four, axis=1)  # of matrices that are a little asymmetric the upper half counts
    i, j = four.T[[0, 2, 0, 1, 0, 1]], four.T[[1, 3, 2, 3, 3, 2]]
    # A metric of the user's own may have `block` alone, and `pairs` calls it for every pair.
    pairs = _in_blocks(metric, four) if type(metric).pairs is Metric.pairs else metric.pairs(i, j)
    check_distances(pairs, i, j)
    return split_sums(four, pairs)


def _in_blocks(metric: Metric, four: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return d(a, b), d(c, d), d(a, c), d(b, d), d(a, d), d(b, c) of each row, a few rows in one block."""
    out = np.empty((6, len(four)))
    for k in range(0, len(four), _GROUP):
        group = four[k : k + _GROUP]
        rows, columns = group[:, :3].ravel(), group[:, 1:].ravel()
        own = np.arange(len(group))
        # (a, b, c) x (b, c, d) of every quadruple with itself
        block = read_block(metric, rows, columns).reshape(len(group), 3, len(group), 3)[own, :, own]
        out[:, k : k + _GROUP] = block[:, [0, 2, 0, 1, 0, 1], [0, 2, 1, 2, 2, 1]].T
    return out
