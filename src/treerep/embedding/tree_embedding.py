"""A tree in hyperbolic space, stored as local frames: accurate in float64 at any scale."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.checks import positive_number, positive_scale
from ..metric.base import MetricError, check_indices, check_labels, read_only
from ..metric.oracle.classes import FrameOracle
from ..tree.structure.rooted import Preorder, heads, preorder
from .embedding import Embedding, real_array

_SMALLEST_SQUARE = 1e-290


class TreeEmbedding(Embedding):
    """A tree in hyperbolic space, given by the length and direction of every edge.

    `embed` returns tree embeddings. Distances are accurate to the last digits at any scale,
    even if float64 coordinates are not.

    Parameters
    ----------
    parent : (N,) array of integers
        Parent of each node; -1 at the root.
    weights : (N,) array of floats
        Length of the edge to the parent, in units of the data; 0 at the root.
    turns : (N, dim) array
        Unit vector along the edge from the parent, in the parent's frame; e_1 at the root. Only
        edges of the root may have direction -e_1, toward the grandparent.
    scale, n_points, labels
        As in `Embedding`.

    Attributes
    ----------
    directions : (N, dim) array
        Unit vector from the root to each node.
    radii : (N,) array
        Hyperbolic distance of each node from the root, which is the origin.

    See Also
    --------
    embed : Embed a tree.
    Embedding : The base class.
    Tree : A tree without coordinates.

    Notes
    -----
    Every node has a frame of axes, in which its parent is in direction -e_1. For an edge in
    direction d, the reflection that swaps d and e_1 maps the frame of the parent to the frame
    of the child. Distances are computed from frame to frame along the path.

    Examples
    --------
    >>> path = TreeEmbedding([-1, 0, 1], [0.0, 1.0, 2.0], [[1.0, 0.0]] * 3, scale=500.0)
    >>> path.pairs(0, [1, 2])
    array([1., 3.])
    >>> path.radii
    array([   0.,  500., 1500.])
    """

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
        above = np.asarray(parent)
        lengths = real_array(weights, "weights")
        units = real_array(turns, "turns")
        view = _checked_view(above, lengths, units)
        nodes = len(above)
        points = nodes if n_points is None else positive_number(n_points, "n_points")
        if points > nodes:
            raise ValueError(
                f"n_points={n_points} does not match {nodes} nodes: use a number from 1 to {nodes}"
            )
        self._set(
            view,
            read_only(units[view.order]),
            positive_scale(scale),
            points,
            check_labels(labels, points),
        )

    @classmethod
    def _of_view(
        cls,
        view: Preorder,
        turns: NDArray[np.float64],
        scale: float,
        n_points: int,
        labels: tuple[str, ...] | None,
    ) -> "TreeEmbedding":
        """Create an embedding of a tree in preorder, with turns by position, without validation."""
        embedding = cls.__new__(cls)
        embedding._set(view, turns, scale, n_points, labels)
        return embedding

    def _set(
        self,
        view: Preorder,
        turns: NDArray[np.float64],
        scale: float,
        n_points: int,
        labels: tuple[str, ...] | None,
    ) -> None:
        self.scale = scale
        self.n_points = n_points
        self.labels = labels
        self._order = view.order
        self._lengths = view.length
        with np.errstate(over="ignore", under="ignore"):
            lengths = scale * view.length
            decay = np.exp(-lengths)
            half = -0.5 * np.expm1(-2 * lengths)
        unit = np.array([1 / scale])
        self.oracle = FrameOracle(
            view.position,
            view.up,
            turns,
            read_only(lengths),
            read_only(decay),
            read_only(half),
            read_only(unit),
        )
        self.directions, self.radii, self._steps = _polar(self.oracle, view)
        if not np.isfinite(self.radii).all():
            raise MetricError(f"at scale {scale:.4g} distances overflow float64: use a smaller scale")

    @property
    def parent(self) -> NDArray[np.int32]:
        """Parent of each node, an (N,) array; -1 at the root."""
        parent = np.where(self.oracle.up < 0, -1, self._order[self.oracle.up])
        return parent.astype(np.int32)[self.oracle.position]

    @property
    def weights(self) -> NDArray[np.float64]:
        """Length of the edge to the parent in units of the data, an (N,) array; 0 at the root."""
        return self._lengths[self.oracle.position]

    @property
    def turns(self) -> NDArray[np.float64]:
        """Direction of the edge from the parent, in the parent's frame, an (N, dim) array."""
        return self.oracle.turns[self.oracle.position]

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row node to each column node, as a float64 array.

        Many columns take O(N dim) per row, by a traversal of the tree. Few columns are computed
        along the path of each pair.
        """
        from .sarkar._frame_kernels import walk_rows

        first, second = (read_only(check_indices(x, self.n_nodes)).reshape(-1) for x in (rows, cols))
        if len(first) == 0 or len(second) * self._steps < self.n_nodes:
            return super().block(first, second)
        out = np.empty((len(first), len(second)))
        scratch = np.empty(self.n_nodes, np.int32), np.empty((self.n_nodes, self.dim + 2))
        walk_rows(self.oracle, first, second, *scratch, out)
        return out

    def _places(self) -> NDArray[np.float64]:
        head = heads(self.oracle.up, self.oracle.lengths <= 0)
        return head[self.oracle.position, None].astype(np.float64)

    def _fields(self) -> dict[str, NDArray[Any]]:
        return {"parent": self.parent, "weights": self.weights, "turns": self.turns}


def _polar(
    frames: FrameOracle,
    view: Preorder,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return directions and radii of all nodes, and a rough mean number of edges per path."""
    from .sarkar._coordinate_kernels import heavy_children, polar_coordinates

    n = len(view.order)
    heavy = np.empty(n, np.int32)
    heavy_children(view.up, view.size, heavy)
    directions = np.empty(frames.turns.shape)
    radii = np.empty(n)
    polar_coordinates(frames, view.size, heavy, view.order, directions, radii)
    return read_only(directions), read_only(radii), 2.0 * float(view.size.mean())


def _checked_view(parent: NDArray[Any], weights: NDArray[np.float64], turns: NDArray[np.float64]) -> Preorder:
    if parent.ndim != 1 or parent.dtype.kind not in "iu" or weights.shape != parent.shape:
        raise ValueError(
            f"expected parent and weights of shape (N,), got {parent.shape} of "
            f"{parent.dtype} and {weights.shape}"
        )
    if turns.ndim != 2 or len(turns) != len(parent) or turns.shape[1] < 2:
        raise ValueError(f"expected turns of shape (N, dim) with dim at least 2, got {turns.shape}")
    roots = np.flatnonzero(parent < 0)
    child = np.flatnonzero(parent >= 0)
    if len(roots) != 1 or (parent >= len(parent)).any():
        raise ValueError(
            f"parent has {len(roots)} roots and ids up to {parent.max(initial=-1)}: "
            "expected a tree with one root"
        )
    bad = ~((weights >= 0) & np.isfinite(weights)) | ((parent < 0) & (weights != 0))
    if bad.any():
        raise MetricError(
            f"the edge to node {np.argmax(bad)} has length {weights[np.argmax(bad)]}: "
            "lengths must be at least 0"
        )
    norms = np.linalg.norm(turns, axis=1)
    off = ~(np.abs(norms - 1) < 1e-9)
    if off.any():
        raise MetricError(
            f"the turn of node {np.argmax(off)} has norm {norms[np.argmax(off)]}: turns must be unit vectors"
        )
    # The reflection is inaccurate if these squares underflow.
    aside = np.einsum("ij,ij->i", turns[:, 1:], turns[:, 1:])
    faint = (aside < _SMALLEST_SQUARE) & turns[:, 1:].any(axis=1)
    if faint.any():
        raise MetricError(
            f"the turn of node {np.argmax(faint)} is too close to the e_1 axis for float64: use e_1 or a larger angle"
        )
    view = preorder(np.column_stack([parent[child], child]).astype(np.int64), weights[child], int(roots[0]))
    head = heads(view.up, view.length <= 0)
    back = (view.length > 0) & (head[view.up] > 0) & (turns[view.order, 0] <= -1 + 1e-15)
    if back.any():
        raise MetricError(
            f"the edge to node {view.order[np.argmax(back)]} leads back along its parent's "
            "edge: change its turn"
        )
    return view
