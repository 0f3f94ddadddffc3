"""What is to be seen, before colors and names."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Picture(NamedTuple):
    """Positions of nodes and lines of edges."""

    spots: NDArray[np.float64]  # (N, 2)
    edges: NDArray[np.int64]  # (E, 2)
    lines: Any  # a chain (k, 2) per edge
    n_points: int
    names: Sequence[str] | None
    layout: str
