"""Average precision of the neighbors of one point, in one pass over its row of distances."""

from typing import Any

import numpy as np

from .._core.kernel import helper, kernel

# Floating-point sums that should be equal differ in their last digits. Two distances are tied
# if they differ by less than this fraction of the largest distance in the row.
TOLERANCE = 1e-9


@helper
def tie_tolerance(distances: Any) -> float:
    """Return the tolerance for ties in this row, or NaN if a distance is not finite."""
    largest = 0.0
    unusable = 0
    for x in range(len(distances)):
        size = abs(distances[x])
        unusable += not size < np.inf
        largest = size if size > largest else largest
    return np.nan if unusable else TOLERANCE * largest


@helper
def _sort(values: Any) -> None:
    """Sort in place with Shell sort.

    There are few values, and np.sort takes two seconds to compile.
    """
    gap = len(values)
    while gap > 1:
        gap = max(1, gap * 4 // 9)
        for k in range(gap, len(values)):
            value = values[k]
            place = k
            while place >= gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value


@helper
def _first_reaching(limits: Any, value: float) -> int:
    """Return the first position with a limit of at least `value`. Limits ascend, and the last suffices."""
    low = 0
    high = len(limits) - 1
    while low < high:
        middle = (low + high) // 2
        if limits[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def _group(values: Any, tolerance: float, nearest: Any, farthest: Any, sizes: Any) -> int:
    """Group ascending values into ties, from `nearest` to `farthest` each; return the number of groups."""
    groups = 0
    for value in values:
        # Below, the same comparison decides whether a point ties with the group, so the two
        # decisions agree despite rounding.
        if groups == 0 or value > farthest[groups - 1]:
            nearest[groups] = value - tolerance
            sizes[groups] = 0
            groups += 1
        farthest[groups - 1] = value + tolerance
        sizes[groups - 1] += 1
    return groups


@helper
def _precision(distances: Any, point: int, neighbors: Any, by_rank: bool) -> float:
    tolerance = tie_tolerance(distances)
    if np.isnan(tolerance):
        return np.nan
    degree = len(neighbors)
    nearest = np.empty(degree)
    farthest = np.empty(degree)
    sizes = np.empty(degree, np.int64)
    values = distances[neighbors]
    _sort(values)
    groups = _group(values, tolerance, nearest, farthest, sizes)
    farthest = farthest[:groups]
    # points nearer than the group, but not nearer than the previous group
    between = np.zeros(groups, np.int64)
    tied = np.zeros(groups, np.int64)  # points tied with the group, so far ...
    met = np.zeros(groups, np.int64)  # ... and neighbors among them
    group_of = np.zeros(degree, np.int64)
    tie_rank = np.zeros(degree, np.int64)
    met_rank = np.zeros(degree, np.int64)
    seen = 0
    for x in range(len(distances)):
        if x == point or distances[x] > farthest[-1]:
            continue
        group = _first_reaching(farthest, distances[x])
        if distances[x] < nearest[group]:
            between[group] += 1
            continue
        tied[group] += 1
        if seen < degree and neighbors[seen] == x:
            met[group] += 1
            group_of[seen] = group
            tie_rank[seen] = tied[group]
            met_rank[seen] = met[group]
            seen += 1
    # Numbers of points and of neighbors before each group.
    points_before = np.zeros(groups + 1, np.int64)
    neighbors_before = np.zeros(groups + 1, np.int64)
    for group in range(groups):
        points_before[group] += between[group]
        points_before[group + 1] = points_before[group] + tied[group]
        neighbors_before[group + 1] = neighbors_before[group] + sizes[group]
    total = 0.0
    for k in range(degree):
        group = group_of[k]
        hits = neighbors_before[group] + (met_rank[k] if by_rank else sizes[group])
        total += hits / (points_before[group] + (tie_rank[k] if by_rank else tied[group]))
    return total / degree


@kernel
def average_precision(
    distances: Any, points: Any, starts: Any, neighbors: Any, by_rank: bool, out: Any
) -> None:
    """Write the average precision of points[a], with distances in row a, to out[a], or NaN.

    The neighbors of v are neighbors[starts[v]:starts[v + 1]]: at least one, ascending,
    without v.
    """
    for a in range(len(points)):
        own = points[a]
        out[a] = _precision(distances[a], own, neighbors[starts[own] : starts[own + 1]], by_rank)
