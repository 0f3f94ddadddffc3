"""Kernels of Bartal's recursive partitions."""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def _diameter(distances: Any, points: Any) -> Any:
    widest = 0.0
    for a in range(len(points)):
        row = distances[points[a]]
        for b in range(a + 1, len(points)):
            widest = max(widest, np.float64(row[points[b]]))
    return widest


@helper
def _shuffle(points: Any, rng: Any) -> None:
    # Generator.shuffle does the same, but takes ten times as long to compile.
    for k in range(len(points) - 1, 0, -1):
        other = int(rng.random() * (k + 1))
        points[k], points[other] = points[other], points[k]


@helper
def _partition(distances: Any, radius: Any, points: Any, order: Any, later: Any, ends: Any) -> Any:
    """Sort points into parts.

    Each point joins the first point of the order that is closer than `radius`, possibly itself. All
    points are centers in turn, including points that have joined another center. `points` is the
    order and is sorted by parts. Part k ends before position ends[k]. `order` and `later` are
    scratch. Returns the number of parts.
    """
    order[: len(points)] = points
    parts = 0
    start = 0
    for i in range(len(points)):
        if start == len(points):
            break
        center = order[i]
        row = distances[center]
        stop = start
        left = 0
        for k in range(start, len(points)):
            point = points[k]
            if row[point] < radius or point == center:  # a radius may be rounded to 0
                points[stop] = point
                stop += 1
            else:
                later[left] = point
                left += 1
        if stop > start:
            points[stop:] = later[:left]
            ends[parts] = start = stop
            parts += 1
    return parts


@kernel
def partition_tree(distances: Any, diameter: Any, rng: Any) -> Any:
    """Draw one tree: see `bartal`. O(n^2) time for every halving of the diameter, O(n) memory.

    distances : (n, n), any real dtype; diameter : the largest of them; rng : numpy Generator.

    Returns edges (n-1, 2) int64 and lengths (n-1,) float64.
    """
    n = len(distances)
    points = np.arange(n)  # every set of the recursion is a slice of this array
    order = np.empty(n, np.int64)
    later = np.empty(n, np.int64)
    ends = np.empty(n, np.int64)
    # Sets in the order in which they arise: parents precede their parts, and each split makes at
    # least two parts.
    bounds = np.empty((2 * n, 2), np.int64)
    parent = np.full(2 * n, -1)
    first = np.full(2 * n, -1)
    length = np.zeros(2 * n)
    edges = np.empty((n - 1, 2), np.int64)
    weights = np.zeros(n - 1)
    n_sets = 1
    n_edges = 0
    s = 0
    bounds[0] = 0, n
    while s < n_sets:
        low, high = bounds[s]
        mine = points[low:high]
        width = diameter if s == 0 else _diameter(distances, mine)
        if width == 0:
            for k in range(1, len(mine)):
                edges[n_edges] = mine[0], mine[k]
                n_edges += 1
        else:
            parts = 1
            # A ball of radius Delta / 4 contains two points at distance Delta only if the
            # triangle inequality fails. Then draw again: if either point is the first center,
            # they are separated.
            while parts == 1:
                _shuffle(mine, rng)
                # R = (delta / 4) (1 + U[0, 1]), delta = Delta / 2
                radius = width / 2 / 4 * (1 + rng.random())
                parts = _partition(distances, radius, mine, order, later, ends)
            first[s] = n_sets
            for k in range(parts):
                bounds[n_sets] = low + (ends[k - 1] if k > 0 else 0), low + ends[k]
                parent[n_sets] = s
                length[n_sets] = width / 2
                n_sets += 1
        s += 1
    root = np.empty(n_sets, np.int64)
    for s in range(n_sets - 1, -1, -1):
        root[s] = points[bounds[s, 0]] if first[s] < 0 else root[first[s]]
    for s in range(1, n_sets):
        if first[parent[s]] != s:
            edges[n_edges] = root[parent[s]], root[s]
            weights[n_edges] = length[s]
            n_edges += 1
    return edges, weights
