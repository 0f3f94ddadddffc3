"""The scale at which no distance of an embedded tree is shortened by more than was asked for."""

import math

import numpy as np
from numpy.typing import NDArray

from ..tree.rooted import Preorder
from .directions import MOST_PAIRS, Around, least_angle

#: How much larger than the least that is known to suffice a scale may be.
_TOLERANCE = 1.005


def scale_for(distortion: float, view: Preorder, n_points: int, around: Around) -> float:
    """Scale from which on all distances of data points are at least their tree distance / distortion.

    Found from a bound of what each path loses in its turns, which is tight where edges are long. A few passes of O(N).
    """
    from .scale_kernels import worst_path

    lengths = view.length[view.length > 0]
    if len(lengths) == 0:
        return 1.0
    # d >= scale * length - lost must be at least scale * length / distortion, rounding included.
    slack = (1 - 1 / distortion) * (1 - 1e-9)
    occupied = np.zeros(len(view.up), np.bool_)
    occupied[around.head[view.order < n_points]] = True
    tables = (around.starts, around.members, view.length, around.turns, occupied, _least_angles(around), MOST_PAIRS)

    def needed(scale: float) -> float:
        # What the path that is worst at this scale needs, if it loses as much as it may at this scale.
        lost, length = worst_path(scale, slack, *tables)
        return lost / (slack * length)

    # Losses fall as the scale grows. So what is needed at a scale that suffices is at most the least that suffices.
    high = 256.0 / float(lengths.min())
    while (low := needed(high)) > high:
        high = 2.0 * low
    # Where no path turns, all scales suffice: take one at which an edge is about as long as the space is curved.
    low = trial = max(low, 1.0 / float(lengths.max()))
    while high > _TOLERANCE * low:
        trial = min(max(trial, 1.002 * low), math.sqrt(low * high))
        found = needed(trial)
        if found <= trial:
            high, low, trial = trial, max(low, found), 0.0
        else:
            low, trial = trial, found
    return high


def _least_angles(around: Around) -> NDArray[np.float64]:
    """sin(t / 2) of the least angle t between edges below a node that has too many for looking at all pairs."""
    angles = np.zeros(len(around.head))
    edges = np.diff(around.starts)
    for v in np.flatnonzero(edges > MOST_PAIRS):
        turns = around.turns[around.members[around.starts[v] : around.starts[v + 1]]]
        angles[v] = math.sin(0.5 * least_angle(turns, int(edges[v]) + bool(v)))
    return angles
