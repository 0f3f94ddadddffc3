"""What compiled kernels receive of a metric: plain named tuples of arrays.

`distance(oracle, i, j)` in `kernels.py` is specialized by these classes. This module does not
import numba, so that metrics can be built, saved and sent to other machines without it. Arrays
are C-contiguous and read-only: every other layout or flag would be compiled again.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray


class MatrixOracle(NamedTuple):
    """Distances looked up in an n x n matrix."""

    distances: NDArray[np.generic]


class CheckedMatrixOracle(NamedTuple):
    """Distances looked up in a matrix that nobody has read before: each is checked where it is read."""

    distances: NDArray[np.generic]


class HalfMatrixOracle(NamedTuple):
    """Distances looked up in a matrix of float16, which compiled code knows by its bits; checked like those above."""

    bits: NDArray[np.uint16]


class EuclideanOracle(NamedTuple):
    """Straight-line distance between rows."""

    points: NDArray[np.floating]


class ManhattanOracle(NamedTuple):
    """Sum of absolute coordinate differences."""

    points: NDArray[np.floating]


class ChebyshevOracle(NamedTuple):
    """Largest absolute coordinate difference."""

    points: NDArray[np.floating]


class AngleOracle(NamedTuple):
    """Angle between unit vectors, in radians."""

    units: NDArray[np.floating]


class HyperbolicOracle(NamedTuple):
    """Distance in hyperbolic space, of points given by direction and distance from the origin; serves both models."""

    directions: NDArray[np.float64]  # unit vectors, or 0 at the origin
    radii: NDArray[np.float64]  # hyperbolic distance from the origin
    sinh_radii: NDArray[np.float64]


class EmbeddingOracle(NamedTuple):
    """Hyperbolic distance in units of the data: that of HyperbolicOracle times `unit`, which all points share."""

    directions: NDArray[np.float64]
    radii: NDArray[np.float64]
    sinh_radii: NDArray[np.float64]
    unit: NDArray[np.float64]  # 1 / scale


class FrameOracle(NamedTuple):
    """Distances in a tree that is embedded in hyperbolic space, from its local frames: see `frame_kernels.py`.

    All but the first and the last field are by preorder position, in which ancestors come
    first.
    """

    position: NDArray[np.int32]  # of each node
    up: NDArray[np.int32]  # position of the parent, -1 at position 0
    turns: NDArray[
        np.float64
    ]  # (N, k): direction of the edge from the parent, in the parent's frame
    lengths: NDArray[np.float64]  # hyperbolic length l of that edge
    decay: NDArray[np.float64]  # e^-l
    half: NDArray[np.float64]  # (1 - e^-2l) / 2
    unit: NDArray[np.float64]  # (1,): 1 / scale


class HubOracle(NamedTuple):
    """Shortest-path distances answered from hub labels: d(u, v) = min over common hubs of d(u, h) + d(h, v)."""

    starts: NDArray[np.int64]  # labels of vertex v are starts[v]:starts[v + 1]
    hubs: NDArray[np.int32]  # ascending within a vertex
    hub_distances: NDArray[
        np.generic
    ]  # uint8 or int32 for unweighted graphs, float64 for weighted ones


class TreeOracle(NamedTuple):
    """Path lengths in a tree from lowest common ancestors in O(1) (Schieber and Vishkin's inlabel scheme)."""

    parent: NDArray[np.int32]
    level: NDArray[np.int32]  # edges to the root
    inlabel: NDArray[np.int32]
    ascendant: NDArray[np.int32]
    head: NDArray[np.int32]  # inlabel -> its node nearest to the root
    depth: NDArray[np.float64]  # distance to the root ...
    depth_rest: NDArray[
        np.float64
    ]  # ... and what float64 rounded off it, so that near points keep all their digits


# All oracles that compiled code knows. The table is closed: a class from elsewhere must not
# enter the shared on-disk cache, so a metric that brings one is asked through `block`.
COMPILED_ORACLES = (
    MatrixOracle,
    CheckedMatrixOracle,
    HalfMatrixOracle,
    EuclideanOracle,
    ManhattanOracle,
    ChebyshevOracle,
    AngleOracle,
    HyperbolicOracle,
    EmbeddingOracle,
    FrameOracle,
    HubOracle,
    TreeOracle,
)

# Sums of a few distances up to here do not overflow.
LARGEST = float(np.finfo(np.float64).max / 4)

# Oracles that are one matrix, of one entry per pair.
MATRIX_ORACLES = (MatrixOracle, CheckedMatrixOracle, HalfMatrixOracle)

# Oracles whose arrays have one row per point: a few points can be gathered into a small oracle
# of their own.
POINT_ORACLES = (
    EuclideanOracle,
    ManhattanOracle,
    ChebyshevOracle,
    AngleOracle,
    HyperbolicOracle,
    EmbeddingOracle,
)


#: Any of the classes above: named tuples of arrays.
Oracle = TypeVar("Oracle", bound=tuple[NDArray[Any], ...])


def bytes_per_point(oracle: object) -> int:
    """How much memory an oracle's answer about one point touches; 0 for oracles that are not stored by point."""
    return sum(array[0].nbytes for array in oracle) if isinstance(oracle, POINT_ORACLES) else 0


def select_points(oracle: Oracle, points: NDArray[np.integer]) -> Oracle:
    """Return an oracle of only these points, renumbered from 0, in memory of its own."""
    arrays = [np.take(array, points, axis=0) for array in oracle]
    for array in arrays:
        array.flags.writeable = False
    make: Callable[..., Oracle] = type(oracle)
    return make(*arrays)
