"""Errors for two points that have no distance.

Compiled code has numbers only, so an error carries the number of the metric. The message is formed
in the process that has the metric.
"""

import uuid
from weakref import WeakValueDictionary

from .base import Metric, MetricError

_METRICS: WeakValueDictionary[int, Metric] = WeakValueDictionary()


def new_number() -> int:
    """Return a number for a metric. It is unique, and fits into an int64."""
    return uuid.uuid4().int >> 65


def register(number: int, metric: Metric) -> None:
    """Let errors with this number name the points of a metric."""
    _METRICS[number] = metric


class NoCommonLocusError(MetricError):
    """Raised if two profiles have no known locus in common: (number of the metric, i, j).

    >>> print(NoCommonLocusError(0, 2, 5))
    profiles 2 and 5 have no known locus in common, so their distance is undefined: drop one of them
    """

    def __str__(self) -> str:
        names = _names("profiles", *self.args)
        return f"{names} have no known locus in common, so their distance is undefined: drop one of them"


class NoCommonKmerError(MetricError):
    """Raised if the sketches of two genomes have no hash in common: (number of the metric, i, j).

    >>> print(NoCommonKmerError(0, 2, 5))
    genomes 2 and 5 have no k-mer in common, so their distance is undefined: drop one of them, use \
a smaller k, or pass saturated='cap'
    """

    def __str__(self) -> str:
        names = _names("genomes", *self.args)
        return (
            f"{names} have no k-mer in common, so their distance is undefined: drop one of them, "
            "use a smaller k, or pass saturated='cap'"
        )


def _names(noun: str, number: int, i: int, j: int) -> str:
    metric = _METRICS.get(number)
    if metric is None or metric.labels is None:
        return f"{noun} {i} and {j}"
    return f"{metric.labels[i]!r} and {metric.labels[j]!r}"
