"""The arrays of a tree, and its distances."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.checks import whole_number
from ..metric._compiled import CompiledMetric
from ..metric.base import check_indices, check_labels, read_only
from ..metric.oracle.classes import TreeOracle
from ._validation import check_edges, check_tree, check_weights, read_only_copy
from .comparison.support import check_support
from .structure.ancestors import tree_oracle
from .structure.annotations import NONE, Annotations, check_annotations
from .structure.canonical import canonical_edges, canonical_numbers
from .structure.rooted import Preorder, Rooted, by_node, preorder
from .structure.walks import path_between, prefer_walk, symmetric_matrix, walked_block

#: The fields of a tree, in the order of `TreeMetric._trusted`.
FIELDS = ("n_points", "edges", "weights", "labels", "support", "order_known", "_annotations")


class TreeMetric(CompiledMetric):
    """The immutable arrays of a tree, and its distances. `Tree` adds operations on trees."""

    n_points: int
    edges: NDArray[np.int64]
    weights: NDArray[np.float64]
    support: NDArray[np.float64] | None
    _annotations: Annotations
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        n_points: int,
        edges: ArrayLike,
        weights: ArrayLike,
        labels: Sequence[object] | None = None,
        *,
        support: ArrayLike | None = None,
        order_known: bool = True,
        root: int | None = None,
        clade_names: Mapping[int, str] | None = None,
        root_length: float | None = None,
    ) -> None:
        n = whole_number(n_points, "n_points")
        if n < 1:
            raise ValueError(f"a tree needs at least one data point, not n_points={n}")
        pairs = read_only_copy(check_edges(edges, n).astype(np.int64, copy=False), edges)
        lengths = read_only_copy(check_weights(weights, pairs), weights)
        check_tree(pairs)
        shares = check_support(support, len(pairs))
        shares = None if shares is None else read_only_copy(shares, support)
        notes = check_annotations(n, len(pairs) + 1, root, clade_names, root_length)
        self._set(n, pairs, lengths, check_labels(labels, n), shares, bool(order_known), notes)

    @classmethod
    def _trusted(
        cls,
        n_points: int,
        edges: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: tuple[str, ...] | None = None,
        support: NDArray[np.float64] | None = None,
        order_known: bool = True,
        _annotations: Annotations = NONE,
    ) -> Self:
        """Create a tree from arrays that are known to be valid, without checks or copies."""
        tree = cls.__new__(cls)
        shares = None if support is None else read_only(support)
        arrays = read_only(edges), read_only(weights)
        tree._set(int(n_points), *arrays, labels, shares, order_known, _annotations)
        return tree

    @classmethod
    def _in_canonical_order(
        cls,
        n_points: int,
        edges: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: tuple[str, ...] | None,
        support: NDArray[np.float64] | None,
        order_known: bool = True,
        _annotations: Annotations = NONE,
    ) -> Self:
        if support is None and _annotations == NONE:
            ordered = canonical_edges(n_points, edges, weights)
            return cls._trusted(n_points, *ordered, labels, None, order_known)
        renumbered, before, nodes = canonical_numbers(n_points, edges)
        shares = None if support is None else support[before]
        notes = _annotations.renumbered(nodes, before)
        arrays = renumbered, weights[before]
        return cls._trusted(n_points, *arrays, labels, shares, order_known, notes)

    def _set(
        self,
        n_points: int,
        edges: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: tuple[str, ...] | None,
        support: NDArray[np.float64] | None,
        order_known: bool,
        _annotations: Annotations,
    ) -> None:
        self.__dict__.update(
            n_points=n_points,
            edges=edges,
            weights=weights,
            labels=labels,
            support=support,
            order_known=order_known,
            _annotations=_annotations,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"trees are immutable: create a new one with another {name}, e.g. with Tree.with_weights"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"trees are immutable: {name} cannot be deleted; create a new tree instead")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._trusted, self._arguments()

    def _arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `_trusted` for this tree."""
        return tuple(self.__dict__[name] for name in FIELDS)

    def __len__(self) -> int:
        return self.n_points

    def __repr__(self) -> str:
        steiner = self.n_nodes - self.n_points
        points = f"{self.n_points:,} point{'s' * (self.n_points != 1)}"
        return f"Tree({points}, {steiner:,} Steiner node{'s' * (steiner != 1)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeMetric):
            return NotImplemented
        return (
            self.n_points == other.n_points
            and self.labels == other.labels
            and np.array_equal(self.edges, other.edges)
            and np.array_equal(self.weights, other.weights)
        )

    @property
    def n_nodes(self) -> int:
        """Number N of nodes, including Steiner nodes."""
        return len(self.edges) + 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of edges at each node, an (N,) array."""
        return np.bincount(self.edges.ravel(), minlength=self.n_nodes)

    @property
    def total_length(self) -> float:
        """Sum of all edge lengths."""
        return math.fsum(self.weights)

    @property
    def root(self) -> int | None:
        """The node at which the tree is rooted, or None."""
        return self._annotations.root

    @property
    def root_length(self) -> float | None:
        """Length of the edge above the root, or None. It is not part of any distance."""
        return self._annotations.root_length

    @property
    def clade_names(self) -> dict[int, str]:
        """Names of internal nodes, by node."""
        return dict(self._annotations.clade_names)

    # Cached views.

    @cached_property
    def _view(self) -> Preorder:
        return preorder(self.edges, self.weights, 0)

    @cached_property
    def _rooted(self) -> Rooted:
        return by_node(self._view)

    @cached_property
    def oracle(self) -> TreeOracle:
        """The oracle of kernels: path lengths in O(1) from lowest common ancestors."""
        return tree_oracle(self._view)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.labels or ())}

    def rooted(self, at: int | str | None = None) -> Rooted:
        """Return parents, edge lengths, preorder and depths for a root. O(N).

        Parameters
        ----------
        at : int or label, optional
            The root, point 0 by default.

        Returns
        -------
        Rooted
            A named tuple of `root`, `parent` (-1 at the root), `length` (of the edge to the
            parent), `order` (preorder) and `depth` (distance to the root). Children are in the
            order of the smallest id in their subtree.

        Examples
        --------
        >>> import treerep as tr
        >>> tr.Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).rooted().depth
        array([0., 3., 1.])
        """
        if at is None:
            return self._rooted
        return by_node(self._view_from(self._node(at)))

    def _view_from(self, node: int) -> Preorder:
        return self._view if node == 0 else preorder(self.edges, self.weights, node)

    def _node(self, name: int | str) -> int:
        if isinstance(name, str):
            if name not in self._index:
                known = "the tree has no labels" if self.labels is None else "no point has this label"
                raise ValueError(f"{name!r} is not in the tree: {known}")
            return self._index[name]
        return int(check_indices(whole_number(name, "a node"), self.n_nodes))

    def _points(self, points: Iterable[int | str]) -> NDArray[np.int64]:
        if not isinstance(points, np.ndarray) or points.dtype.kind not in "iu":
            points = np.array([self._node(point) for point in points], dtype=np.int64)
        return check_indices(points, self.n_points).reshape(-1)

    # Distances.

    def _n_indices(self) -> int:
        return self.n_nodes

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row node to each column node, as a float64 array.

        Many columns take O(N) per row, by a traversal of the tree. Few columns take O(1) per
        distance, from lowest common ancestors.
        """
        first, second = (check_indices(x, self.n_nodes).reshape(-1) for x in (rows, cols))
        if len(first) and prefer_walk(len(second), self.n_nodes):
            return walked_block(self._view, first, second)
        return super().block(first, second)

    def distances(
        self, points: Iterable[int | str] | None = None, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the distance matrix of the data points. O(n N).

        Parameters
        ----------
        points : sequence of ids or labels, optional
            Return the distances of these points only.
        n_jobs : int, optional
            Number of threads; None uses all cores.

        Examples
        --------
        >>> import treerep as tr
        >>> tr.Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).distances()
        array([[0., 3.],
               [3., 0.]])
        """
        chosen = np.arange(self.n_points) if points is None else self._points(points)
        return symmetric_matrix(self.block, chosen, n_jobs)

    def path(self, i: int | str, j: int | str) -> NDArray[np.int64]:
        """Return the nodes on the path between two nodes (ids or labels), including both.

        Examples
        --------
        >>> import treerep as tr
        >>> tr.Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).path(1, 0)
        array([1, 2, 0])
        """
        return path_between(self._view, self._node(i), self._node(j))
