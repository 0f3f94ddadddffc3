"""Errors for two points that have no distance.

Compiled code has numbers only, so an error carries the number of the metric. The message is formed
in the process that has the metric, even if a worker raised the error.
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


def _names(noun: str, number: int, i: int, j: int) -> str:
    metric = _METRICS.get(number)
    if metric is None or metric.labels is None:
        return f"{noun} {i} and {j}"
    return f"{metric.labels[i]!r} and {metric.labels[j]!r}"
