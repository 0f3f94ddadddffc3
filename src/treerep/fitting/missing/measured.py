"""The graph of the measured pairs: which points it connects, and which it cannot place."""

import warnings

import numpy as np
from numpy.typing import NDArray

from ...metric.base import Metric, MetricError

# A point has a position and a height above the tree: three unknowns with the side of the edge.
_ENOUGH = 3
# Number of points that a message lists.
_LISTED = 5


def check_measured_pairs(metric: Metric, distances: NDArray[np.float64]) -> None:
    """Raise a MetricError if no tree connects the points, and warn of points without a position.

    Points with one or two measured distances fit equally well in many places.
    """
    n = len(distances)
    measured = ~np.isnan(distances)
    count = measured.sum(axis=1) - 1
    alone = np.flatnonzero(count == 0)
    if len(alone):
        raise MetricError(
            f"no distance was measured for {_listed(metric, alone)}: "
            "drop these points, or measure at least three distances of each"
        )
    group = _reached(measured)
    if not group.all():
        inside = np.flatnonzero(group)
        raise MetricError(
            f"no distance was measured between {_listed(metric, inside)} and the other "
            f"{n - len(inside):,}: measure such pairs, or fit the two groups separately"
        )
    few = np.flatnonzero(count < min(_ENOUGH, n - 1))
    if len(few):
        warnings.warn(
            f"fewer than {_ENOUGH} distances were measured for {_listed(metric, few)}: "
            "other places in the tree fit equally well",
            stacklevel=2,
        )


def _reached(measured: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the points that measured pairs connect with point 0."""
    reached = measured[0].copy()
    new = reached
    while new.any():
        new = measured[new].any(axis=0) & ~reached
        reached |= new
    return reached


def _listed(metric: Metric, points: NDArray[np.int64]) -> str:
    """Name some points: by label, or by number."""
    labels = metric.labels
    names = [str(x) if labels is None else repr(labels[x]) for x in points[:_LISTED]]
    more = len(points) - len(names)
    ending = f" and {more:,} more" if more else ""
    return f"point{'s' * (len(points) > 1)} {', '.join(names)}{ending}"
