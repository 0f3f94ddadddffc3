"""NJ*: neighbor joining on the measured distances (Criscuolo and Gascuel 2008).

With complete distances, neighbor joining takes the pair with the least

    Q_ij = d_ij - sum over k of (d_ik + d_jk) / (m - 2),

where m is the number of clusters and k runs over all clusters, including i and j. NJ* uses the
clusters k for which both distances are known, and their number instead of m.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.kernel import helper, kernel


class Clusters(NamedTuple):
    """The clusters, by slot. A new cluster takes the slot of the first cluster that it joins."""

    matrix: Any  # (n, n) distances, NaN for missing pairs; overwritten
    sums: Any  # (n, n) sum of d_ik + d_jk over the other clusters k with both distances
    counts: Any  # (n, n) number of these clusters
    names: Any  # nodes of the tree
    edges: Any  # (2n - 3, 2); edges 2k and 2k + 1 belong to join k
    lengths: Any  # may be negative


@helper
def _add_cluster(matrix: Any, left: Any, k: int, sums: Any, counts: Any, sign: int) -> None:
    """Add cluster k to the sums of all pairs of other clusters, or remove it if sign is -1."""
    row = matrix[k]
    for i in left:
        if i == k or np.isnan(row[i]):
            continue
        for j in left:
            if j != k and not np.isnan(row[j]):
                sums[i, j] += sign * (row[i] + row[j])
                counts[i, j] += sign


@helper
def _sum_pairs(matrix: Any, left: Any, i: int, sums: Any, counts: Any) -> None:
    """Compute the sums of all pairs with cluster i."""
    for j in left:
        total = 0.0
        count = 0
        for k in left:
            value = matrix[i, k] + matrix[j, k]
            if k != i and k != j and not np.isnan(value):
                total += value
                count += 1
        sums[i, j] = total
        sums[j, i] = total
        counts[i, j] = count
        counts[j, i] = count


@helper
def _best_pair(matrix: Any, left: Any, sums: Any, counts: Any) -> Any:
    """Return the measured pair with the least Q, and with the most clusters k if Q is equal.

    A pair without other clusters comes last, and the nearest of these pairs first.
    """
    best = np.inf
    nearest = np.inf
    most = -1
    first = -1
    second = -1
    for a in range(len(left)):
        i = left[a]
        for b in range(a + 1, len(left)):
            j = left[b]
            distance = matrix[i, j]
            if np.isnan(distance):
                continue
            count = counts[i, j]
            if count == 0:
                if most <= 0 and distance < nearest:
                    nearest = distance
                    most = 0
                    first = i
                    second = j
                continue
            # The sums leave out k = i and k = j, which add 2 d_ij.
            value = distance - (sums[i, j] + 2.0 * distance) / count
            if most <= 0 or value < best or (value == best and count > most):
                best = value
                most = count
                first = i
                second = j
    return first, second


@helper
def _merge(matrix: Any, left: Any, i: int, j: int) -> Any:
    """Replace cluster i by the union of i and j; return the lengths of their edges."""
    difference = 0.0
    count = 0
    for k in left:
        value = matrix[i, k] - matrix[j, k]
        if k != i and k != j and not np.isnan(value):
            difference += value
            count += 1
    # a = d_ij / 2 + mean over k of (d_ik - d_jk) / 2, b = d_ij - a
    distance = matrix[i, j]
    to_i = 0.5 * (distance + (difference / count if count else 0.0))
    to_j = distance - to_i
    for k in left:
        x = matrix[i, k] - to_i
        y = matrix[j, k] - to_j
        if np.isnan(x):
            new = y
        elif np.isnan(y):
            new = x
        else:
            new = 0.5 * (x + y)
        matrix[i, k] = new
        matrix[k, i] = new
    matrix[i, i] = 0.0
    return to_i, to_j


@kernel
def join_measured(clusters: Clusters, left: Any, edge: int, joins: int) -> Any:
    """Join pairs of the clusters in `left`; return the clusters that are left.

    Edges are written from `edge` on. At most `joins` pairs are joined, and two clusters stay.
    """
    matrix, sums, counts, names, edges, lengths = clusters
    for _ in range(min(joins, len(left) - 2)):
        i, j = _best_pair(matrix, left, sums, counts)
        _add_cluster(matrix, left, i, sums, counts, -1)
        _add_cluster(matrix, left, j, sums, counts, -1)
        to_i, to_j = _merge(matrix, left, i, j)
        new = len(matrix) + edge // 2
        edges[edge, 0] = names[i]
        edges[edge, 1] = new
        lengths[edge] = to_i
        edges[edge + 1, 0] = names[j]
        edges[edge + 1, 1] = new
        lengths[edge + 1] = to_j
        names[i] = new
        edge += 2
        left = left[left != j]
        _add_cluster(matrix, left, i, sums, counts, 1)
        _sum_pairs(matrix, left, i, sums, counts)
    return left


@kernel
def sum_clusters(clusters: Clusters, left: Any, first: int, last: int) -> None:
    """Add clusters first ... last - 1 to the sums of all pairs."""
    for k in range(first, last):
        _add_cluster(clusters.matrix, left, k, clusters.sums, clusters.counts, 1)
