"""Oracles: named tuples of arrays that represent a metric in kernels.

`distance(oracle, i, j)` in `distance_kernels.py` is specialized for these classes. This module
does not import numba, so metrics can be built, saved and sent to other machines without numba.
Arrays are C-contiguous and read-only, because kernels would be compiled again for any other
layout or flag.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray


class MatrixOracle(NamedTuple):
    """Distances stored in an n x n matrix."""

    distances: NDArray[np.generic]


class CheckedMatrixOracle(NamedTuple):
    """Distances stored in a matrix that was not validated. Each distance is checked when it is read."""

    distances: NDArray[np.generic]


class HalfMatrixOracle(NamedTuple):
    """Distances stored as the bits of a float16 matrix. Each distance is checked when it is read."""

    bits: NDArray[np.uint16]


class EuclideanOracle(NamedTuple):
    """Euclidean distance between rows."""

    points: NDArray[np.floating]


class SquaredOracle(NamedTuple):
    """Squared Euclidean distance between rows, less the variance of their noise."""

    points: NDArray[np.floating]
    noise: NDArray[np.float64]  # expected squared norm of the noise of each row


class ManhattanOracle(NamedTuple):
    """Sum of absolute coordinate differences."""

    points: NDArray[np.floating]


class ChebyshevOracle(NamedTuple):
    """Largest absolute coordinate difference."""

    points: NDArray[np.floating]


class AngleOracle(NamedTuple):
    """Angle between unit vectors, in radians."""

    units: NDArray[np.floating]


#: In place of the number of a metric: pairs without a common locus have the largest distance.
NO_ERROR = -1


class CharacterOracle(NamedTuple):
    """Number of differing loci. See `character_kernels.py`."""

    codes: NDArray[np.signedinteger]  # negative if unknown
    origin: NDArray[np.int64]  # number of the metric, number of the row


class WeightedCharacterOracle(NamedTuple):
    """Total weight of differing loci. See `character_kernels.py`."""

    codes: NDArray[np.signedinteger]  # negative if unknown
    origin: NDArray[np.int64]  # number of the metric, number of the row
    weights: NDArray[np.float64]  # of the loci, and their sum; shared by all points


class HyperbolicOracle(NamedTuple):
    """Distance between points in hyperbolic space, given by direction and distance from the origin."""

    directions: NDArray[np.float64]  # unit vectors, or 0 at the origin
    radii: NDArray[np.float64]  # hyperbolic distance from the origin
    sinh_radii: NDArray[np.float64]


class EmbeddingOracle(NamedTuple):
    """Hyperbolic distance in the units of the data: the distance of HyperbolicOracle times `unit`."""

    directions: NDArray[np.float64]
    radii: NDArray[np.float64]
    sinh_radii: NDArray[np.float64]
    unit: NDArray[np.float64]  # 1 / scale


class FrameOracle(NamedTuple):
    """Distances in a tree embedded in hyperbolic space, from local frames.

    All fields except the first and the last are indexed by preorder position. See
    `_frame_kernels.py`.
    """

    position: NDArray[np.int32]  # position of each node
    up: NDArray[np.int32]  # position of the parent, -1 at position 0
    # (N, k): direction of the edge from the parent, in the parent's frame
    turns: NDArray[np.float64]
    lengths: NDArray[np.float64]  # hyperbolic length l of that edge
    decay: NDArray[np.float64]  # e^-l
    half: NDArray[np.float64]  # (1 - e^-2l) / 2
    unit: NDArray[np.float64]  # (1,): 1 / scale


class HubOracle(NamedTuple):
    """Shortest paths from hub labels: d(u, v) = min over common hubs h of d(u, h) + d(h, v)."""

    starts: NDArray[np.int64]  # labels of vertex v are starts[v]:starts[v + 1]
    hubs: NDArray[np.int32]  # ascending within a vertex
    # uint8 or int32 for unweighted graphs, float64 for weighted ones
    hub_distances: NDArray[np.generic]


class TreeOracle(NamedTuple):
    """Path lengths in a tree in O(1), by Schieber and Vishkin's lowest common ancestors."""

    parent: NDArray[np.int32]
    level: NDArray[np.int32]  # number of edges to the root
    inlabel: NDArray[np.int32]
    ascendant: NDArray[np.int32]
    head: NDArray[np.int32]  # inlabel -> the node nearest to the root
    depth: NDArray[np.float64]  # distance to the root
    # the rounding error of `depth`, so that distances of nearby points keep all their digits
    depth_rest: NDArray[np.float64]


class SequenceOracle(NamedTuple):
    """Evolutionary distance between aligned sequences. See `sequence_kernels.py`."""

    planes: NDArray[np.uint64]  # bits of the characters, 64 sites per word
    constants: NDArray[np.float64]  # of the model, the same in every row
    origin: NDArray[np.int64]  # number of the metric, number of the sequence


# All oracles that kernels accept. The table is closed: a custom class must not enter the shared
# on-disk cache. Custom metrics are therefore read through `block`.
COMPILED_ORACLES = (
    MatrixOracle,
    CheckedMatrixOracle,
    HalfMatrixOracle,
    EuclideanOracle,
    SquaredOracle,
    ManhattanOracle,
    ChebyshevOracle,
    AngleOracle,
    CharacterOracle,
    WeightedCharacterOracle,
    HyperbolicOracle,
    EmbeddingOracle,
    FrameOracle,
    HubOracle,
    TreeOracle,
    SequenceOracle,
)

# Sums of a few distances up to this bound do not overflow.
LARGEST = float(np.finfo(np.float64).max / 4)

# Oracles that consist of one matrix with one entry per pair.
MATRIX_ORACLES = (MatrixOracle, CheckedMatrixOracle, HalfMatrixOracle)

# Oracles of points that are given by coordinates.
COORDINATE_ORACLES = (
    EuclideanOracle,
    SquaredOracle,
    ManhattanOracle,
    ChebyshevOracle,
    AngleOracle,
    HyperbolicOracle,
    EmbeddingOracle,
)

# Oracles whose arrays have one row per point, as `select_points` requires. Weights are shared.
POINT_ORACLES = (
    *COORDINATE_ORACLES,
    SequenceOracle,
    CharacterOracle,
    WeightedCharacterOracle,
)


#: Any of the classes above: named tuples of arrays.
Oracle = TypeVar("Oracle", bound=tuple[NDArray[Any], ...])


def bytes_per_point(oracle: object) -> int:
    """Return the bytes that an oracle stores per point; 0 if its arrays are not indexed by point."""
    if not isinstance(oracle, POINT_ORACLES):
        return 0
    return sum(array[0].nbytes for array in oracle[: _rows(oracle)])


def select_points(oracle: Oracle, points: NDArray[np.integer]) -> Oracle:
    """Return the oracle of a subset of points, renumbered from 0. The arrays are copied."""
    rows = _rows(oracle)
    arrays = [np.take(array, points, axis=0) for array in oracle[:rows]]
    for array in arrays:
        array.flags.writeable = False
    make: Callable[..., Oracle] = type(oracle)
    return make(*arrays, *oracle[rows:])


def _rows(oracle: tuple[NDArray[Any], ...]) -> int:
    """Return how many arrays have one row per point. The arrays after them are shared."""
    return 2 if isinstance(oracle, WeightedCharacterOracle) else len(oracle)
