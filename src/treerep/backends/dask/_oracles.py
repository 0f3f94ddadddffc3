"""Oracles of points that are sent between workers, a few rows at a time."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...metric._compiled import CompiledMetric
from ...metric.points import Oracle

#: An oracle whose arrays have one row per point, as for points with coordinates.
RowOracle: TypeAlias = Oracle


def part_of_oracle(oracle: RowOracle, rows: slice) -> RowOracle:
    """Return an oracle of consecutive points, without copying."""
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
    """Return one oracle for the points of several oracles, in new arrays that kernels accept."""
    arrays = [np.concatenate(columns) for columns in zip(*oracles, strict=True)]
    for array in arrays:
        array.flags.writeable = False
    return type(oracles[0])(*arrays)
