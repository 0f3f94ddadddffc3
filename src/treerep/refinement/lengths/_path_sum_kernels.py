"""Kernels for sums over all paths of a tree, without a path matrix.

All kernels use a `_splits.SplitTree`. The nodes of this tree are in preorder, and `up` is the
parent of each node. Points are numbered in preorder, so the points below node k are first[k] ...
last[k] - 1.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel
from ._row_walk_kernels import MeasuredSplits, Slopes, enter_row, leave_row, range_sum

# Quantities that `row_sums` sums over the pairs: x is the tree distance, y the path length of
# `slope`, t the true distance, u the factor of the pair, q = u (x - t).
SQUARES = 0  # value q^2, derivative u q
SMOOTH = 1  # value sqrt(q^2 + eps^2) where u > 0, derivative u q / sqrt(q^2 + eps^2)
PRODUCT = 2  # value u^2 y^2, derivative u^2 y
FACTORS = 3  # value 1 where u > 0, derivative u^2
# SMOOTH for u = 1 / t or 0, with q = u x - 1: the distances are not read, and reading is slow.
RELATIVE = 4

# Columns that are computed together.
_PIECE = 512


@kernel
def find_chains(up: Any, count: Any, bottom: Any, above: Any) -> None:
    """Find edges with the same split, that is, chains of Steiner nodes of degree 2.

    up : (N,) int32, of a preorder whose root is a point or has three children with points below
    count : (N,) int32, number of points below each position
    bottom, above : (N,) int32, written. `bottom` is the lowest position whose edge splits the
        points in the same way (0 at the root, -1 without points below). `above` is the nearest
        ancestor that is a bottom itself (-1 at the root).
    """
    n = len(up)
    for k in range(n):
        bottom[k] = k
    for k in range(n - 1, 0, -1):
        if count[k] == 0:
            bottom[k] = -1
        elif count[k] == count[up[k]] and up[k] > 0:
            bottom[up[k]] = bottom[k]
    above[0] = -1
    for k in range(1, n):
        above[k] = up[k] if bottom[up[k]] == up[k] else above[up[k]]


@kernel
def add_down(up: Any, value: Any) -> None:
    """Add to every node the sum over its ancestors: lengths become depths."""
    for k in range(1, len(up)):
        value[k] += value[up[k]]


@kernel
def add_up(up: Any, value: Any) -> None:
    """Add to every node the sum over all nodes below it."""
    for k in range(len(up) - 1, 0, -1):
        value[up[k]] += value[k]


@helper
def _squares(depth: Any, far: Any, t: Any, u: Any, slope: Any, value: Any) -> None:
    for j in range(len(slope)):
        q = u[j] * (depth + far[j] - t[j])
        slope[j] = u[j] * q
        value[j] = q * q


@helper
def _smooth(depth: Any, far: Any, t: Any, u: Any, eps: Any, slope: Any, value: Any) -> None:
    for j in range(len(slope)):
        q = u[j] * (depth + far[j] - t[j])
        root = np.sqrt(q * q + eps * eps)
        slope[j] = np.divide(u[j] * q, root)
        value[j] = root if u[j] > 0.0 else 0.0


@helper
def _relative(depth: Any, far: Any, u: Any, eps: Any, slope: Any, value: Any) -> None:
    for j in range(len(slope)):
        q = u[j] * (depth + far[j]) - 1.0
        root = np.sqrt(q * q + eps * eps)
        slope[j] = np.divide(u[j] * q, root)
        value[j] = root if u[j] > 0.0 else 0.0


@helper
def _product(depth: Any, far: Any, u: Any, slope: Any, value: Any) -> None:
    for j in range(len(slope)):
        y = depth + far[j]
        r = u[j] * u[j] * y
        slope[j] = r
        value[j] = r * y


@helper
def _factors(u: Any, slope: Any, value: Any) -> None:
    for j in range(len(slope)):
        slope[j] = u[j] * u[j]
        value[j] = 1.0 if u[j] > 0.0 else 0.0


@kernel
def row_sums(
    what: Any,
    eps: Any,
    tree: MeasuredSplits,
    rows: Any,
    start: Any,
    upper: Any,
    distance: Any,
    factor: Any,
    at_point: Any,
    at_node: Any,
) -> Any:
    """Return the sum of the values over the pairs of a block.

    Derivatives are added at the ends and at the top of each path.

    A derivative r of the pair (i, j) is added at i and at j, and subtracted twice at their
    lowest common ancestor. Sums over subtrees then give the sum of r over all paths through
    each edge. O(columns) per row, also in a deep tree: see `_row_walk_kernels`.

    Parameters
    ----------
    what : SQUARES, SMOOTH, PRODUCT, FACTORS or RELATIVE; eps is used by SMOOTH and RELATIVE
    tree : K nodes, n points
    rows : (R,) int64, points in ascending order, numbered in preorder
    start : column 0 of the block is point `start`
    upper : use only the columns after the row's point; otherwise all other columns
    distance, factor : (R, C) float64
    at_point : (C,), at_node : (K,) float64, added to
    """
    n = len(tree.leaf_depth)
    far = np.empty(n)
    pending = np.zeros(n)
    slopes = Slopes(pending, start, at_point, at_node)
    # Columns are computed in pieces that stay in the fastest cache. One array shows the compiler that
    # its parts do not overlap, so that it vectorizes the loops.
    scratch = np.zeros(4 * _PIECE)
    # Every column of a piece has its own partial sums, because one long sum is not vectorized.
    row_slopes = scratch[2 * _PIECE : 3 * _PIECE]
    all_values = scratch[3 * _PIECE :]
    before = -1
    for a in range(len(rows)):
        i = rows[a]
        leave_row(tree, before, i, not upper, slopes)
        enter_row(tree, before, i, not upper, far)
        depth = tree.leaf_depth[i]
        low = i + 1 if upper else 0
        while low < n:
            high = min(low + _PIECE, n)
            slope = scratch[: high - low]
            value = scratch[_PIECE : _PIECE + high - low]
            x = far[low:high]
            t = distance[a, low - start : high - start]
            u = factor[a, low - start : high - start]
            if what == SQUARES:
                _squares(depth, x, t, u, slope, value)
            elif what == SMOOTH:
                _smooth(depth, x, t, u, eps, slope, value)
            elif what == RELATIVE:
                _relative(depth, x, u, eps, slope, value)
            elif what == PRODUCT:
                _product(depth, x, u, slope, value)
            else:
                _factors(u, slope, value)
            if low <= i < high:  # a point with itself
                slope[i - low] = value[i - low] = 0.0
            collected = pending[low:high]
            for j in range(len(slope)):
                collected[j] += slope[j]
                row_slopes[j] += slope[j]
                all_values[j] += value[j]
            low = high
        at_point[i - start] += range_sum(row_slopes)
        row_slopes[:] = 0.0
        before = i
    leave_row(tree, before, n, not upper, slopes)
    return range_sum(all_values)


@kernel
def cut_sums(up: Any, count: Any, sampled: Any, length: Any, out: Any) -> None:
    """Sum path lengths over the paths through each edge. O(K).

    out[k] is the sum of d(i, j) over the paths through edge k, where i is a sampled point and j
    any point.

    Let D and F be the sums of the distances from node k to the points below it and to all
    points, and s and n the numbers of these points. Let E, G, t and r be the same quantities
    for the sampled points. The paths that leave downwards and upwards add up to E (n - s) + t
    (F - D) + D (r - t) + s (G - E).

    count, sampled : (K,) int64, points below each node
    length : (K,) float64
    out : (K,) float64, written
    """
    K = len(up)
    n = count[0]
    r = sampled[0]
    below = np.zeros(K)
    below_sampled = np.zeros(K)
    for k in range(K - 1, 0, -1):
        below[up[k]] += below[k] + count[k] * length[k]
        below_sampled[up[k]] += below_sampled[k] + sampled[k] * length[k]
    all_points = np.empty(K)
    all_sampled = np.empty(K)
    all_points[0] = below[0]
    all_sampled[0] = below_sampled[0]
    out[0] = 0.0
    for k in range(1, K):
        s = count[k]
        t = sampled[k]
        all_points[k] = all_points[up[k]] + (n - 2 * s) * length[k]
        all_sampled[k] = all_sampled[up[k]] + (r - 2 * t) * length[k]
        out[k] = below_sampled[k] * (n - s) + t * (all_points[k] - below[k])
        out[k] += below[k] * (r - t) + s * (all_sampled[k] - below_sampled[k])


@kernel
def solve_cuts(up: Any, count: Any, free: Any, cut: Any, length: Any) -> None:
    """Find lengths whose paths through each free edge add up to cut[k]. O(K).

    All pairs are included. The lengths of edges that are not free are 0.

    For an edge k with s of n points below it, let D and F be the sums of the distances from k
    to the points below and to all points:

        cut[k] = (n - 2 s) D[k] + s F[k],  F[k] = F[up k] + (n - 2 s) length[k],  D[up k] = sum
        (D[k] + s length[k]).

    At each node, D is an affine function of F: D = a - A F, where A is the sum of s / (n - 2 s)
    over the nearest free edges below. Each cut[k] then determines F[k], and D = F at the root
    determines the last F. An edge that is not free merges its two ends. The root must be a
    centroid, so that n - 2 s is 0 for at most one of its edges.
    """
    K = len(up)
    n = count[0]
    a = np.zeros(K)
    A = np.zeros(K)
    B = np.zeros(K)
    merged = np.zeros(K)
    F = np.zeros(K)
    half = 0
    for k in range(K):
        merged[k] = count[k]
    for k in range(K - 1, 0, -1):
        merged[up[k]] -= count[k]  # now the number of points at the node itself
    for k in range(K - 1, 0, -1):
        p = up[k]
        s = float(count[k])
        odd = float(n - 2 * count[k])
        if not free[k]:
            a[p] += a[k]
            A[p] += A[k]
            B[p] += B[k]
            merged[p] += merged[k]
            continue
        # s - (n - 2 s) A, written without cancellation: points merged into k plus sum 2 g (s -
        # g) / (n - 2 g).
        F[k] = (cut[k] - odd * a[k]) / (merged[k] + 2.0 * (s * A[k] - B[k]))
        a[p] += a[k] - A[k] * F[k]
        if odd == 0.0:
            half = k
            continue
        a[p] += s * F[k] / odd
        A[p] += s / odd
        B[p] += s * s / odd
    F[0] = F[half] if half > 0 else a[0] / (1.0 + A[0])
    length[0] = 0.0
    for k in range(1, K):
        length[k] = 0.0
        if not free[k]:
            F[k] = F[up[k]]
        elif k == half:
            length[k] = (F[0] * (1.0 + A[0]) - a[0]) / count[k]
        else:
            length[k] = (F[k] - F[up[k]]) / (n - 2 * count[k])
