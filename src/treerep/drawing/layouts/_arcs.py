"""Geodesics of the Poincaré disk as polylines.

Geodesics are circular arcs that meet the edge of the disk at right angles.
"""

import numpy as np

from .._arrays import ComplexArray, FloatArray

# Maximum distance between a polyline and its arc, in radii of the disk: a quarter of a pixel in
# a picture 1,000 pixels wide.
_TOLERANCE = 5e-4
_MOST_LINES = 64
_EDGE = 1 - 1e-7


def geodesic_arcs(start: FloatArray, end: FloatArray) -> list[FloatArray]:
    """Return polylines (k, 2) from start[i] to end[i]. Straighter arcs have fewer segments.

    start and end are (E, 2) arrays of points in the disk.

    >>> [
    ...     len(arc)
    ...     for arc in geodesic_arcs(np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([[0.5, 0.0], [0.0, 0.5]]))
    ... ]
    [2, 11]
    """
    a = _inside(start[:, 0] + 1j * start[:, 1])
    b = _inside(end[:, 0] + 1j * end[:, 1])
    # If the midpoint m of the arc is moved to the origin, the arc becomes the straight line
    # from -u to u.
    moved = (b - a) / (1 - np.conj(a) * b)
    size = np.minimum(np.abs(moved), 1.0)
    half = moved / (1 + np.sqrt((1 - size) * (1 + size)))
    m = (half + a) / (1 + np.conj(a) * half)
    u = (b - m) / (1 - np.conj(m) * b)
    # The point s u of this line is the image of (s u + m) / (1 + s q). At this image, the arc has
    # turned by twice the angle of 1 + s q.
    q = np.conj(m) * u
    first = np.angle(1 - q)
    last = np.angle(1 + q)
    # The distance between the arc and its chord.
    turn = np.minimum(np.abs(last - first), 3.0)
    bulge = 0.5 * np.abs(b - a) * np.tan(0.5 * turn)
    needed = np.ceil(np.sqrt(bulge / _TOLERANCE))
    lines = np.clip(needed, 1, _MOST_LINES).astype(np.int64)
    arcs: list[FloatArray] = [np.empty((0, 2))] * len(a)
    for count in np.unique(lines):
        edges = np.flatnonzero(lines == count)
        angles = _angles(first[edges], last[edges], int(count))
        points = _along(m[edges], u[edges], q[edges], angles)
        chains = np.stack([points.real, points.imag], axis=2)
        chains[:, 0] = start[edges]
        chains[:, -1] = end[edges]
        for i, chain in zip(edges, chains, strict=True):
            arcs[i] = chain
    return arcs


def _inside(points: ComplexArray) -> ComplexArray:
    """Move points on the edge of the disk, where distances are infinite, slightly inside."""
    size = np.abs(points)
    return points * (_EDGE / np.maximum(size, _EDGE))


def _angles(first: FloatArray, last: FloatArray, count: int) -> FloatArray:
    """Return count + 1 equally spaced angles for each arc."""
    share = np.linspace(0, 1, count + 1)
    return first[:, None] + share * (last - first)[:, None]


def _along(
    m: ComplexArray,
    u: ComplexArray,
    q: ComplexArray,
    angles: FloatArray,
) -> ComplexArray:
    """Return the points of each arc at which 1 + s q has the given angles."""
    if angles.shape[1] == 2:
        s = np.array([[-1.0, 1.0]])
    else:
        # tan(angle of 1 + s q) = s Im q / (1 + s Re q), solved for s
        tangent = np.tan(angles)
        s = tangent / (q.imag[:, None] - q.real[:, None] * tangent)
    return (s * u[:, None] + m[:, None]) / (1 + s * q[:, None])
