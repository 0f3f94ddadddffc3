"""A tree placed in hyperbolic space, known by its local frames: distances are exact in float64 at any scale."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric.base import MetricError, check_indices, frozen
from ..metric.oracles import FrameOracle
from ..tree.rooted import Preorder, preorder
from .embedding import Embedding


class TreeEmbedding(Embedding):
    """A tree in hyperbolic space, given by the length of each edge and its direction at the upper node."""

    def __init__(
        self,
        parent: ArrayLike,
        weights: ArrayLike,
        turns: ArrayLike,
        *,
        scale: float = 1.0,
        n_points: int | None = None,
        labels: Sequence[object] | None = None,
    ) -> None:
        self.parent = frozen(np.asarray(parent, np.int32))
        self.weights = frozen(np.asarray(weights, np.float64))
        self.turns = frozen(np.asarray(turns, np.float64))
        root = int(np.flatnonzero(self.parent < 0)[0])
        child = np.delete(np.arange(len(self.parent)), root)
        view = preorder(np.column_stack([self.parent[child], child]).astype(np.int64), self.weights[child], root)
        self._place(view, frozen(self.turns[view.order]), scale, n_points, labels)

    def _place(self, view, turns, scale, n_points, labels):
        lengths = scale * view.length
        self._frames = FrameOracle(
            view.position, view.up, turns, frozen(lengths), frozen(np.exp(-lengths)),
            frozen(-0.5 * np.expm1(-2 * lengths)), frozen(np.array([1 / scale])))
        self._order = view.order
        super(TreeEmbedding, self).__init__(*_polar(self._frames, view.order), scale=scale, n_points=n_points, labels=labels)

    @classmethod
    def _placed(cls, view, turns, scale, n_points, labels):
        e = cls.__new__(cls)
        e._place(view, frozen(turns), scale, n_points, labels)
        return e

    def _set_oracle(self) -> None:
        self.oracle = self._frames

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        from .frame_kernels import walk_rows
        first, second = (check_indices(x, self.n_nodes).reshape(-1) for x in (rows, cols))
        out = np.empty((len(first), len(second)))
        n = self.n_nodes
        walk_rows(self.oracle, first, second, np.empty(n, np.int32), np.empty((n, self.dim + 2)), out)
        return out


def _polar(frames, order):
    from .coordinate_kernels import count_below, polar_coordinates

    n = len(order)
    size, heavy = np.empty(n, np.int32), np.empty(n, np.int32)
    count_below(frames.up, size, heavy)
    directions, radii = np.empty(frames.turns.shape), np.empty(n)
    polar_coordinates(frames, size, heavy, order, directions, radii)
    return directions, radii
