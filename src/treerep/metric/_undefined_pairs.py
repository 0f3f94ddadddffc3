"""Errors for two points that have no distance.

Compiled code has numbers only, so an error carries the number of the metric. The message is formed
in the process that has the metric, even if a worker raised the error.
"""

import uuid
import warnings
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import run
from .base import Metric, MetricError, read_only

#: What to do with pairs that have no distance.
SATURATED = ("cap", "raise")
_PAIRS = 1 << 20  # distances computed together
_FEWEST_ROWS = 32  # of a sample of pairs

_METRICS: WeakValueDictionary[int, Metric] = WeakValueDictionary()


def new_number() -> int:
    """Return a number for a metric. It is unique, and fits into an int64."""
    return uuid.uuid4().int >> 65


def register(number: int, metric: Metric) -> None:
    """Let errors with this number name the points of a metric."""
    _METRICS[number] = metric


class NoCommonLocusError(MetricError):
    """Raised if two rows have no known locus in common: (number of the metric, i, j).

    >>> print(NoCommonLocusError(0, 2, 5))
    rows 2 and 5 have no known locus in common, so their distance is undefined: drop one of them, or \
pass saturated='cap'
    """

    def __str__(self) -> str:
        names = _names("rows", *self.args)
        return (
            f"{names} have no known locus in common, so their distance is undefined: drop one of them, "
            "or pass saturated='cap'"
        )


class UndefinedDistanceError(MetricError):
    """Raised if two sequences are too different for the model, or have no common site.

    The arguments are the number of the metric, the two sequences, their common sites, and how many
    of these sites differ.

    >>> print(UndefinedDistanceError(0, 2, 5, 40, 36))
    the distance of sequences 2 and 5 is undefined, because 36 of their 40 common sites differ: \
drop one of them, choose the model 'p', or pass saturated='cap'
    """

    def __str__(self) -> str:
        number, i, j, common, different = self.args
        model = getattr(_METRICS.get(number), "model", None)
        distance = "the distance" if model is None else f"the {model} distance"
        reason = f"{different} of their {common} common sites differ"
        other = ", choose the model 'p'"
        if common == 0:
            reason = "no site is known in both"
            other = ""
        return (
            f"{distance} of {_names('sequences', number, i, j)} is undefined, because {reason}: "
            f"drop one of them{other}, or pass saturated='cap'"
        )


def stripes(
    oracle: Any, order: NDArray[np.int64], stop: int, n_jobs: int | None = None
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the distances of the first `stop` points of an order to the points from each row on.

    A stripe is the position of its first row, and the distances of some rows to the points from
    this position on.
    """
    from .oracle.blocks import write_block

    points = read_only(order)
    n = len(points)
    step = max(1, _PAIRS // n)

    def stripe(first: int) -> tuple[int, NDArray[np.float64]]:
        rows = points[first : min(first + step, stop)]
        out = np.empty((len(rows), n - first))
        write_block(oracle, rows, points[first:], out)
        return first, out

    yield from run(stripe, range(0, stop, step), n_jobs)


def warn_of_capped(oracle: Any, limit: float, known: NDArray[np.int64], most: int, what: str) -> None:
    """Warn if some distances are capped: those that are NaN, or at least `limit`, in the oracle.

    Up to `most` pairs are counted. If there are more pairs, a sample of rows is counted. Half of
    these rows are those of the points about which the least is `known`, because these are the most
    likely to have no distance.
    """
    n = len(known)
    order = np.arange(n)
    stop = n
    if n * (n - 1) // 2 > most and n > 2 * _FEWEST_ROWS:
        stop = max(_FEWEST_ROWS, most // n)
        least = np.argsort(known, kind="stable")
        rest = np.sort(least[stop // 2 :])
        even = rest[:: -(-len(rest) // (stop - stop // 2))]
        stop = stop // 2 + len(even)
        chosen = np.concatenate([least[: stop - len(even)], even])
        order = np.concatenate([chosen, np.setdiff1d(order, chosen)])
    count = 0
    for _, rows in stripes(oracle, order, stop):
        capped = ~(rows < limit)
        # The square at the start has each of its pairs twice.
        count += int(capped.sum()) - int(capped[:, : len(rows)].sum()) // 2
    if count:
        pairs = stop * (stop - 1) // 2 + stop * (n - stop)
        sampled = "" if stop == n else " sampled"
        warnings.warn(f"{count:,} of {pairs:,}{sampled} pairs of {what}", stacklevel=3)


def _names(noun: str, number: int, i: int, j: int) -> str:
    metric = _METRICS.get(number)
    if metric is None or metric.labels is None:
        return f"{noun} {i} and {j}"
    return f"{metric.labels[i]!r} and {metric.labels[j]!r}"
