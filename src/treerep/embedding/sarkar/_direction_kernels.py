"""Kernels that place the edges around every node of a tree."""

import math
from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def _relax(points: Any, weights: Any, count: Any, dim: Any, i: Any, pull: Any) -> Any:
    """Move point i on the sphere to lower -sum w_j ln |u_i - u_j|; return the squared step."""
    total = 0.0
    nearest = 4.0
    for c in range(dim):
        pull[c] = 0.0
    for j in range(count):
        if j != i:
            square = 0.0
            for c in range(dim):
                apart = points[i, c] - points[j, c]
                square += apart * apart
            nearest = min(nearest, square)
            strength = weights[j] / square
            total += strength
            for c in range(dim):
                pull[c] += strength * (points[i, c] - points[j, c])
    radial = 0.0
    for c in range(dim):
        radial += pull[c] * points[i, c]
    # On a circle, `total` is the second derivative, so this is a Newton step.
    step = 0.0
    for c in range(dim):
        pull[c] = (pull[c] - radial * points[i, c]) / total
        step += pull[c] * pull[c]
    shrink = math.sqrt(0.25 * nearest / step) if step > 0.25 * nearest else 1.0
    length = 0.0
    for c in range(dim):
        points[i, c] += shrink * pull[c]
        length += points[i, c] * points[i, c]
    length = 1.0 / math.sqrt(length)
    for c in range(dim):
        points[i, c] *= length
    return step


@kernel
def spread(points: Any, weights: Any, count: Any, sweeps: Any, tolerance: Any, pull: Any) -> None:
    """Spread the first `count` points over the sphere. The first point stays in place.

    `pull` (k,) is scratch.

    Lowers the energy -sum over i < j of w_i w_j ln |u_i - u_j|, point by point. O(count^2 k)
    per sweep.
    """
    # The points of a simplex leave the space that they span only as far as necessary.
    dim = min(points.shape[1], max(2, count - 1))
    for _ in range(sweeps):
        largest = 0.0
        for i in range(1, count):
            largest = max(largest, _relax(points, weights, count, dim, i, pull))
        if largest < tolerance:
            break


@helper
def _weight(traffic: Any, exponent: Any) -> Any:
    return traffic**exponent if traffic > 1 else 1.0


@kernel
def turn_edges(
    starts: Any,
    members: Any,
    traffic: Any,
    n_points: Any,
    templates: Any,
    offsets: Any,
    exponent: Any,
    most: Any,
    sweeps: Any,
    turns: Any,
) -> None:
    """Compute the direction of every edge in the frame of its upper end. O(N k), plus the time of `spread`.

    Around a node with m edges, the parent's edge takes the first direction of the template for m,
    which is -e_1. At the root, this direction goes to the edge with the most traffic. The other
    edges are assigned in decreasing order of traffic, and template directions in decreasing angle
    to the first direction. With an exponent, up to `most` directions are then spread, each with the
    weight traffic^exponent.
    """
    dim = turns.shape[1]
    largest = 1
    for v in range(len(starts) - 1):
        largest = max(largest, starts[v + 1] - starts[v] + 1)
    points = np.empty((largest, dim))
    weights = np.empty(largest)
    pull = np.empty(dim)
    for v in range(len(starts) - 1):
        begin = starts[v]
        end = starts[v + 1]
        skip = 1 if v > 0 else 0
        count = end - begin + skip
        weighted = exponent > 0.0 and count > 2
        if skip:
            weights[0] = _weight(n_points - traffic[v], exponent)
        for e in range(begin, end):
            weights[e - begin + skip] = _weight(traffic[members[e]], exponent)
        if weighted and count == 3:
            _three(points, weights)
        elif weighted and dim == 2:
            _take_sectors(points, weights, count)
        else:
            for i in range(count if begin < end else 0):
                for c in range(dim):
                    points[i, c] = templates[offsets[count] + i, c]
        if weighted and 3 < count <= most:
            spread(points, weights, count, sweeps, 1e-4, pull)
        for e in range(begin, end):
            for c in range(dim):
                turns[members[e], c] = points[e - begin + skip, c]


@helper
def _three(points: Any, weights: Any) -> None:
    """Compute three directions of least energy.

    cot(half the angle of i and j) = w_k / sqrt(w_1 w_2 + w_2 w_3 + w_3 w_1).
    """
    first = weights[0]
    second = weights[1]
    third = weights[2]
    products = first * second + second * third + third * first
    for i in range(3):
        for c in range(points.shape[1]):
            points[i, c] = 0.0
    points[0, 0] = -1.0
    points[1, 0] = (products - third * third) / (products + third * third)
    points[1, 1] = 2.0 * third * math.sqrt(products) / (products + third * third)
    points[2, 0] = (products - second * second) / (products + second * second)
    points[2, 1] = -2.0 * second * math.sqrt(products) / (products + second * second)


@helper
def _take_sectors(points: Any, weights: Any, count: Any) -> None:
    """Compute directions in the middle of sectors whose widths are the square roots of the weights.

    The first direction is -e_1, and the second is roughly opposite. The other directions alternate
    between the two sides, back towards the first.
    """
    total = 0.0
    left = 0.0
    for i in range(count):
        total += math.sqrt(weights[i])
        left += math.sqrt(weights[i]) * (i % 2) * (i > 1)
    unit = 2.0 * math.pi / total
    points[0, 0] = -1.0
    points[0, 1] = 0.0
    begin = math.pi + unit * (0.5 * math.sqrt(weights[0]) + left)
    end = begin
    for i in range(1, count):
        width = unit * math.sqrt(weights[i])
        if i == 1:
            angle = begin + 0.5 * width
            end = begin + width
        elif i % 2:
            angle = begin - 0.5 * width
            begin = begin - width
        else:
            angle = end + 0.5 * width
            end = end + width
        points[i, 0] = math.cos(angle)
        points[i, 1] = math.sin(angle)
