"""Kernels for long vectors: dot products and quasi-Newton directions.

The order of additions is fixed. NumPy delegates dot products to a BLAS library, whose order of
additions depends on its threads. On a busy machine the BLAS threads also wait for each other:
with 200,000 edges, waiting took longer than the passes over the distances.
"""

from typing import Any

from ..._core.kernel import helper, kernel

# If s and y are orthogonal up to rounding, a step carries no information about the curvature.
_RIGHT_ANGLE = 1e-14


@kernel
def dot(a: Any, b: Any) -> float:
    """Return the sum of a[j] b[j], computed in four independent partial sums."""
    s0 = s1 = s2 = s3 = 0.0
    whole = len(a) // 4 * 4
    for j in range(0, whole, 4):
        s0 += a[j] * b[j]
        s1 += a[j + 1] * b[j + 1]
        s2 += a[j + 2] * b[j + 2]
        s3 += a[j + 3] * b[j + 3]
    for j in range(whole, len(a)):
        s0 += a[j] * b[j]
    return (s0 + s1) + (s2 + s3)


@helper
def _curvature(s: Any, y: Any, way: Any, free: Any) -> Any:
    """Return the sums of s y, s s, y y and s way over the free edges."""
    sy = ss = yy = sw = 0.0
    for j in range(len(s)):
        a = s[j] if free[j] else 0.0
        b = y[j] if free[j] else 0.0
        sy += a * b
        ss += a * a
        yy += b * b
        sw += a * way[j]
    return sy, ss, yy, sw


@kernel
def turn_way(
    steps: Any,
    changes: Any,
    newest: int,
    free: Any,
    diagonal: Any,
    way: Any,
    product: Any,
    share: Any,
) -> None:
    """Turn the steepest descent `way` into a quasi-Newton direction.

    Uses Nocedal's two loops over past steps, restricted to the free edges.

    steps, changes : (memory, K), the last steps s and the resulting changes y of the gradient.
        Row `newest` is the last step; earlier rows are older, wrapping around the end of the
        array.
    way : (K,), the negative gradient, 0 for edges that are not free; overwritten
    product, share : (memory,), working memory; product is 0 for unused rows
    """
    memory = len(steps)
    scale = 1.0
    first = True
    for back in range(memory):
        r = (newest - back) % memory
        s = steps[r]
        y = changes[r]
        sy, ss, yy, sw = _curvature(s, y, way, free)
        product[r] = 0.0
        if not sy > _RIGHT_ANGLE * (ss * yy) ** 0.5:
            continue
        product[r] = sy
        share[r] = sw / sy
        for j in range(len(way)):
            way[j] -= share[r] * y[j] if free[j] else 0.0
        if first:
            first = False
            curvature = 0.0
            for j in range(len(way)):
                curvature += y[j] * y[j] / diagonal[j] if free[j] else 0.0
            scale = sy / curvature
    for j in range(len(way)):
        way[j] = scale * way[j] / diagonal[j]
    for back in range(memory - 1, -1, -1):
        r = (newest - back) % memory
        if product[r] == 0.0:
            continue
        s = steps[r]
        y = changes[r]
        along = 0.0
        for j in range(len(way)):
            along += y[j] * way[j] if free[j] else 0.0
        rest = share[r] - along / product[r]
        for j in range(len(way)):
            way[j] += rest * s[j] if free[j] else 0.0
