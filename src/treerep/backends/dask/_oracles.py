"""Oracles of points that travel between workers: a few rows at a time."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...metric._compiled import CompiledMetric
from ...metric.points import Oracle

#: An oracle whose arrays have one row per point: those of points with coordinates.
RowOracle: TypeAlias = Oracle


def part_of_oracle(oracle: RowOracle, rows: slice) -> RowOracle:
    """Return an oracle of consecutive points, without a copy."""
    arrays: list[NDArray[Any]] = [array[rows] for array in oracle]
    return type(oracle)(*arrays)


class GatheredPoints(CompiledMetric):
    """Points that were gathered in one place."""

    def __init__(self, oracle: RowOracle, eps: float = 0.0, integral: bool = False) -> None:
        self.oracle = oracle
        self.eps = eps
        self.integral = integral

    def __len__(self) -> int:
        return len(self.oracle[0])


def stacked(*oracles: RowOracle) -> RowOracle:
    """Return one oracle of the points of several, in new arrays, as kernels take them."""
    arrays = [np.concatenate(columns) for columns in zip(*oracles, strict=True)]
    for array in arrays:
        array.flags.writeable = False
    return type(oracles[0])(*arrays)
