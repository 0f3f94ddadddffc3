"""Neighbor joining: exact, relaxed, and with variances.

Every cluster has a slot: a row and a column of the matrix. A join puts the new cluster into the
slot of the first cluster and marks the slot of the second as empty. When a quarter of the slots are
empty, the remaining clusters are moved together.

With m clusters left and u_i = (sum of row i) / (m - 2), the next pair minimizes d_ij - u_i -
u_j.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.kernel import helper, kernel
from ._row_minimum_kernels import row_minima

# Number of columns that are searched together for the position of a row's minimum.
_SPAN = 256
# Entries of `counts`.
WIDTH = 0
LEFT = 1
EDGES = 2
SCANS = 3
MAYBE_TREE = 4
# Entries of `levels`.
DRIFT = 0
HIGHEST = 1
ROUNDING = 2
SCALE = 3
# Maximum number of steps of a walk to a mutually nearest pair. On a path, the walk would
# otherwise go to the end every time.
_WALK = 32


class Clusters(NamedTuple):
    """The remaining clusters, by slot.

    The matrix is a working copy of the caller, and is overwritten.
    """

    matrix: NDArray[Any]  # (n, n) distances, float32 or float64; the diagonal is ignored
    variances: NDArray[Any]  # (n, n) variances for BIONJ, or (0, 0)
    sums: NDArray[Any]  # sums of the distances to all others
    means: NDArray[Any]  # u_i
    # 0, or infinity for an empty slot; added to a distance, it excludes the slot from a minimum
    gone: NDArray[Any]
    names: NDArray[Any]  # nodes of the tree
    # The next four are from the last search for the minimum of a row.
    partner: NDArray[Any]  # slot of the minimum
    reach: NDArray[Any]  # distance of the minimum; infinity if that cluster no longer exists
    bound: NDArray[Any]  # second smallest d_ij - u_j, plus the drift at that time
    nearest: NDArray[Any]  # smallest distance
    row: NDArray[Any]  # distances of the new cluster, or places during a move
    change: NDArray[Any]  # change of u_j by a join
    counts: NDArray[Any]
    levels: NDArray[Any]
    edges: NDArray[Any]
    lengths: NDArray[Any]


@helper
def _seek(c: Clusters, i: int) -> float:
    """Find the minimum of row i over d_ij - u_j, and bounds for later searches."""
    width = c.counts[WIDTH]
    c.gone[i] = np.inf  # exclude itself
    least = np.inf
    second = np.inf
    nearest = np.inf
    at = 0
    for start in range(0, width, _SPAN):
        value, other, distance = row_minima(c.matrix, i, c.means, c.gone, start, min(start + _SPAN, width))
        second = min(second, other, max(least, value))
        nearest = min(nearest, distance)
        if value < least:
            least = value
            at = start
    while at < width - 1 and c.matrix[i, at] + c.gone[at] - c.means[at] != least:
        at += 1
    c.gone[i] = 0.0
    c.partner[i] = at
    c.reach[i] = c.matrix[i, at]
    c.bound[i] = second + c.levels[DRIFT]
    c.nearest[i] = nearest
    c.counts[SCANS] += 1
    return least


@helper
def _closest_pair(c: Clusters) -> tuple[int, int]:
    """Return the pair with the smallest d_ij - u_i - u_j.

    A row is searched only if its minimum could be below the best known pair. The value with the
    partner found in the last search is known. For the value with any other cluster, there are two
    lower bounds. The first is the second smallest value of the last search minus the drift, which
    adds up the largest growth of any u_j in every join since. The second is the smallest distance
    of the last search minus the current largest u_j. A pair with a new cluster is searched only in
    the row of that cluster, so other rows can ignore it.
    """
    width = c.counts[WIDTH]
    drift = c.levels[DRIFT]
    highest = c.levels[HIGHEST]
    best = np.inf
    at = 0
    for i in range(width):
        value = c.reach[i] + c.gone[i] - c.means[i] - c.means[c.partner[i]]
        if value < best:
            best = value
            at = i
    for i in range(width):
        if max(c.bound[i] - drift, c.nearest[i] - highest) + c.gone[i] - c.means[i] < best:
            value = _seek(c, i) - c.means[i]
            if value < best:
                best = value
                at = i
    return min(at, c.partner[at]), max(at, c.partner[at])


@helper
def _weight(c: Clusters, i: int, j: int) -> float:
    """Return the weight of cluster i in the new cluster.

    Without variances, the weight is 1/2. With variances v, it minimizes the new variances:

    λ = 1/2 + sum_k (v_jk - v_ik) / (2 (m - 2) v_ij), within 0 ... 1
    """
    # A variance of 0 carries no information: after sums and differences it is rounding noise.
    if not c.variances.size or c.variances[i, j] <= 1e-12 * c.levels[SCALE]:
        return 0.5
    total = 0.0
    for k in range(c.counts[WIDTH]):
        if c.gone[k] == 0.0 and k != i and k != j:
            total += c.variances[j, k] - c.variances[i, k]
    return min(1.0, max(0.0, 0.5 + total / (2 * (c.counts[LEFT] - 2) * c.variances[i, j])))


@helper
def _mix_variances(c: Clusters, i: int, j: int, weight: float) -> None:
    """Write the variances of the new cluster into slot i.

    v_uk = λ v_ik + (1 - λ) v_jk - λ (1 - λ) v_ij.
    """
    between = c.variances[i, j]
    for k in range(c.counts[WIDTH]):
        mixed = (
            weight * c.variances[i, k] + (1 - weight) * c.variances[j, k] - weight * (1 - weight) * between
        )
        c.variances[i, k] = mixed
        c.variances[k, i] = mixed


@helper
def _raise_levels(c: Clusters) -> None:
    """Add the largest growth of a mean to the drift, and find the largest mean."""
    growth = -np.inf
    highest = -np.inf
    for k in range(c.counts[WIDTH]):
        if c.gone[k] == 0.0:
            growth = max(growth, c.change[k])
            highest = max(highest, c.means[k])
    c.levels[DRIFT] += growth
    c.levels[HIGHEST] = highest


@helper
def _join(c: Clusters, i: int, j: int) -> None:
    """Join clusters i and j in slot i.

    Write the two edges and the new row, and update sums and means.
    """
    width = c.counts[WIDTH]
    weight = _weight(c, i, j)
    c.counts[LEFT] -= 1
    scale = 1.0 / (c.counts[LEFT] - 2)
    distance = float(c.matrix[i, j])
    # a = d_ij / 2 + (u_i - u_j) / 2, b = d_ij - a
    to_i = 0.5 * (distance + c.means[i] - c.means[j])
    to_j = distance - to_i
    edge = c.counts[EDGES]
    new = c.names.size + edge // 2
    c.edges[edge, 0] = c.names[i]
    c.edges[edge, 1] = new
    c.lengths[edge] = to_i
    c.edges[edge + 1, 0] = c.names[j]
    c.edges[edge + 1, 1] = new
    c.lengths[edge + 1] = to_j
    c.counts[EDGES] = edge + 2
    if c.variances.size:
        _mix_variances(c, i, j, weight)
    c.names[i] = new
    c.gone[j] = np.inf
    from_i = c.matrix[i]
    from_j = c.matrix[j]
    for k in range(width):
        # d_uk = λ (d_ik - a) + (1 - λ) (d_jk - b)
        x = float(from_i[k])
        y = float(from_j[k])
        z = weight * (x - to_i) + (1 - weight) * (y - to_j)
        c.row[k] = z
        c.sums[k] += z - x - y
        mean = c.sums[k] * scale
        c.change[k] = mean - c.means[k]
        c.means[k] = mean
    total = 0.0
    for k in range(width):
        if c.gone[k] == 0.0 and k != i:
            total += c.row[k]
        c.matrix[k, i] = c.row[k]
        if c.partner[k] == i or c.partner[k] == j:
            c.reach[k] = np.inf
    for k in range(width):
        c.matrix[i, k] = c.row[k]
    c.sums[i] = total
    c.means[i] = total * scale
    c.change[i] = -np.inf  # a new cluster has no growth
    _raise_levels(c)


@helper
def _copy_kept(table: Any, kept: Any, sums: Any) -> None:
    """Move the kept rows and columns of a table to the front, and sum up the rows."""
    for i in range(len(kept)):
        given = table[kept[i]]
        row = table[i]
        total = 0.0
        for k in range(len(kept)):
            value = given[kept[k]]
            row[k] = value
            total += 0.0 if k == i else value
        sums[i] = total


@helper
def _move_together(c: Clusters) -> None:
    """Remove the empty slots.

    The order of the slots is kept, so every entry moves towards the front. Sums are recomputed.
    """
    width = c.counts[WIDTH]
    kept = np.empty(width, np.int64)
    left = 0
    for k in range(width):
        c.row[k] = -1
        if c.gone[k] == 0.0:
            c.row[k] = left
            kept[left] = k
            left += 1
    for table in (c.variances, c.matrix):  # the sums are those of the matrix
        if table.size:
            _copy_kept(table, kept[:left], c.sums)
    to = 0
    for k in range(width):
        if c.gone[k] == 0.0:
            place = int(c.row[c.partner[k]])
            c.reach[to] = c.reach[k] if place >= 0 else np.inf
            c.partner[to] = max(place, 0)
            c.bound[to] = c.bound[k]
            c.nearest[to] = c.nearest[k]
            c.names[to] = c.names[k]
            c.means[to] = c.means[k]
            to += 1
    for i in range(left):
        c.gone[i] = 0.0
    c.counts[WIDTH] = left


@kernel
def prepare(c: Clusters) -> bool:
    """Compute the sums and the minimum of every row; return False if the sums overflow."""
    n = c.names.size
    for i in range(n):
        total = 0.0
        for k in range(n):
            if k != i:
                total += c.matrix[i, k]
        c.sums[i] = total
        c.means[i] = total / (n - 2)
    _raise_levels(c)  # starts at 0
    c.levels[SCALE] = c.levels[HIGHEST]
    if not c.levels[SCALE] < np.inf:
        return False
    for i in range(n):
        _seek(c, i)
    return True


@helper
def _make_room(c: Clusters) -> None:
    if 4 * c.counts[LEFT] < 3 * c.counts[WIDTH]:
        _move_together(c)


@kernel
def join_closest(c: Clusters, joins: int) -> None:
    """Join the closest pair `joins` times, or until three clusters are left."""
    for _ in range(min(joins, c.counts[LEFT] - 3)):
        i, j = _closest_pair(c)
        _join(c, i, j)
        _seek(c, i)
        _make_room(c)


@helper
def _mutual_pair(c: Clusters, pick: float) -> tuple[int, int]:
    """Walk from cluster to nearest cluster until two clusters are nearest to each other.

    The closest pair overall is mutually nearest, and is used if the walk is too long.
    """
    i = int(pick * c.counts[WIDTH])
    while c.gone[i] != 0.0:
        i = (i + 1) % c.counts[WIDTH]
    value = _seek(c, i) - c.means[i]
    for _ in range(_WALK):
        j = c.partner[i]
        closer = _seek(c, j) - c.means[j]
        # Equal up to rounding counts as mutual, so every step comes closer.
        if closer >= value - 1e-13 * abs(value):
            return min(i, j), max(i, j)
        i = j
        value = closer
    return _closest_pair(c)


@helper
def _siblings(c: Clusters, i: int, j: int) -> bool:
    """Tell whether i and j could be leaves of the same node.

    Then d_ik - d_jk is the same for all k, up to rounding.
    """
    low = np.inf
    high = -np.inf
    for k in range(c.counts[WIDTH]):
        if c.gone[k] == 0.0 and k != i and k != j:
            difference = c.matrix[i, k] - c.matrix[j, k]
            low = min(low, difference)
            high = max(high, difference)
    return high - low <= c.levels[ROUNDING] * c.levels[SCALE]


@kernel
def join_mutual(c: Clusters, starts: NDArray[np.float64]) -> None:
    """Join mutually nearest clusters, once for every start.

    A start is a number from 0 to 1. Joining ends when three clusters are left.

    Two clusters in the interior of a tree can be nearest to each other without being siblings.
    While the metric may be a tree metric, such a pair is skipped in favor of the closest pair
    overall, which consists of siblings. If the closest pair does not consist of siblings, the
    metric is not a tree metric.
    """
    for k in range(min(starts.size, c.counts[LEFT] - 3)):
        i, j = _mutual_pair(c, starts[k])
        if c.counts[MAYBE_TREE] and not _siblings(c, i, j):
            x, y = _closest_pair(c)
            if _siblings(c, x, y):
                i = x
                j = y
            else:
                c.counts[MAYBE_TREE] = 0
        _join(c, i, j)
        _seek(c, i)
        _make_room(c)
