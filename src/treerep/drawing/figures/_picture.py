"""The geometry of a picture, before colors and labels."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: A chain of points (k, 2) for each edge.
Lines: TypeAlias = NDArray[np.float64] | Sequence[NDArray[np.float64]]


class Picture(NamedTuple):
    """Positions of nodes and lines of edges."""

    spots: NDArray[np.float64]  # (N, 2)
    edges: NDArray[np.int64]  # (E, 2)
    lines: Lines
    n_points: int
    labels: Sequence[str] | None
    layout: str
