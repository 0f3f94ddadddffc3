"""Pairs of sequences without a distance: too different, or without common sites."""

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ..base import MetricError

if TYPE_CHECKING:
    from .metric import SequenceMetric

# Compiled code has numbers only, so an error carries the number of the metric. The message is
# formed in the process that has the metric, even if a worker raised the error.
metrics: "WeakValueDictionary[int, SequenceMetric]" = WeakValueDictionary()


class UndefinedDistanceError(MetricError):
    """Raised if two sequences have no distance.

    The arguments are the number of the metric, the two sequences, and how many of their common
    sites differ.

    >>> print(UndefinedDistanceError(0, 2, 5, 40, 36))
    the distance of sequences 2 and 5 is undefined, because 36 of their 40 common sites differ: \
drop one of them, choose the model 'p', or pass saturated='cap'
    """

    def __str__(self) -> str:
        number, i, j, common, different = self.args
        metric = metrics.get(number)
        distance = "the distance"
        names = f"sequences {i} and {j}"
        if metric is not None:
            distance = f"the {metric.model} distance"
            if metric.labels is not None:
                names = f"{metric.labels[i]!r} and {metric.labels[j]!r}"
        reason = f"{different} of their {common} common sites differ"
        other = ", choose the model 'p'"
        if common == 0:
            reason = "no site is known in both"
            other = ""
        return (
            f"{distance} of {names} is undefined, because {reason}: drop one of them{other}, or "
            "pass saturated='cap'"
        )
