"""`distance(oracle, i, j)` for every oracle, and kernels for blocks and pairs.

Other kernels call `distance` and are specialized for the class of the oracle that they receive,
so each algorithm is written once for matrices, points, graphs and trees.
"""

import math
from typing import Any

import numpy as np
from numba import types

from ..._core.kernel import helper, kernel, specialized
from ..base import BadEntryError
from .character_kernels import character_distance, weighted_character_distance
from .classes import (
    LARGEST,
    MATRIX_ORACLES,
    POINT_ORACLES,
    AngleOracle,
    CharacterOracle,
    ChebyshevOracle,
    CheckedMatrixOracle,
    EmbeddingOracle,
    EuclideanOracle,
    FrameOracle,
    HalfMatrixOracle,
    HubOracle,
    HyperbolicOracle,
    ManhattanOracle,
    MatrixOracle,
    SequenceOracle,
    SquaredOracle,
    TreeOracle,
    WeightedCharacterOracle,
)
from .lane_kernels import (
    chebyshev_tile,
    euclidean_tile,
    largest_absolute_difference,
    manhattan_tile,
    prefetch_entry,
    prefetch_row,
    squared_tile,
    sum_of_absolute_differences,
    sum_of_squared_differences,
    sum_of_squared_sums,
)
from .sequence_kernels import row_address, sequence_distance
from .step_kernels import between, climb


def distance(oracle: Any, i: Any, j: Any) -> float:
    """Return the distance of points i and j. Only compiled code can call this function."""
    raise TypeError("distance() is for kernels: use Metric.pairs or Metric.block")


def _matrix(oracle: Any, i: Any, j: Any) -> Any:
    return np.float64(oracle.distances[i, j])


# A helper, because borrowers, which call `distance`, can neither create an exception with values nor
# allocate memory.
@helper
def _checked(value: Any, i: Any, j: Any) -> Any:
    if not 0.0 <= value <= LARGEST:
        raise BadEntryError(i, j, value)
    return value


def _checked_matrix(oracle: Any, i: Any, j: Any) -> Any:
    return _checked(np.float64(oracle.distances[i, j]), i, j)


def _half_matrix(oracle: Any, i: Any, j: Any) -> Any:
    # Moved to their positions in a float64, the exponent and digits of a half give the number
    # up to the offset of the exponent, even for subnormals. An exponent of all ones is infinity
    # or NaN.
    bits = np.int64(oracle.bits[i, j])
    size: Any = np.int64((bits & 0x7FFF) << 42).view(np.float64) * 2.0**1008
    if (bits & 0x7C00) == 0x7C00:
        size = np.inf if (bits & 0x3FF) == 0 else np.nan
    return _checked(-size if bits & 0x8000 else size, i, j)


def _euclidean(oracle: Any, i: Any, j: Any) -> Any:
    return math.sqrt(np.float64(sum_of_squared_differences(oracle.points, i, j)))


def _squared(oracle: Any, i: Any, j: Any) -> Any:
    square = np.float64(sum_of_squared_differences(oracle.points, i, j))
    return max(0.0, square - oracle.noise[i] - oracle.noise[j])


def _manhattan(oracle: Any, i: Any, j: Any) -> Any:
    return np.float64(sum_of_absolute_differences(oracle.points, i, j))


def _chebyshev(oracle: Any, i: Any, j: Any) -> Any:
    return np.float64(largest_absolute_difference(oracle.points, i, j))


def _angle(oracle: Any, i: Any, j: Any) -> Any:
    # tan(angle / 2) = |u - v| / |u + v| is accurate at 0 and at pi, where acos(u . v) loses
    # half of its digits.
    across = np.float64(sum_of_squared_differences(oracle.units, i, j))
    along = np.float64(sum_of_squared_sums(oracle.units, i, j))
    return 2.0 * math.atan2(math.sqrt(across), math.sqrt(along))


@helper
def _hyperbolic_distance(oracle: Any, i: Any, j: Any) -> Any:
    # sinh^2(d/2) = sinh^2((r - s)/2) + sinh r sinh s sin^2(angle/2),
    # with sin^2(angle/2) = |u - v|^2 / 4. A sum of non-negative terms is accurate for nearby
    # points far from the origin, where acosh(x0 y0 - x.y) loses all digits.
    radial = math.sinh(0.5 * (oracle.radii[i] - oracle.radii[j]))
    chord = sum_of_squared_differences(oracle.directions, i, j)
    turn = oracle.sinh_radii[i] * oracle.sinh_radii[j] * (0.25 * chord)
    return 2.0 * math.asinh(math.sqrt(radial * radial + turn))


def _hyperbolic(oracle: Any, i: Any, j: Any) -> Any:
    return _hyperbolic_distance(oracle, i, j)


def _character(oracle: Any, i: Any, j: Any) -> Any:
    return character_distance(oracle.codes, oracle.origin, i, j)


def _weighted_character(oracle: Any, i: Any, j: Any) -> Any:
    return weighted_character_distance(oracle.codes, oracle.origin, oracle.weights, i, j)


def _embedding(oracle: Any, i: Any, j: Any) -> Any:
    return oracle.unit[i] * _hyperbolic_distance(oracle, i, j)


def _frame(oracle: Any, i: Any, j: Any) -> Any:
    return _frame_distance(oracle, i, j)


@helper
def _frame_distance(oracle: Any, i: Any, j: Any) -> Any:
    # Both ends climb to their lowest common ancestor. The later of two positions is not an
    # ancestor of the other.
    dim = oracle.turns.shape[1]
    view = np.zeros((2, dim + 2))
    view[0, dim] = view[1, dim] = 1.0
    p = oracle.position[i]
    q = oracle.position[j]
    while p != q:
        row, edge = (0, p) if p > q else (1, q)
        climb(
            view,
            row,
            oracle.turns,
            edge,
            oracle.lengths[edge],
            oracle.decay[edge],
            oracle.half[edge],
        )
        if p > q:
            p = oracle.up[p]
        else:
            q = oracle.up[q]
    return oracle.unit[0] * between(view)


def _hub(oracle: Any, i: Any, j: Any) -> Any:
    # Merge the two ascending lists of hubs. The best common hub is on a shortest path.
    a = oracle.starts[i]
    a_end = oracle.starts[i + 1]
    b = oracle.starts[j]
    b_end = oracle.starts[j + 1]
    best = np.inf
    while a < a_end and b < b_end:
        hub_a = oracle.hubs[a]
        hub_b = oracle.hubs[b]
        if hub_a == hub_b:
            best = min(best, np.float64(oracle.hub_distances[a]) + np.float64(oracle.hub_distances[b]))
        a += hub_a <= hub_b
        b += hub_b <= hub_a
    return best


@helper
def _highest_bit(value: Any) -> Any:
    # Position of the highest set bit of a positive int32, which is the exponent of the number
    # as a float64.
    return (np.float64(value).view(np.int64) >> 52) - 1023


@helper
def _climb(oracle: Any, node: Any, inlabel: Any, bit: Any) -> Any:
    # The lowest ancestor of `node` on the path of the inlabel tree named `inlabel` (whose level
    # is `bit`).
    if oracle.inlabel[node] == inlabel:
        return node
    below = _highest_bit(oracle.ascendant[node] & ((1 << bit) - 1))
    child_path = ((oracle.inlabel[node] >> (below + 1)) << (below + 1)) | (1 << below)
    return oracle.parent[oracle.head[child_path]]


@helper
def lowest_common_ancestor(oracle: Any, i: Any, j: Any) -> Any:
    """Return the lowest common ancestor in O(1) (Schieber and Vishkin, SIAM J. Comput. 17, 1988)."""
    a = oracle.inlabel[i]
    b = oracle.inlabel[j]
    if a == b:
        return i if oracle.level[i] <= oracle.level[j] else j
    split = _highest_bit(a ^ b)
    common = (oracle.ascendant[i] & oracle.ascendant[j]) >> split << split
    bit = _highest_bit(common & -common)
    inlabel = ((a >> (bit + 1)) << (bit + 1)) | (1 << bit)
    u = _climb(oracle, i, inlabel, bit)
    v = _climb(oracle, j, inlabel, bit)
    return u if oracle.level[u] <= oracle.level[v] else v


def _tree(oracle: Any, i: Any, j: Any) -> Any:
    top = lowest_common_ancestor(oracle, i, j)
    # Depths are sums of two floats. Subtracting the large parts first keeps the digits of short
    # paths far from the root.
    depth = oracle.depth
    rest = oracle.depth_rest
    return ((depth[i] - depth[top]) + (depth[j] - depth[top])) + (
        (rest[i] - rest[top]) + (rest[j] - rest[top])
    )


def _sequence(oracle: Any, i: Any, j: Any) -> Any:
    return sequence_distance(
        row_address(oracle.planes, i),
        row_address(oracle.planes, j),
        oracle.planes.shape[1],
        row_address(oracle.constants, i),
        row_address(oracle.origin, i),
        row_address(oracle.origin, j),
    )


_DISTANCES = {
    MatrixOracle: _matrix,
    CheckedMatrixOracle: _checked_matrix,
    HalfMatrixOracle: _half_matrix,
    EuclideanOracle: _euclidean,
    SquaredOracle: _squared,
    ManhattanOracle: _manhattan,
    ChebyshevOracle: _chebyshev,
    AngleOracle: _angle,
    CharacterOracle: _character,
    WeightedCharacterOracle: _weighted_character,
    HyperbolicOracle: _hyperbolic,
    EmbeddingOracle: _embedding,
    FrameOracle: _frame,
    HubOracle: _hub,
    TreeOracle: _tree,
    SequenceOracle: _sequence,
}


@specialized(distance)
def _specialize(oracle: Any, i: Any, j: Any) -> Any:
    # A named tuple whose fields have the same type is not a types.NamedTuple, hence the base
    # class. The table is closed: a custom oracle class must not enter the shared on-disk cache.
    if isinstance(oracle, types.BaseNamedTuple):
        return _DISTANCES.get(oracle.instance_class)
    return None


def prefetch(oracle: Any, i: Any, j: Any) -> None:
    """Prefetch the memory that d(i, j) needs. Row i is already in the cache."""
    raise TypeError("prefetch() is for kernels")


def _fetch_point(oracle: Any, i: Any, j: Any) -> None:
    prefetch_row(oracle[0], j)


def _fetch_entry(oracle: Any, i: Any, j: Any) -> None:
    prefetch_entry(oracle[0], i, j)


def _fetch_nothing(oracle: Any, i: Any, j: Any) -> None:
    pass


@specialized(prefetch)
def _specialize_prefetch(oracle: Any, i: Any, j: Any) -> Any:
    if isinstance(oracle, types.BaseNamedTuple):
        if oracle.instance_class in MATRIX_ORACLES:
            return _fetch_entry
        return _fetch_point if oracle.instance_class in POINT_ORACLES else _fetch_nothing
    return None


@helper
def distances(
    oracle: Any,
    i: Any,
    points: Any,
    start: Any,
    count: Any,
    out: Any,
    at: Any,
) -> None:
    """Write out[at + k] = d(i, points[start + k]) for k < count."""
    for k in range(count):
        out[at + k] = distance(oracle, i, points[start + k])


@kernel
def pair_distances(oracle: Any, i: Any, j: Any, out: Any) -> None:
    """Write out[k] = d(i[k], j[k])."""
    for k in range(len(out)):
        out[k] = distance(oracle, i[k], j[k])


def fill_block(oracle: Any, rows: Any, cols: Any, out: Any) -> None:
    """Write out[a, b] = d(rows[a], cols[b]), bit for bit as `distance` computes it."""
    raise TypeError("fill_block() is for kernels: use Metric.block")


# Coordinates of columns that are copied side by side at a time. These coordinates fit into the L1
# cache.
_TILED = 3072
_FEW_ROWS = 4  # with fewer rows, copying the columns does not pay


@helper
def _fill_one_by_one(oracle: Any, rows: Any, cols: Any, first: Any, out: Any) -> None:
    for a in range(len(rows)):
        for b in range(first, len(cols)):
            out[a, b] = distance(oracle, rows[a], cols[b])


def _one_by_one(oracle: Any, rows: Any, cols: Any, out: Any) -> None:
    _fill_one_by_one(oracle, rows, cols, 0, out)


@helper
def _keep(oracle: Any, i: Any, cols: Any, first: Any, last: Any, out: Any, a: Any) -> None:
    pass


@helper
def _subtract_noise(oracle: Any, i: Any, cols: Any, first: Any, last: Any, out: Any, a: Any) -> None:
    for b in range(first, last):
        out[a, b] = max(0.0, out[a, b] - oracle.noise[i] - oracle.noise[cols[b]])


def _tiled(tile_distances: Any, correct: Any = _keep) -> Any:
    """Return a function that fills a block in tiles, and corrects the distances of each row."""

    def fill(oracle: Any, rows: Any, cols: Any, out: Any) -> None:
        points = oracle[0]
        columns = 32 // points.itemsize
        k = points.shape[1]
        many = max(1, _TILED // (k * columns))
        whole = len(cols) // columns if len(rows) >= _FEW_ROWS else 0
        tiles = np.empty((min(many, whole), k, columns), points.dtype)
        for start in range(0, whole, many):
            here = min(many, whole - start)
            for t in range(here):
                for c in range(columns):
                    j = cols[(start + t) * columns + c]
                    for x in range(k):
                        tiles[t, x, c] = points[j, x]
            for a in range(len(rows)):
                for t in range(here):
                    tile_distances(points, rows[a], tiles, t, out, a, (start + t) * columns)
                last = (start + here) * columns
                correct(oracle, rows[a], cols, start * columns, last, out, a)
        _fill_one_by_one(oracle, rows, cols, whole * columns, out)

    return fill


_TILES = {
    EuclideanOracle: _tiled(euclidean_tile),
    SquaredOracle: _tiled(squared_tile, _subtract_noise),
    ManhattanOracle: _tiled(manhattan_tile),
    ChebyshevOracle: _tiled(chebyshev_tile),
}


@specialized(fill_block)
def _specialize_block(oracle: Any, rows: Any, cols: Any, out: Any) -> Any:
    if not isinstance(oracle, types.BaseNamedTuple):
        return None
    return _TILES.get(oracle.instance_class, _one_by_one) if out.layout == "C" else _one_by_one


@kernel
def block_distances(oracle: Any, rows: Any, cols: Any, out: Any) -> None:
    """Write out[a, b] = d(rows[a], cols[b])."""
    fill_block(oracle, rows, cols, out)
