"""The scale that bounds the distortion of an embedded tree."""

import math

import numpy as np
from numpy.typing import NDArray

from ...metric.base import MetricError
from ...tree.structure.rooted import Preorder
from ._directions import MOST_PAIRS, Around, least_angle

#: How much larger than the least that is known to suffice a scale may be.
_TOLERANCE = 1.005


def scale_for(distortion: float, view: Preorder, n_points: int, around: Around) -> float:
    """Return the scale at which no distance is below its tree distance / distortion.

    Found from a bound of what each path loses in its turns, which is tight where edges are
    long. A few passes of O(N).
    """
    from ._scale_kernels import measure_angles, worst_path

    lengths = view.length[view.length > 0]
    if len(lengths) == 0:
        return 1.0
    # d >= scale * length - lost must be at least scale * length / distortion, rounding
    # included.
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
        # What the path that is worst at this scale needs, if it loses as much as it may at this
        # scale.
        lost, length = worst_path(scale, slack, *tables)
        return lost / (slack * length)

    # Losses hardly depend on the scale where edges are long, and grow as it falls. So what is
    # needed at a scale that suffices is about the least that does; what is returned has been
    # looked at.
    high = 256.0 / float(lengths.min())
    if not high * float(lengths.sum()) < 1e290:
        raise MetricError(
            f"edges are {lengths.min():.3g} to {lengths.max():.3g} long: "
            "give a scale, not a distortion"
        )
    while (low := needed(high)) > high:
        high = 2.0 * low
    # Where no path turns, all scales suffice: take one at which an edge is about as long as the
    # space is curved.
    low = trial = max(low, 1.0 / float(lengths.max()))
    while high > _TOLERANCE * low:
        trial = min(max(trial, 1.002 * low), math.sqrt(low * high))
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
    """Write sin(t / 2) of the least angle t of edges below each node with many edges."""
    edges = np.diff(around.starts)
    for v in np.flatnonzero(edges > MOST_PAIRS):
        turns = around.turns[around.members[around.starts[v] : around.starts[v + 1]]]
        closest[v] = math.sin(0.5 * least_angle(turns, int(edges[v]) + bool(v)))
