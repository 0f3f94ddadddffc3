"""The scale that bounds the distortion of an embedded tree."""

import math

import numpy as np
from numpy.typing import NDArray

from ...metric.base import MetricError
from ...tree.structure.rooted import Preorder
from ._directions import MOST_PAIRS, Around, least_angle

#: Maximum ratio of the returned scale to the smallest scale that may suffice.
_TOLERANCE = 1.005
# For edge lengths between these, the scale is in the range of float64.
_SMALLEST = 1e-290
_LARGEST = 1e290


def scale_for(distortion: float, view: Preorder, n_points: int, around: Around) -> float:
    """Return the scale at which no distance is below its tree distance / distortion.

    The scale is found from a bound on the loss of each path in its turns. The bound is tight if
    edges are long. Takes a few passes of O(N).
    """
    from ._scale_kernels import measure_angles, worst_path

    lengths = view.length[view.length > 0]
    if len(lengths) == 0:
        return 1.0
    # d >= scale * length - lost must be at least scale * length / distortion, including
    # rounding.
    slack = (1 - 1 / distortion) * (1 - 1e-9)
    occupied = np.zeros(len(view.up), np.bool_)
    occupied[around.head[view.order < n_points]] = True
    bend = np.zeros(len(view.up))
    closest = np.zeros(len(view.up))
    measure_angles(around.starts, around.members, around.turns, MOST_PAIRS, bend, closest)
    _measure_hubs(around, closest)
    tables = (
        around.starts,
        around.members,
        view.length,
        around.turns,
        occupied,
        bend,
        closest,
        MOST_PAIRS,
    )

    def needed(scale: float) -> float:
        # The scale that the worst path at this scale requires, assuming its largest possible
        # loss.
        lost, length = worst_path(scale, slack, *tables)
        return lost / (slack * length)

    # For long edges, losses hardly depend on the scale; they grow as the scale falls. The scale
    # required at a sufficient scale is therefore close to the minimum. The returned scale has
    # been verified.
    shortest = float(lengths.min())
    longest = float(lengths.max())
    if not _SMALLEST < shortest <= longest < _LARGEST:
        raise MetricError(f"edge lengths range from {shortest:.3g} to {longest:.3g}: rescale the distances")
    high = 256.0 / shortest
    if not high * float(lengths.sum()) < 1e290:
        raise MetricError(
            f"edge lengths range from {shortest:.3g} to {longest:.3g}: set a scale instead of a distortion"
        )
    while (low := needed(high)) > high:
        high = 2.0 * low
    # If no path turns, every scale suffices. Take one at which edge lengths are comparable to
    # the radius of curvature.
    low = trial = max(low, 1.0 / longest)
    while high > _TOLERANCE * low:
        trial = min(max(trial, 1.002 * low), math.sqrt(low) * math.sqrt(high))
        found = needed(trial)
        if found <= trial:
            high = trial
            low = max(low, found)
            trial = 0.0
        else:
            low = trial
            trial = found
    return high


def _measure_hubs(around: Around, closest: NDArray[np.float64]) -> None:
    """Write sin(t / 2) for the least angle t between edges below each node with many edges."""
    edges = np.diff(around.starts)
    for v in np.flatnonzero(edges > MOST_PAIRS):
        turns = around.turns[around.members[around.starts[v] : around.starts[v + 1]]]
        closest[v] = math.sin(0.5 * least_angle(turns, int(edges[v]) + bool(v)))
