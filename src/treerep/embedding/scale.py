"""The scale at which no distance of an embedded tree is shortened by more than was asked for."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..metric.base import frozen
from ..tree.rooted import Preorder
from .directions import MOST_PAIRS, Around, spread_directions


def scale_for(distortion: float, view: Preorder, n_points: int, around: Around) -> float:
    from .sarkar_kernels import worst_path

    lengths = view.length[view.length > 0]
    if len(lengths) == 0:
        return 1.0
    slack = 1 - 1 / distortion
    occupied = np.zeros(len(view.up), np.bool_)
    occupied[around.head[view.order < n_points]] = True
    closest = _closest(around)

    evals=[0]
    def needed(scale: float) -> float:
        """Scale that would suffice for the worst path if it lost as much as it may at this scale."""
        evals[0]+=1; import os
        lost, far = worst_path(scale, slack, around.starts, around.members, view.length, around.turns, occupied, closest, MOST_PAIRS)
        if os.environ.get("EV"): print(scale, lost, far, lost / (slack * far) if far else 0)
        return lost / (slack * far) if far > 0 else 0.0

    high = 64 / float(lengths.min())
    while (low := needed(high)) > high:
        high *= 4
    low = trial = max(low, 1.0 / float(lengths.max()))
    # Losses fall as the scale grows: what is needed at a scale that suffices never suffices by itself.
    while high > 1.005 * low:
        trial = min(max(trial, 1.002 * low), math.sqrt(low * high))
        found = needed(trial)
        if found <= trial:
            high, low = trial, max(low, found)
            trial = low
        else:
            low, trial = trial, found
    import os
    if os.environ.get("EV"): print("evals",evals[0])
    return high


def _closest(around: Around):
    closest = np.zeros(len(around.head))
    edges = np.diff(around.starts)
    for v in np.flatnonzero(edges > MOST_PAIRS):
        turns = around.turns[around.members[around.starts[v] : around.starts[v + 1]]]
        if turns.shape[1] == 2:
            angles = np.sort(np.arctan2(turns[:, 1], turns[:, 0]))
            closest[v] = math.sin(0.5 * min(np.diff(angles).min(), 2 * math.pi + angles[0] - angles[-1]))
        else:
            closest[v] = 0.5*_least_chord(int(edges[v]) + (v > 0), turns.shape[1])
    return closest


@lru_cache(maxsize=256)
def _least_chord(count: int, dim: int) -> float:
    from scipy.spatial import cKDTree
    from .directions import _code_distance, _best_code
    if dim > 3: return _code_distance(*_best_code(count, dim)) * (1 - 1e-9)
    points = spread_directions(count, dim)
    return float(cKDTree(points).query(points, k=2)[0][:, 1].min())
