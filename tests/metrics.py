"""A custom metric, shared by the tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from treerep.metric.base import Metric


class Table(Metric):
    """Distances from an array, unchecked: `block` alone, no oracle. `asked` has the shape of each block."""

    def __init__(
        self,
        distances: Any,
        labels: Sequence[str] | None = None,
        *,
        adjacency: Any = None,
        integral: bool = False,
    ) -> None:
        self.distances = np.asarray(distances, dtype=float)
        self.labels = None if labels is None else tuple(labels)
        self.adjacency = adjacency
        self.integral = integral
        self.asked: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.distances)

    def block(self, rows: Any, cols: Any) -> np.ndarray:
        self.asked.append((len(rows), len(cols)))
        return self.distances[np.ix_(rows, cols)]


def uneven_table(distances: np.ndarray, noise: float = 1e-12) -> Table:
    """Return distances with relative noise: d(i, j) and d(j, i) differ, as after rounding."""
    factors = 1 + noise * np.random.default_rng(0).uniform(-1, 1, distances.shape)
    return Table(distances * factors)
