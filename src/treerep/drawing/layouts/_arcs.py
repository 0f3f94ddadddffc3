"""Geodesics of the Poincaré disk: arcs of circles that meet its edge at right angles, as chains of short lines."""

import numpy as np
from numpy.typing import NDArray

# How far a chain may be from its arc, in radii of the disk: a quarter of a pixel on a picture
# 1,000 pixels wide.
_TOLERANCE = 5e-4
_MOST_LINES = 64
_EDGE = 1 - 1e-7


def geodesic_arcs(
    start: NDArray[np.float64], end: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Chains (k, 2) from start[i] to end[i], rows of (E, 2) within the disk; straighter ones have fewer lines.

    >>> [
    ...     len(arc)
    ...     for arc in geodesic_arcs(
    ...         np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([[0.5, 0.0], [0.0, 0.5]])
    ...     )
    ... ]
    [2, 11]
    """
    a, b = (_within(points[:, 0] + 1j * points[:, 1]) for points in (start, end))
    # With the midpoint m of the arc moved to the origin, the arc is the straight line from -u
    # to u.
    moved = (b - a) / (1 - np.conj(a) * b)
    size = np.minimum(np.abs(moved), 1.0)
    half = moved / (1 + np.sqrt((1 - size) * (1 + size)))
    m = (half + a) / (1 + np.conj(a) * half)
    u = (b - m) / (1 - np.conj(m) * b)
    # s u is carried back to (s u + m) / (1 + s q); the arc turns there by twice the angle of 1
    # + s q.
    q = np.conj(m) * u
    first = np.angle(1 - q)
    last = np.angle(1 + q)
    bulge = 0.5 * np.abs(b - a) * np.tan(0.5 * np.minimum(np.abs(last - first), 3.0))
    lines = np.clip(np.ceil(np.sqrt(bulge / _TOLERANCE)), 1, _MOST_LINES).astype(np.int64)
    arcs: list[NDArray[np.float64]] = [np.empty((0, 2))] * len(a)
    for count in np.unique(lines):
        of = np.flatnonzero(lines == count)
        points = _along(m[of], u[of], q[of], first[of], last[of], int(count))
        chains = np.stack([points.real, points.imag], axis=2)
        chains[:, 0] = start[of]
        chains[:, -1] = end[of]
        for i, chain in zip(of, chains, strict=True):
            arcs[i] = chain
    return arcs


def _within(points: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Points a little within the edge of the disk: on it there are no distances, and the eye sees no difference."""
    size = np.abs(points)
    return points * (_EDGE / np.maximum(size, _EDGE))


def _along(
    m: NDArray[np.complex128],
    u: NDArray[np.complex128],
    q: NDArray[np.complex128],
    first: NDArray[np.float64],
    last: NDArray[np.float64],
    count: int,
) -> NDArray[np.complex128]:
    """Points at equal angles of each arc: tan(angle of 1 + s q) = s Im q / (1 + s Re q), solved for s."""
    share = np.linspace(0, 1, count + 1)
    if count == 1:
        s = np.array([[-1.0, 1.0]])
    else:
        tangent = np.tan(first[:, None] + share * (last - first)[:, None])
        s = tangent / (q.imag[:, None] - q.real[:, None] * tangent)
    return (s * u[:, None] + m[:, None]) / (1 + s * q[:, None])
