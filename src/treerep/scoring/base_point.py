"""One base point: at least half of the hyperbolicity, in O(n^3).

Gromov, Hyperbolic groups (1987); Fournier, Ismail and Vigneron, Computing the Gromov hyperbolicity of a discrete metric
space (2015). With the Gromov products P at w, delta_w = max over x, y, z of min(P_xz, P_zy) - P_xy, and
delta_w <= delta <= 2 delta_w. Not even the triangle inequality is needed for that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.memory import check_memory
from .pace import Best, Pace, Stopped
from .spaces import Space, whole_type

_ROWS = 64  # rows of a task, at most; after each round of tasks all of them know the best so far
_ROUND = 16
_TASK = 1 << 31  # steps of a task, at most: tenths of a second, so that a time limit is kept
_FINE = float(1 << 29)  # twice that is an int32


def search_bases(space: Space, metric: bool, bases: int, best: Best, pace: Pace) -> tuple[float, bool]:
    """Return an upper bound of h = 2 delta, and whether all bases were looked at; better quadruples go to `best`.

    The first base is the farthest from point 0, and every other one the farthest from those before it.
    `metric` says that the triangle inequality holds. O(n^3) time for each base, and a second n x n array.
    """
    d = space.distances
    high = float(d.max()) * (1 if metric else 2)
    nearest = d[0].copy()
    try:
        for _ in range(min(bases, len(d))):
            base = int(np.argmax(nearest))
            high = min(high, 2 * _one_base(space, metric, base, best, pace))
            best.show(high)
            np.minimum(nearest, d[base], out=nearest)
    except Stopped:
        return max(high, best.h), False
    return max(high, best.h), True


def _one_base(space: Space, metric: bool, base: int, best: Best, pace: Pace) -> float:
    """Return 2 delta_w, or a little more where distances are real."""
    from .base_point_kernels import gromov_products

    d = space.distances
    n = len(d)
    products = np.empty((n, n), _product_type(d, base, metric))
    for _ in pace.map(lambda rows: gromov_products(d, base, *rows, products), _chunks(n)):
        pass

    def offer(x: int, y: int) -> None:
        # Products are rounded: the value that counts is that of the distances.
        z = int(np.argmax(np.minimum(products[x], products[y])))
        best.offer(_four_point_value(d, base, z, x, y), space.points[[base, z, x, y]])

    if products.dtype.kind == "f":
        products -= min(products.min(), 0)  # negative where triangles are violated; only differences count
        # Eight small integers are compared at once, floats one by one: a fine grid first, which tells all but 0.
        unit = max(float(products.max()) / _FINE, float(np.finfo(np.float64).tiny))
        grid = np.rint(products / unit).astype(np.int32)
        h = _largest_defect(grid, grid, offer, pace)
        if h > 1:
            return (h + 1) * unit  # either side of the difference is off by half a unit
    keys = products.view(np.int64) if products.dtype.kind == "f" else products
    return _largest_defect(products, keys, offer, pace)


def _largest_defect(products: NDArray[Any], keys: NDArray[Any], offer: Callable[[int, int], None], pace: Pace) -> float:
    from .base_point_kernels import largest_defect

    scalar = products.dtype.type
    h = scalar(0)
    chunks = _chunks(len(products))
    for k in range(0, len(chunks), _ROUND):

        def work(rows: tuple[int, int], h: Any = h) -> Any:
            return largest_defect(products, keys, *rows, h)

        for found, at_x, at_y in pace.map(work, chunks[k : k + _ROUND]):
            if found > h:
                h = scalar(found)
                offer(at_x, at_y)  # at once: time may be up before the end
    return float(h)


def _chunks(n: int) -> list[tuple[int, int]]:
    step = max(1, min(_ROWS, _TASK // n**2) // 8) * 8  # kernels take eight rows at a time
    return [(k, min(k + step, n)) for k in range(0, n, step)]


def _four_point_value(d: NDArray[Any], a: int, b: int, c: int, e: int) -> float:
    one, two, three = (float(d[i, j]) + float(d[k, m]) for i, j, k, m in ((a, b, c, e), (a, c, b, e), (a, e, b, c)))
    return one - max(two, three)


def _product_type(d: NDArray[Any], base: int, metric: bool) -> np.dtype[Any]:
    # 0 <= P(x, y) <= 2 d(w, x) where the triangle inequality holds: a byte does for most graphs.
    small = whole_type(2 * float(d[base].max())) if metric and d.dtype.kind == "u" else None
    dtype = small or np.dtype(np.float64)
    check_memory(len(d) ** 2 * dtype.itemsize, f"Gromov products of {len(d):,} points", "use method='sample'")
    return dtype


def triangle_violation(space: Space, pace: Pace) -> tuple[float, float, NDArray[np.int64]]:
    """Return the largest d(x, y) - d(x, z) - d(z, y), an upper bound of it, and x, y, z, z; 0 for a metric.

    O(n^3) time. It is the four-point value of x, y, z and z: for a tree metric it must be 0, like all others.
    """
    d = space.distances
    unit = 1.0 if space.whole else float(d.max()) / _FINE
    # Integers are added and compared eight at a time, floats one by one: real distances are rounded to a grid first.
    worst, x, y = _worst_triangle(np.rint(d / unit).astype(np.int32) if unit != 1 else d.astype(np.int32), pace)
    slack = worst * unit
    if not space.whole:
        slack += 2 * unit
        if worst * unit > 2 * unit:  # not a matter of the grid
            worst, x, y = _worst_triangle(d.astype(np.float64), pace)
            slack = worst
    z = int(np.argmin(d[x].astype(np.float64) + d[y]))
    exact = float(d[x, y]) - float(d[x, z]) - float(d[z, y])
    return max(0.0, exact), max(slack, exact), space.points[[x, y, z, z]]


def _worst_triangle(d: NDArray[Any], pace: Pace) -> tuple[float, int, int]:
    from .base_point_kernels import largest_violation

    worst, x, y = 0.0, 0, 0
    for found, at_x, at_y in pace.map(lambda rows: largest_violation(d, *rows), _chunks(len(d))):
        if found > worst:
            worst, x, y = float(found), at_x, at_y
    return worst, x, y
