"""Bounds from base points: each base gives delta within a factor of 2, in O(n^3).

Gromov, Hyperbolic groups (1987); Fournier, Ismail and Vigneron, Computing the Gromov
hyperbolicity of a discrete metric space (2015). With the Gromov products P at w, let delta_w =
max over x, y, z of min(P_xz, P_zy) - P_xy. Then delta_w <= delta <= 2 delta_w, even without the
triangle inequality.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from .._pace import Best, Bound, LimitReached, Pace
from .._spaces import Space

_ROWS = 64  # maximum number of rows per task
_ROUND = 16  # number of tasks after which the best value so far is shared
# maximum number of steps per task: tenths of a second, so that a time limit is kept
_TASK = 1 << 31
_FINE = float(1 << 29)  # twice this is still an int32
_WHOLE = float(1 << 52)  # whole numbers below this are exact, and so are their sums


def search_bases(
    space: Space,
    triangle_inequality: bool,
    bases: int,
    best: Best,
    pace: Pace,
) -> Bound:
    """Bound h = 2 delta from several base points; better quadruples are passed to `best`.

    The first base is the point farthest from point 0. Every other base is the point farthest
    from the previous bases. `triangle_inequality` tells whether the inequality is known to
    hold. Takes O(n^3) time per base, and a second n x n array.
    """
    d = space.distances
    high = float(d.max()) * (1 if triangle_inequality else 2)
    nearest = d[0].copy()
    try:
        for _ in range(min(bases, len(d))):
            base = int(np.argmax(nearest))
            defect = _one_base(space, triangle_inequality, base, best, pace)
            high = min(high, 2 * defect)
            best.show(high)
            np.minimum(nearest, d[base], out=nearest)
    except LimitReached:
        return Bound(max(high, best.h), complete=False)
    return Bound(max(high, best.h), complete=True)


def _one_base(
    space: Space,
    triangle_inequality: bool,
    base: int,
    best: Best,
    pace: Pace,
) -> float:
    """Return 2 delta_w, exact for whole numbers and otherwise rounded up by at most two units."""
    from ._base_point_kernels import gromov_products

    d = space.distances
    n = len(d)
    products = np.empty((n, n), _product_type(d, base, triangle_inequality))
    pace.run(lambda rows: gromov_products(d, base, *rows, products), row_chunks(n))

    def offer(x: int, y: int) -> None:
        # Products are rounded, so compute the value from the distances.
        z = int(np.argmax(np.minimum(products[x], products[y])))
        best.offer(_four_point_value(d, base, z, x, y), space.points[[base, z, x, y]])

    # Products are negative if the triangle inequality is violated. Only their differences
    # matter.
    products -= min(products.min(), 0)
    if products.dtype.kind == "f":
        # Small integers are compared eight at a time, floats four at a time. Products are therefore
        # first rounded to a fine grid, which settles the result unless it is about 0.
        largest = float(products.max())
        exact = _all_whole(products, pace)
        if largest <= _FINE or not exact:
            unit = 1.0 if exact else _fine_unit(largest)
            grid = _to_grid(products, unit, pace)
            h = _largest_defect(grid, grid, offer, pace)
            if exact:
                return h
            if h > 1:
                return (h + 1) * unit  # both sides of the difference are off by half a unit
    keys = products.view(np.int64) if products.dtype.kind == "f" else products
    return _largest_defect(products, keys, offer, pace)


def _largest_defect(
    products: NDArray[Any], keys: NDArray[Any], offer: Callable[[int, int], None], pace: Pace
) -> float:
    """Return the largest max over z of min(P_xz, P_zy) - P_xy.

    `keys` are the products as integers (see `_base_point_kernels.largest_defect`), and `offer`
    takes better x and y.
    """
    from . import _base_point_kernels as kernels

    scalar = products.dtype.type
    h = scalar(0)
    chunks = row_chunks(len(products))
    for k in range(0, len(chunks), _ROUND):

        def work(rows: tuple[int, int], h: float = h) -> tuple[float, int, int]:
            return kernels.largest_defect(products, keys, *rows, h)

        for found, at_x, at_y in pace.map(work, chunks[k : k + _ROUND]):
            if found > h:
                h = scalar(found)
                offer(at_x, at_y)  # immediately, because time may run out before the end
    return float(h)


def row_chunks(n: int) -> list[tuple[int, int]]:
    """Return the rows of each task, as (start, stop)."""
    step = max(1, min(_ROWS, _TASK // n**2) // 8) * 8  # kernels process eight rows at a time
    return [(k, min(k + step, n)) for k in range(0, n, step)]


def _four_point_value(d: NDArray[Any], a: int, b: int, c: int, e: int) -> float:
    one, two, three = (
        float(d[i, j]) + float(d[k, m]) for i, j, k, m in ((a, b, c, e), (a, c, b, e), (a, e, b, c))
    )
    return one - max(two, three)


def _product_type(d: NDArray[Any], base: int, triangle_inequality: bool) -> np.dtype[Any]:
    # 0 <= P(x, y) <= 2 d(w, x) if the triangle inequality holds. For most graphs, one byte
    # suffices.
    real = d.dtype.kind == "f"
    fits_byte = triangle_inequality and 2 * float(d[base].max()) < 256
    dtype = np.dtype(np.float64 if real else np.uint8 if fits_byte else np.int32)
    needed = len(d) ** 2 * (dtype.itemsize + 4 * real)  # plus the grid
    check_memory(needed, f"Gromov products of {len(d):,} points", "use method='sample'")
    return dtype


def _all_whole(values: NDArray[np.float64], pace: Pace) -> bool:
    """Tell whether all values are whole numbers that floats represent exactly."""

    def work(rows: tuple[int, int]) -> bool:
        part = values[slice(*rows)]
        return bool(((part == np.rint(part)) & (part < _WHOLE)).all())

    return work((0, 1)) and all(pace.map(work, row_chunks(len(values))))


def _fine_unit(largest: float) -> float:
    return max(largest / _FINE, float(np.finfo(np.float64).tiny))


def _to_grid(values: NDArray[np.float64], unit: float, pace: Pace) -> NDArray[np.int32]:
    """Return values >= 0 as multiples of a unit, which is at least 2^-29 of the largest value."""
    grid = np.empty(values.shape, np.int32)

    def work(rows: tuple[int, int]) -> None:
        grid[slice(*rows)] = np.rint(values[slice(*rows)] / unit)

    pace.run(work, row_chunks(len(values)))
    return grid


def triangle_violation(space: Space, pace: Pace) -> tuple[float, float, NDArray[np.int64]]:
    """Return d(x, y) - d(x, z) - d(z, y) of the worst triangle, its upper bound, and x, y, z, z.

    O(n^3) time. The value is 0 if the triangle inequality holds. A violation is the four-point
    value of x, y, z and z. If all violations of real distances are below 4e-9 of the largest
    distance, the triangle may not be the worst.
    """
    # Integers are compared eight at a time and floats one by one, so real distances are rounded
    # to a grid first.
    if space.whole:
        worst, x, y = _worst_triangle(space.distances.astype(np.int32), pace)
        return worst, worst, _triangle(space, x, y)[1]
    unit = _fine_unit(float(space.distances.max()))
    worst, x, y = _worst_triangle(_to_grid(space.distances, unit, pace), pace)
    if worst > 2:  # exceeds the rounding of the grid
        worst, four = exact_violation(space, pace)
        return worst, worst, four
    violation, four = _triangle(space, x, y)
    return violation, (worst + 2) * unit, four


def exact_violation(space: Space, pace: Pace) -> tuple[float, NDArray[np.int64]]:
    """Return the largest d(x, y) - d(x, z) - d(z, y) exactly, and x, y, z, z."""
    _, x, y = _worst_triangle(space.distances, pace)
    return _triangle(space, x, y)


def _triangle(space: Space, x: int, y: int) -> tuple[float, NDArray[np.int64]]:
    d = space.distances
    paths = d[x].astype(np.float64) + d[y]
    z = int(np.argmin(paths))
    return max(0.0, float(d[x, y] - paths[z])), space.points[[x, y, z, z]]


def _worst_triangle(d: NDArray[Any], pace: Pace) -> tuple[float, int, int]:
    from ._base_point_kernels import largest_violation

    worst = 0.0
    x = 0
    y = 0
    for found, at_x, at_y in pace.map(lambda rows: largest_violation(d, *rows), row_chunks(len(d))):
        if found > worst:
            worst = float(found)
            x = at_x
            y = at_y
    return worst, x, y
