"""Distances between the points of a tree on a torch device, without a lookup per pair.

Number the points in preorder and let a[k] be the lowest common ancestor of the points k - 1 and
k. Nodes are numbered in preorder as well, so ancestors have lower numbers. The common ancestor
of the points i < j is therefore the minimum of a[i + 1 ... j].

Take a run of points i, the points j after it, and the first of these, b. The ancestors S_i of
(i, b) and P_j of (b, j) are all on the path from b to the root. Let s_i and p_j be the path
lengths from b to these ancestors, and e_i and f_j the path lengths from i and j. Then

    d(i, j) = e_i + f_j + |s_i - p_j|,

and the common ancestor of i and j is the higher of S_i and P_j. The device only performs
additions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.typing import Tensor, TorchDevice
from ...tree.structure.rooted import exact_depths
from ...tree.tree import Tree
from ._rectangles import Rectangle, rectangles


class Turns(NamedTuple):
    """Where the paths of a rectangle turn: the ancestors shared with the first column."""

    left: NDArray[np.int64]  # (pieces, height), of the rows
    right: NDArray[np.int64]  # (pieces, width), of the columns


class TreeTensors:
    """The points of a tree in preorder, and their distances on a device.

    Parameters
    ----------
    up : (K,) parent of each node, all in preorder
    node : (n,) node of each point, ascending
    depth, rest : (K,) float64
        Distance to the root, and the part lost by rounding to float64.
    """

    def __init__(
        self,
        up: NDArray[np.integer],
        node: NDArray[np.integer],
        depth: NDArray[np.float64],
        rest: NDArray[np.float64],
        device: TorchDevice,
    ) -> None:
        self.torch = require("torch", "embed")
        self.device = device
        self.node = np.asarray(node, np.int64)
        # The common ancestor of two consecutive points is the smallest parent of the nodes
        # between them. All other parents are its descendants.
        self.shared = np.zeros(len(self.node), np.int64)
        if len(self.node) > 1:
            parents = np.asarray(up)[: self.node[-1] + 1]
            self.shared[1:] = np.minimum.reduceat(parents, self.node[:-1] + 1)
        self.depth = self._tensor(depth)
        self.rest = self._tensor(rest)

    def _tensor(self, array: NDArray[np.generic]) -> Tensor:
        return self.torch.tensor(array, device=self.device)

    def turns(self, where: Rectangle) -> Turns:
        """Return where the paths of a rectangle turn."""
        # Rows are accumulated from the last one backwards.
        backwards = self.shared[where.rows + 1][:, ::-1]
        left = np.minimum.accumulate(backwards, axis=1)[:, ::-1]
        right = self.shared[where.cols]
        right[:, 0] = self.node[where.cols[:, 0]]
        return Turns(left.copy(), np.minimum.accumulate(right, axis=1))

    def _lengths(self, below: Tensor, above: Tensor) -> Tensor:
        """Return the lengths of paths from nodes to ancestors. Short lengths keep their digits."""
        length = self.depth[below] - self.depth[above]
        rest = self.rest[below] - self.rest[above]
        return length + rest

    def distances(self, where: Rectangle, turns: Turns, signed: bool = False) -> Tensor:
        """Return the distances of a rectangle, (pieces, height, width).

        `signed` states that some edge lengths are negative.
        """
        left = self._tensor(turns.left)
        right = self._tensor(turns.right)
        rows = self._tensor(self.node[where.rows])
        cols = self._tensor(self.node[where.cols])
        first = cols[:, :1]
        to_left = self._lengths(first, left)
        to_right = self._lengths(first, right)
        along = to_left[:, :, None] - to_right[:, None, :]
        if signed:  # then the length up to the higher ancestor may be smaller
            along = along.where(left[:, :, None] <= right[:, None, :], -along)
        else:
            along.abs_()
        along += self._lengths(rows, left)[:, :, None]
        along += self._lengths(cols, right)[:, None, :]
        return along

    def run(self, first: int, last: int) -> Tensor:
        """Return the distances from the points first ... last - 1 to all points, (last - first, n)."""
        n = len(self.node)
        out = self.torch.zeros((last - first, n), dtype=self.torch.float64, device=self.device)
        inside = np.arange(first, last)[None]
        before = np.arange(first)[None]
        after = np.arange(last, n)[None]
        if first > 0:
            where = Rectangle(before, inside)
            out[:, :first] = self.distances(where, self.turns(where))[0].T
        if last < n:
            where = Rectangle(inside, after)
            out[:, last:] = self.distances(where, self.turns(where))[0]
        for piece in rectangles(last - first, out.numel()):
            where = Rectangle(piece.rows + first, piece.cols + first)
            rows = self._tensor(piece.rows)[:, :, None]
            cols = self._tensor(piece.cols)[:, None, :]
            found = self.distances(where, self.turns(where))
            out[rows, cols + first] = found
            out[cols, rows + first] = found
        return out

    def from_points(self, points: NDArray[np.int64]) -> Tensor:
        """Return the distances from a few points to all points, (points, n)."""
        turns = np.empty((len(points), len(self.node)), np.int64)
        for turn, i in zip(turns, points, strict=True):
            turn[i] = self.node[i]
            turn[i + 1 :] = np.minimum.accumulate(self.shared[i + 1 :])
            turn[:i] = np.minimum.accumulate(self.shared[1 : i + 1][::-1])[::-1]
        top = self._tensor(turns)
        ends = self._tensor(self.node)
        starts = self._tensor(self.node[points])
        up = self._lengths(starts[:, None], top)
        down = self._lengths(ends[None, :], top)
        return up + down


def tree_tensors(tree: Tree, device: TorchDevice) -> tuple[NDArray[np.int64], TreeTensors]:
    """Return the points of a tree in preorder, and the tree on a device."""
    view = tree._view
    node = np.flatnonzero(view.order < tree.n_points)
    points = view.order[node].astype(np.int64)
    return points, TreeTensors(view.up, node, *exact_depths(view), device)
