"""States of the nodes of a tree, if the coordinates of its points diffuse along the edges.

In Brownian motion, the change of a coordinate along an edge of length l has a variance of l, up to
a factor of the coordinate. The expected state of a Steiner node, given the points, is the mean of
its neighbors with weights 1 / l. A pass up and a pass down compute all states (Felsenstein, Am. J.
Hum. Genet. 25, 1973).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..structure.rooted import Preorder, merged

# Edges of this share of the largest length count as 0, because their reciprocals could overflow.
_LEAST = 1e-290


def checked_values(values: ArrayLike, n_points: int) -> NDArray[np.floating]:
    """Return the values of the points as an (n, k) table of floats."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or len(array) != n_points:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise ValueError(f"got values of shape {shape} for {n_points} points: give one row per point")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"values of dtype {array.dtype} are not supported: use real numbers")
    table = np.ascontiguousarray(array.reshape(n_points, -1))
    if table.dtype not in (np.float32, np.float64):
        table = table.astype(np.float64)
    if not np.isfinite(table).all():
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"value {k} of point {i} is {table[i, k]}: replace it or leave out the column")
    return table


def checked_variance(variance: ArrayLike, n_points: int) -> NDArray[np.float64]:
    """Return the variance of the noise of each point."""
    array = np.asarray(variance, np.float64)
    if array.shape not in ((), (n_points,)):
        raise ValueError(
            f"got noise_variance of shape {array.shape} for {n_points} points: give one number, or one "
            "for each point"
        )
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        raise ValueError(f"noise_variance is {array[bad][0]}: it must be finite and not negative")
    return np.broadcast_to(array, n_points).copy()


def node_states(
    view: Preorder, values: NDArray[np.floating], variance: NDArray[np.float64]
) -> NDArray[np.floating]:
    """Return the expected state of every node, given the values of the points. O(N k).

    Nodes joined by edges of length 0 have the same state. However, points without noise keep their
    values. The states of the other nodes at such a place are then the mean of these values.
    """
    from .state_kernels import smooth

    # A common factor of all lengths does not change the states.
    unit = max(view.length.max(), variance.max()) or 1.0
    length, variance = (np.where(each <= _LEAST * unit, 0.0, each / unit) for each in (view.length, variance))
    groups = merged(view._replace(length=length))
    states = np.zeros((len(groups.order), values.shape[1]), values.dtype)
    at = groups.position[: len(values)].copy()
    smooth(groups.up, groups.length, at, values, variance, states)
    states = states[groups.position]
    exact = variance == 0
    states[: len(values)][exact] = values[exact]
    return states
