"""Pairs of points whose distance was not measured."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Metric, MetricError
from .disk.mapped import is_large_map


def check_missing(distances: NDArray[Any]) -> None:
    """Raise a MetricError unless NaN marks whole pairs: both d(i, j) and d(j, i), never d(i, i)."""
    if is_large_map(distances):
        raise MetricError("missing=True needs all distances in memory: load the file with numpy.load first")
    missing = np.isnan(distances)
    for i in np.flatnonzero(np.diagonal(missing))[:1]:
        raise MetricError(
            f"d({i}, {i}) is missing, but the distance of a point to itself is 0: fill the diagonal with 0"
        )
    for i, j in np.argwhere(missing & ~missing.T)[:1]:
        raise MetricError(
            f"d({i}, {j}) is missing but d({j}, {i}) is {distances[j, i]}: "
            "use the same entry for both, or NaN for both"
        )


def without_missing(distances: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of a matrix with 0 in place of missing distances."""
    return np.where(np.isnan(distances), distances.dtype.type(0), distances)


def refuse_missing(
    metric: Metric, what: str, fix: str = "fit a tree first, and use the tree as the metric"
) -> None:
    """Raise a MetricError if a function that needs all distances gets a metric without some.

    >>> from treerep import MatrixMetric
    >>> nan = float("nan")
    >>> metric = MatrixMetric([[0, 1, 1], [1, 0, nan], [1, nan, 0]], missing=True)
    >>> refuse_missing(metric, "hyperbolicity")
    Traceback (most recent call last):
        ...
    treerep.metric.base.MetricError: hyperbolicity needs all distances, but some are missing: \
fit a tree first, and use the tree as the metric
    """
    if metric.has_missing:
        raise MetricError(f"{what} needs all distances, but some are missing: {fix}")
