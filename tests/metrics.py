"""Metrics of a user's own, shared by the tests."""

from typing import Any

import numpy as np

from treerep.metric.base import Metric


class Table(Metric):
    """Distances from an array, unchecked: `block` alone, no oracle."""

    def __init__(self, distances: Any) -> None:
        self.distances = np.asarray(distances, dtype=float)

    def __len__(self) -> int:
        return len(self.distances)

    def block(self, rows: Any, cols: Any) -> np.ndarray:
        return self.distances[np.ix_(rows, cols)]
