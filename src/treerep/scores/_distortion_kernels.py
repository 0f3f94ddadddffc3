"""Sums and extremes over the pairs of two dense blocks, one row at a time.

Adding floats one after the other is slow, and a compiler that may choose the order gives
different bits on different machines. Each sum is therefore kept in LANES separate lanes, where
lane k adds the columns k, k + LANES, and so on. This compiles to vector code. At the end of a
row, the lanes are added in halves. The lanes of all sums are in one array at constant offsets,
so that the compiler can tell that they do not overlap. `np.divide` replaces `/`, which would
test every divisor.
"""

from typing import Any

import numpy as np

from .._core.kernel import helper, kernel

LANES = 128

# Quantities that `row_sums` adds up, and the columns it fills: x is the approximation, t the
# truth, c the scale.
RELATIVE = 0  # sum |c x - t| / t, pairs with c x > t minus the others, -, -, pairs with t = 0
RATIO = 1  # least x / t, greatest x / t, -, -, pairs with t = 0
# sum |c x - t|, sum (c x - t)^2, sum of x with the sign of c x - t, greatest |c x - t|, -
ABSOLUTE = 2
PRODUCTS = 3  # sum c x t, sum (c x)^2, sum |x|, -, -
COLUMNS = 5


@helper
def _relative(x: Any, t: Any, scale: float, lanes: Any) -> Any:
    zeros = 0
    signs = 0
    for k in range(len(x)):
        difference = scale * x[k] - t[k]
        error = np.divide(abs(difference), t[k])
        # 0 * difference is 0 unless x is not finite. An entry that is not a distance turns the
        # sum into NaN.
        otherwise = 0.0 * difference if t[k] == 0.0 else np.nan
        lanes[k] += error if t[k] > 0.0 else otherwise
        zeros += t[k] == 0.0
        signs += 0 if t[k] == 0.0 else (1 if difference > 0.0 else -1)
    return zeros, signs


@helper
def _ratio(x: Any, t: Any, lanes: Any) -> Any:
    zeros = 0
    for k in range(len(x)):
        positive = t[k] > 0.0
        ratio = np.divide(x[k], t[k])
        # negated, so that both are maxima
        lanes[k] = -ratio if (-ratio > lanes[k]) & positive else lanes[k]
        lanes[LANES + k] = ratio if (ratio > lanes[LANES + k]) & positive else lanes[LANES + k]
        lanes[2 * LANES + k] += 0.0 * x[k] + 0.0 * t[k] if t[k] >= 0.0 else np.nan
        zeros += t[k] == 0.0
    return zeros


@helper
def _absolute(x: Any, t: Any, scale: float, lanes: Any) -> None:
    for k in range(len(x)):
        difference = scale * x[k] - t[k]
        error = abs(difference)
        lanes[k] += error
        lanes[LANES + k] += difference * difference
        lanes[2 * LANES + k] += x[k] if difference > 0.0 else -x[k]
        lanes[3 * LANES + k] = error if error > lanes[3 * LANES + k] else lanes[3 * LANES + k]


@helper
def _products(x: Any, t: Any, scale: float, lanes: Any) -> None:
    for k in range(len(x)):
        scaled = scale * x[k]
        lanes[k] += scaled * t[k]
        lanes[LANES + k] += scaled * scaled
        lanes[2 * LANES + k] += abs(x[k])


@helper
def _sum(lanes: Any, column: int) -> Any:
    start = column * LANES
    width = LANES
    while width > 1:
        width //= 2
        for k in range(start, start + width):
            lanes[k] += lanes[k + width]
    return lanes[start]


@helper
def _greatest(lanes: Any, column: int) -> Any:
    found = lanes[column * LANES]
    for k in range(column * LANES, (column + 1) * LANES):
        found = max(found, lanes[k])
    return found


@kernel
def row_sums(what: int, scale: float, approx: Any, truth: Any, own: Any, upper: bool, out: Any) -> None:
    """Fill out[a, :] from row a of both blocks, without column own[a]; `upper`: only later columns.

    Parameters
    ----------
    what : RELATIVE, RATIO, ABSOLUTE or PRODUCTS
    approx, truth : (rows, columns) float64
    own : (rows,) int64
        Column of the row's point.
    out : (rows, COLUMNS) float64
        A row is not finite if one of its distances is not finite, or (RELATIVE, RATIO) if a
        true distance is negative. With RATIO, the least ratio of a row without ratios is inf.
    """
    lanes = np.empty(4 * LANES)
    for a in range(len(out)):
        lanes[:] = 0.0
        if what == RATIO:
            lanes[: 2 * LANES] = -np.inf
        zeros = 0
        signs = 0
        for part in range(1 if upper else 0, 2):
            first, last = (own[a] + 1, approx.shape[1]) if part == 1 else (0, own[a])
            for start in range(first, last, LANES):
                stop = min(start + LANES, last)
                x = approx[a, start:stop]
                t = truth[a, start:stop]
                if what == RELATIVE:
                    more_zeros, more_signs = _relative(x, t, scale, lanes)
                    zeros += more_zeros
                    signs += more_signs
                elif what == RATIO:
                    zeros += _ratio(x, t, lanes)
                elif what == ABSOLUTE:
                    _absolute(x, t, scale, lanes)
                else:
                    _products(x, t, scale, lanes)
        out[a, 0] = -_greatest(lanes, 0) if what == RATIO else _sum(lanes, 0)
        out[a, 1] = _greatest(lanes, 1) if what == RATIO else _sum(lanes, 1) + signs
        out[a, 2] = _sum(lanes, 2)
        out[a, 3] = _greatest(lanes, 3)
        out[a, 4] = zeros
