"""Kernels of average and complete linkage."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.kernel import borrower, helper, kernel

# Rows and columns of a tile: 8 lines of 64 bytes.
_TILE = 8
# Number of columns that are searched together.
_PART = 64


class Clusters(NamedTuple):
    """The clusters by column. A new cluster has the column of one of the two clusters in it."""

    point: NDArray[np.int64]  # a point that represents the cluster
    size: NDArray[np.int64]  # number of points; 0 after the merge with another cluster
    row: NDArray[np.int64]  # row of the distances, or -1 if they are only in the source
    seen: NDArray[np.int64]  # number of merges that the row includes
    formed: NDArray[np.int64]  # number of merges when the cluster was formed; 0 for one point
    older: NDArray[np.int64]  # the cluster that was formed before this one, or -1
    newer: NDArray[np.int64]  # the cluster that was formed after this one, or -1
    lost: NDArray[np.int64]  # merge -> the column that it emptied
    chain: NDArray[np.int64]
    free: NDArray[np.int64]  # rows that are not in use, a stack
    counts: NDArray[np.int64]  # see below


# Positions in `counts`.
_WIDTH = 0  # number of columns
_NEWEST = 1  # the cluster that was formed last, or -1
_FREE = 2  # number of rows that are not in use
_DROPPED = 3  # number of merges before columns were dropped


@kernel
def mirror(matrix: Any) -> None:
    """Copy the entries above the diagonal below it."""
    n = len(matrix)
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    matrix[j, i] = matrix[i, j]


@kernel
def link(source: Any, rows: Any, in_place: bool, complete: bool) -> Any:
    """Cluster by average or complete linkage with nearest-neighbor chains. O(n^2).

    source : symmetric matrix, not modified unless `in_place`
    rows : matrix to work in, with at least as many columns; `source` itself if `in_place`

    Returns two points, one from each cluster, and the height of every merge. Merges are not
    sorted by height, but the merges inside a cluster precede the merge of the cluster.

    A merge writes only the row of the new cluster, because columns are slow to write. The row of any
    other cluster is brought up to date before it is read. A row of `source` is copied when it is
    first read, and its copy is reused when its cluster is gone. Few copies are in use at a time, so
    they stay in the cache.
    """
    n = len(source)
    first = np.empty(n - 1, np.int64)
    second = np.empty(n - 1, np.int64)
    height = np.empty(n - 1)
    c = _clusters(n, in_place)
    if in_place:
        for x in range(n):
            rows[x, x] = np.inf
    length = 0
    start = 0
    for k in range(n - 1):
        # At a third, dropping columns costs less than it saves.
        if 3 * (n - k) <= c.counts[_WIDTH]:
            _drop_columns(source, rows, c, k, length)
            start = 0
        if length == 0:
            while c.size[start] == 0:
                start += 1
            c.chain[0] = start
            length = 1
        while True:
            x = c.chain[length - 1]
            _up_to_date(source, rows, c, x, k)
            row = rows[c.row[x]][: c.counts[_WIDTH]]
            # among equally close clusters, the previous cluster, so that chains do not cycle
            y = _nearest(row, c.chain[length - 2] if length > 1 else x)
            if length > 1 and y == c.chain[length - 2]:
                break
            c.chain[length] = y
            length += 1
        length -= 2
        first[k] = c.point[x]
        second[k] = c.point[y]
        height[k] = row[y]
        _up_to_date(source, rows, c, y, k)
        of_y = rows[c.row[y]][: c.counts[_WIDTH]]
        _unite(row, of_y, c.size[x] / (c.size[x] + c.size[y]), complete)
        _replace(rows, c, x, y, k)
    return first, second, height


@helper
def _clusters(n: int, in_place: bool) -> Any:
    counts = np.empty(4, np.int64)
    counts[_WIDTH] = n
    counts[_NEWEST] = -1
    counts[_FREE] = 0 if in_place else n
    counts[_DROPPED] = 0
    return Clusters(
        point=np.arange(n),
        size=np.ones(n, np.int64),
        row=np.arange(n) if in_place else np.full(n, -1),
        seen=np.zeros(n, np.int64),
        formed=np.zeros(n, np.int64),
        older=np.full(n, -1),
        newer=np.full(n, -1),
        lost=np.empty(n, np.int64),
        chain=np.empty(n, np.int64),
        free=np.arange(n)[::-1].copy(),
        counts=counts,
    )


@borrower
def _up_to_date(source: Any, rows: Any, c: Any, x: int, merges: int) -> None:
    """Bring the row of x up to date. The row of a cluster formed later has its distance to x."""
    if c.row[x] < 0:
        _copy(source, rows, c, x)
    row = rows[c.row[x]]
    seen = c.seen[x]
    y = c.counts[_NEWEST]
    while y >= 0 and c.formed[y] > seen:
        row[y] = rows[c.row[y], x]
        y = c.older[y]
    for k in range(max(seen, c.counts[_DROPPED]), merges):
        row[c.lost[k]] = np.inf
    c.seen[x] = merges


@borrower
def _copy(source: Any, rows: Any, c: Any, x: int) -> None:
    """Copy the distances of a point to a row that is not in use."""
    c.counts[_FREE] -= 1
    c.row[x] = c.free[c.counts[_FREE]]
    width = c.counts[_WIDTH]
    given = source[c.point[x]]
    row = rows[c.row[x]]
    if width == len(given):
        for i in range(width):
            row[i] = given[i]
    else:
        for i in range(width):
            row[i] = given[c.point[i]]
    row[x] = np.inf


@borrower
def _nearest(row: Any, y: int) -> int:
    """Return the position of the smallest entry: y, or else the first position."""
    least = row[y]
    nearest = y
    for begin in range(0, len(row), _PART):
        part = row[begin : begin + _PART]
        # Most parts have no smaller entry. Counting uses vector instructions; a minimum does not.
        smaller = 0
        for i in range(len(part)):
            smaller += part[i] < least
        if smaller > 0:
            for i in range(len(part)):
                if part[i] < least:
                    least = part[i]
                    nearest = begin + i
    return nearest


@borrower
def _unite(of_x: Any, of_y: Any, share: float, complete: bool) -> None:
    """Overwrite the distances of y by those of the cluster of x and y; x has this share of it."""
    for i in range(len(of_x)):
        low = min(of_x[i], of_y[i])
        high = max(of_x[i], of_y[i])
        # If rounding moved a mean out of its range, chains could cycle.
        mean = max(low, min(share * of_x[i] + (1.0 - share) * of_y[i], high))
        of_y[i] = high if complete else mean


@borrower
def _replace(rows: Any, c: Any, x: int, y: int, merge: int) -> None:
    """Let y represent the clusters of x and y, and let x represent no cluster."""
    row = rows[c.row[y]]
    row[x] = row[y] = np.inf
    c.lost[merge] = x
    c.size[y] += c.size[x]
    c.size[x] = 0
    c.free[c.counts[_FREE]] = c.row[x]
    c.counts[_FREE] += 1
    for z in (x, y):
        if c.formed[z] > 0:
            _unlink(c, z)
    newest = c.counts[_NEWEST]
    c.older[y] = newest
    c.newer[y] = -1
    if newest >= 0:
        c.newer[newest] = y
    c.counts[_NEWEST] = y
    c.formed[y] = c.seen[y] = merge + 1


@borrower
def _unlink(c: Any, x: int) -> None:
    """Remove x from the list of the clusters in the order in which they were formed."""
    if c.older[x] >= 0:
        c.newer[c.older[x]] = c.newer[x]
    if c.newer[x] >= 0:
        c.older[c.newer[x]] = c.older[x]
    else:
        c.counts[_NEWEST] = c.older[x]


@helper
def _drop_columns(source: Any, rows: Any, c: Any, merges: int, length: int) -> None:
    """Drop the columns of clusters that do not exist any more. The others keep their order."""
    width = c.counts[_WIDTH]
    kept = np.flatnonzero(c.size[:width])
    # First all updates, which read other rows.
    for x in kept:
        if c.row[x] >= 0:
            _up_to_date(source, rows, c, x, merges)
    # the new column of each column; the last entry stands for -1
    column = np.full(width + 1, -1)
    for i in range(len(kept)):
        column[kept[i]] = i
    for x in kept:
        if c.row[x] >= 0:
            row = rows[c.row[x]]
            for i in range(len(kept)):
                row[i] = row[kept[i]]
    for i in range(len(kept)):
        x = kept[i]
        c.point[i] = c.point[x]
        c.size[i] = c.size[x]
        c.row[i] = c.row[x]
        c.seen[i] = c.seen[x]
        c.formed[i] = c.formed[x]
        c.older[i] = column[c.older[x]]
        c.newer[i] = column[c.newer[x]]
    for i in range(length):
        c.chain[i] = column[c.chain[i]]
    c.counts[_NEWEST] = column[c.counts[_NEWEST]]
    c.counts[_WIDTH] = len(kept)
    c.counts[_DROPPED] = merges
