"""What the tests of the formats share."""

from pathlib import Path
from typing import Any

import numpy as np

from treerep import formats
from treerep.formats._source import Source
from treerep.metric.base import Metric

SQUARE = np.array([[0, 1, 2.5], [1, 0, 3], [2.5, 3, 0]])
NAMES = ["a", "b", "c"]


def read(folder: Path, text: str | bytes, name: str = "table.csv", **options: Any) -> Metric:
    """Write a file and read it."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return formats.read(path, **options)


def distances(metric: Metric) -> np.ndarray:
    """All distances of a metric."""
    everyone = np.arange(len(metric))
    return metric.block(everyone, everyone)


def source(text: str) -> Source:
    """A text as readers of trees take it."""
    return Source.of_bytes(text.encode(), name="test")
