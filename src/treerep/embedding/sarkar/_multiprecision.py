"""Coordinates of arbitrary precision, as mpmath numbers."""

import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.memory import check_memory
from ...metric.oracle.classes import FrameOracle
from .._models import MODELS


def enough_bits(model: str, farthest: float) -> int:
    """Return the bits that separate points at a radius as well as float64 does at the origin.

    1 - |p| is about 2 e^-r in the Poincaré ball, and 2 e^-2r in the Klein ball. The hyperboloid
    needs the same number of bits as the Klein ball.
    """
    return 53 + math.ceil((1 if model == "poincare" else 2) * farthest / math.log(2))


def precise_coordinates(
    frames: FrameOracle, radii: NDArray[np.float64], model: str, precision: int | str
) -> NDArray[np.object_]:
    """Return coordinates of every node as mpmath numbers with `precision` bits.

    "auto" chooses enough bits for the farthest node.

    The Lorentz matrix of a frame is its parent's matrix times a reflection and a boost. O(N
    k^2) operations.
    """
    if not isinstance(model, str) or model not in MODELS:
        raise ValueError(f"unknown model {model!r}: choose one of {', '.join(MODELS)}")
    mpmath = require("mpmath", "precision")
    if precision == "auto":
        bits = enough_bits(model, float(radii.max()))
    elif isinstance(precision, bool) or not isinstance(precision, int | np.integer) or precision < 2:
        raise ValueError(f'precision must be a number of bits or "auto", got {precision!r}')
    else:
        bits = int(precision)
    # A number takes about 150 bytes in addition to its bits. Two copies exist during rounding.
    needed = 2 * len(radii) * (frames.turns.shape[1] + 1) * (150 + bits // 8)
    check_memory(
        needed,
        f"{len(radii):,} nodes with {bits:,} bits",
        "use fewer bits or a smaller scale",
    )
    points = np.empty((len(radii), frames.turns.shape[1] + 1), object)
    with mpmath.workprec(bits + _guard_bits(frames, radii)):
        for position, column in _lorentz_points(mpmath, frames):
            points[position] = column
        if model == "poincare":
            points = points[:, 1:] / (1 + points[:, :1])
        elif model == "klein":
            points = points[:, 1:] / points[:, :1]
    with mpmath.workprec(bits):
        rounded = [+x for x in points.ravel()]  # a plus sign rounds
    return np.array(rounded, object).reshape(points.shape)[frames.position]


def _guard_bits(frames: FrameOracle, radii: NDArray[np.float64]) -> int:
    """Return the bits that the matrices lose, from the amount by which turns shorten paths to the root."""
    depth = np.zeros(len(radii))
    for p, q in enumerate(frames.up[1:].tolist(), 1):
        depth[p] = depth[q] + frames.lengths[p]
    shortened = float(np.max(depth[frames.position] - radii, initial=0.0))
    return 32 + math.ceil(shortened / math.log(2)) + 2 * len(radii).bit_length()


def _lorentz_points(mpmath: ModuleType, frames: FrameOracle) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield every position and its point (x0, x) on the hyperboloid."""
    dim = frames.turns.shape[1]
    children = np.bincount(frames.up[1:], minlength=len(frames.up)).tolist()
    identity = np.array([[mpmath.mpf(int(r == c)) for c in range(dim + 1)] for r in range(dim + 1)], object)
    waiting = {0: identity}
    yield 0, identity[:, 0]
    for p, q in enumerate(frames.up[1:].tolist(), 1):
        above = waiting[q]
        turn = np.array([mpmath.mpf(x) for x in frames.turns[p].tolist()], object)
        turn = turn / mpmath.sqrt((turn * turn).sum())
        length = mpmath.mpf(float(frames.lengths[p]))
        cosh = mpmath.cosh(length)
        sinh = mpmath.sinh(length)
        ahead = above[:, 1:] @ turn
        point = cosh * above[:, 0] + sinh * ahead
        yield p, point
        if children[p]:
            # The reflection that swaps the turn and e_1, x + n (n.x) / n_1 with n = turn - e_1,
            # then a boost along e_1.
            rest = (turn[1:] * turn[1:]).sum()
            back = turn[0] - 1 if turn[0] < 0 else -rest / (1 + turn[0])
            # Compute n from its components, however short: a difference of unit vectors would
            # lose digits.
            swing = (above[:, 2:] @ turn[1:]) / back + above[:, 1] if back else 0 * ahead
            below = np.empty_like(above)
            below[:, 0] = point
            below[:, 1] = sinh * above[:, 0] + cosh * ahead
            below[:, 2:] = above[:, 2:] + np.outer(swing, turn[1:])
            waiting[p] = below
        children[q] -= 1
        if not children[q]:
            del waiting[q]
