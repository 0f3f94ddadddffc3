"""The geometry of a picture, before colors and labels."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from .._arrays import FloatArray, IntArray

#: A polyline (k, 2) for each edge.
Lines: TypeAlias = FloatArray | Sequence[FloatArray]


class Picture(NamedTuple):
    """Positions of nodes and lines of edges."""

    spots: FloatArray  # (N, 2)
    edges: IntArray  # (E, 2)
    lines: Lines
    n_points: int
    labels: Sequence[str] | None
    layout: str
