"""`Tree`: a weighted tree that is a metric on its data points."""

import math
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.checks import whole_number
from .._core.typing import NetworkXGraph, SkbioNode
from ..metric._compiled import CompiledMetric
from ..metric._matching import matched
from ..metric.base import check_indices, check_labels, read_only
from ..metric.oracle.classes import TreeOracle
from ._validation import check_edges, check_tree, check_weights, read_only_copy
from .comparison.difference import TreeDifference, branches, path_difference, robinson_foulds
from .comparison.support import carried_support, check_support, split_support, support_above
from .exchange.archives import load_fields, save_tree
from .exchange.linkage import linkage_matrix
from .exchange.newick_text import parse_newick, write_newick
from .exchange.node_graphs import Fields, from_networkx, from_skbio, to_networkx, to_skbio
from .exchange.notebook import rendered
from .operations.clusters import cut_clusters
from .operations.reduction import contracted_edges, restricted_edges
from .operations.rerooting import midpoint_root, outgroup_root
from .structure.ancestors import tree_oracle
from .structure.canonical import canonical_edges
from .structure.rooted import Preorder, Rooted, by_node, preorder
from .structure.walks import path_between, prefer_walk, symmetric_matrix, walked_block

_FIELDS = ("n_points", "edges", "weights", "labels", "support", "order_known")


class Tree(CompiledMetric):
    """A tree with non-negative edge lengths. Some or all of its nodes are data points.

    `fit` and `formats.read_tree` return trees. A tree is a `Metric` on its data points, and
    `len(tree)` is their number. Trees are immutable, and their arrays are read-only.

    Parameters
    ----------
    n_points : int
        Number of data points. Nodes 0 ... n_points-1 are the data points, and nodes n_points
        ... N-1 are Steiner nodes (internal nodes that are not data points).
    edges : (N-1, 2) array of integers
        The two ends of each edge. Edges that do not form a tree raise a ValueError.
    weights : (N-1,) array of floats
        Length of each edge, finite and not negative.
    labels : sequence, optional
        Labels of the data points.
    support : (N-1,) array of floats from 0 to 1, optional
        Support of each edge: the share of several trees that contain its split, or NaN. `fit`
        sets it if `trials` is more than 1.
    order_known : bool
        False if the numbers of the points come from a text file (Newick, Nexus, GraphML) or
        from another library. The points of such a tree are matched to data by label only.
        `restrict` returns a tree in a known order.

    Attributes
    ----------
    n_points : int
        Number of data points.
    edges : (N-1, 2) array
        The two ends of each edge.
    weights : (N-1,) array
        Length of each edge.
    labels : tuple of str, or None
        Labels of the data points.
    support : (N-1,) array, or None
        Support of each edge.
    order_known : bool
        Whether the numbers of the points are those of the data.

    See Also
    --------
    fit : Fit a tree.
    refine : Improve a tree.
    draw : Draw a tree.
    formats.read_tree : Read a tree from a file.
    formats.write_tree : Write a tree to a file.

    Notes
    -----
    Construction validates the edges in O(N). `==` and `isclose` ignore `support` and
    `order_known`. `pairs`, `block` and `path` also accept Steiner nodes.

    Examples
    --------
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
    >>> tree
    Tree(3 points, 1 Steiner node)
    >>> tree.pairs([0, 0], [1, 2])
    array([3., 4.])
    """

    n_points: int
    edges: NDArray[np.int64]
    weights: NDArray[np.float64]
    support: NDArray[np.float64] | None
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
    ) -> None:
        n = whole_number(n_points, "n_points")
        if n < 1:
            raise ValueError(f"a tree needs at least one data point, not n_points={n}")
        pairs = read_only_copy(check_edges(edges, n).astype(np.int64, copy=False), edges)
        lengths = read_only_copy(check_weights(weights, pairs), weights)
        check_tree(pairs)
        shares = check_support(support, len(pairs))
        shares = None if shares is None else read_only_copy(shares, support)
        self._set(n, pairs, lengths, check_labels(labels, n), shares, bool(order_known))

    @classmethod
    def _trusted(
        cls,
        n_points: int,
        edges: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: tuple[str, ...] | None = None,
        support: NDArray[np.float64] | None = None,
        order_known: bool = True,
    ) -> "Tree":
        """Create a tree from arrays that are known to be valid, without checks or copies."""
        tree = cls.__new__(cls)
        shares = None if support is None else read_only(support)
        tree._set(
            int(n_points), read_only(edges), read_only(weights), labels, shares, order_known
        )
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
    ) -> "Tree":
        if support is None:
            ordered = canonical_edges(n_points, edges, weights)
            return cls._trusted(n_points, *ordered, labels, None, order_known)
        # Pass edge numbers as lengths, to find the new order. They are exact up to 2^53.
        renumbered, numbers = canonical_edges(n_points, edges, np.arange(len(edges)))
        before = numbers.astype(np.int64)
        return cls._trusted(
            n_points, renumbered, weights[before], labels, support[before], order_known
        )

    def _set(
        self,
        n_points: int,
        edges: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: tuple[str, ...] | None,
        support: NDArray[np.float64] | None,
        order_known: bool,
    ) -> None:
        self.__dict__.update(
            n_points=n_points,
            edges=edges,
            weights=weights,
            labels=labels,
            support=support,
            order_known=order_known,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"trees are immutable: create a new one with another {name}, e.g. with Tree.with_weights"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"trees are immutable: {name} cannot be deleted; create a new tree instead"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree._trusted, self._arguments()

    def _arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `_trusted` for this tree."""
        return tuple(self.__dict__[name] for name in _FIELDS)

    def __len__(self) -> int:
        return self.n_points

    def __repr__(self) -> str:
        steiner = self.n_nodes - self.n_points
        points = f"{self.n_points:,} point{'s' * (self.n_points != 1)}"
        return f"Tree({points}, {steiner:,} Steiner node{'s' * (steiner != 1)})"

    def _repr_html_(self) -> str:
        """Return the interactive page for notebooks, or one line for a large tree."""
        return rendered(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
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
        >>> Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).rooted().depth
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
                known = (
                    "the tree has no labels"
                    if self.labels is None
                    else "no point has this label"
                )
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
        >>> Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).distances()
        array([[0., 3.],
               [3., 0.]])
        """
        chosen = np.arange(self.n_points) if points is None else self._points(points)
        return symmetric_matrix(self.block, chosen, n_jobs)

    def path(self, i: int | str, j: int | str) -> NDArray[np.int64]:
        """Return the nodes on the path between two nodes (ids or labels), including both.

        Examples
        --------
        >>> Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).path(1, 0)
        array([1, 2, 0])
        """
        return path_between(self._view, self._node(i), self._node(j))

    # New trees.

    def with_weights(self, weights: ArrayLike) -> "Tree":
        """Return the same tree with other edge lengths, in the order of `Tree.edges`."""
        return self._replace(
            weights=read_only_copy(check_weights(weights, self.edges), weights)
        )

    def with_support(self, trees: Iterable["Tree"]) -> "Tree":
        """Return the same tree with support: the share of `trees` that contain each split."""
        return self._replace(support=split_support(self, trees))

    def _replace(self, **changes: Any) -> "Tree":
        """Return a tree with other arguments of `_trusted`."""
        fields = self.__dict__
        kept = {name: fields[name] for name in _FIELDS}
        return Tree._trusted(**(kept | changes))

    def canonical(self) -> "Tree":
        """Return the tree with Steiner nodes numbered depth-first and edges sorted.

        Trees that differ only in the ids of Steiner nodes and in the order of edges become
        equal.
        """
        return Tree._in_canonical_order(*self._arguments())

    def _in_order(
        self, order: NDArray[np.int64], labels: tuple[str, ...] | None, order_known: bool
    ) -> "Tree":
        """Return the same tree with its points in another order: point i was point order[i]. O(N)."""
        number = np.arange(self.n_nodes)
        number[order] = np.arange(self.n_points)
        edges = number[self.edges]
        return Tree._in_canonical_order(
            self.n_points, edges, self.weights, labels, self.support, order_known
        )

    def _settled(self) -> "Tree":
        """Return the same tree with `order_known` set. Call this after matching the points."""
        return self if self.order_known else self._replace(order_known=True)

    def restrict(self, points: Iterable[int | str]) -> "Tree":
        """Return the subtree spanned by some points, in the given order. O(N).

        Distances and labels do not change. Steiner nodes that become leaves or have two
        neighbors are removed. Support is kept only if all points are kept, because splits of
        all points do not apply to a subset. The result is canonical, and its order is known.

        Parameters
        ----------
        points : sequence of ids or labels
            The points to keep.
        """
        chosen = self._points(points)
        if len(chosen) == 0:
            raise ValueError("choose at least one point")
        repeated = np.flatnonzero(np.bincount(chosen) > 1)
        if len(repeated):
            raise ValueError(
                f"point {repeated[0]} is chosen more than once: choose each point once"
            )
        edges, weights = restricted_edges(self._view_from(int(chosen[0])), chosen)
        labels = None if self.labels is None else tuple(self.labels[i] for i in chosen)
        part = Tree._trusted(len(chosen), edges, weights, labels)
        return part if len(chosen) < len(self) else self._carry_support(part, chosen)

    def contracted(self, tol: float = 0.0) -> "Tree":
        """Return the tree without unnecessary Steiner nodes. O(N).

        First, edges of length at most `tol` that end in a Steiner node are contracted. Then
        Steiner nodes that are leaves or have two neighbors are removed. Two data points always
        stay two nodes, even at distance 0. With `tol=0`, the distances between data points do
        not change. The remaining edges keep their support. The result is canonical.

        Parameters
        ----------
        tol : float
            Largest length to contract.
        """
        if not tol >= 0:
            raise ValueError(f"tol must be a length of at least 0, not {tol!r}")
        edges, weights = contracted_edges(self._view, self.n_points, float(tol))
        small = Tree._trusted(
            self.n_points, edges, weights, self.labels, None, self.order_known
        )
        return self._carry_support(small, np.arange(self.n_points))

    def _carry_support(self, part: "Tree", points: NDArray[np.int64]) -> "Tree":
        support = carried_support(self, part, points)
        return part if support is None else part._replace(support=support)

    def cut(self, k: int) -> NDArray[np.int64]:
        """Cut the tree into k clusters and return the cluster of each point.

        Clusters are numbered by first appearance.

        Parameters
        ----------
        k : int
            Number of clusters.

        Notes
        -----
        The method removes k-1 edges. Each edge is the one that most reduces the sum, over
        clusters C, of (1/|C|) times the sum of d(i, j) over pairs in C. This is Ward's
        criterion, with tree distances as squared Euclidean distances. Each cut takes time
        linear in the part that it divides.

        Examples
        --------
        >>> Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0, 1.0, 5.0, 1.0, 1.0]).cut(2)
        array([0, 0, 1, 1])
        """
        if not 1 <= whole_number(k, "k") <= self.n_points:
            raise ValueError(
                f"k must be between 1 and the number of points, {self.n_points}, not {k}"
            )
        return cut_clusters(self._view, self.n_points, k)[: self.n_points]

    # Comparison.

    def isclose(self, other: "Tree", rtol: float = 1e-9) -> bool:
        """Return whether two trees are equal up to Steiner ids, zero lengths and rounding.

        Takes O(N).

        The trees must have the same labels in the same order. Each split must have the same
        length in both trees, up to `rtol` times the largest distance from point 0. A missing
        split has length 0.
        """
        _require_tree(other)
        if self.n_points != other.n_points or self.labels != other.labels:
            return False
        splits = branches(self._view, other._view, self.n_points)
        largest = max(float(tree.rooted().depth.max()) for tree in (self, other))
        return bool(np.all(np.abs(splits.first - splits.second) <= rtol * largest))

    def difference(
        self, other: "Tree", *, path: bool = True, n_jobs: int | None = None
    ) -> TreeDifference:
        """Return the Robinson-Foulds and path-length distances to another tree.

        Both trees have the same points. Points are matched by label if both trees have labels,
        otherwise by position.

        Parameters
        ----------
        other : Tree
            The tree to compare with.
        path : bool
            Whether to compute the path-length distance.
        n_jobs : int, optional
            Number of threads; None uses all cores.

        Returns
        -------
        TreeDifference
            A named tuple of `robinson_foulds` (number of splits in exactly one of the trees),
            `normalized` (this number divided by its largest possible value) and ``path``
            (Euclidean norm of the differences of all path lengths, or NaN if ``path`` is
            False).

        Notes
        -----
        Exact. Splits take O(N), and path lengths take O(n N). Edges of length 0 make no split.
        A split of one point from all others counts if only one tree has it. If all points are
        leaves of both trees, the result is the usual Robinson-Foulds distance.

        Examples
        --------
        >>> star = Tree(4, [[0, 4], [1, 4], [2, 4], [3, 4]], [1.0] * 4)
        >>> star.difference(Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5))
        TreeDifference(robinson_foulds=1, normalized=1.0, path=2.0)
        """
        _require_tree(other)
        other = matched(other, self, ("the other tree", "this tree"))
        count, normalized = robinson_foulds(branches(self._view, other._view, self.n_points))
        return TreeDifference(
            count, normalized, path_difference(self, other, n_jobs) if path else math.nan
        )

    # Conversion.

    def newick(self, root: int | str | None = None, *, digits: int | None = None) -> str:
        """Return the tree as Newick text.

        Parameters
        ----------
        root : int or label, optional
            The root. The default is a Steiner node next to point 0, or point 0 if there is
            none.
        digits : int, optional
            Significant digits of the lengths. By default lengths are written exactly.

        Notes
        -----
        Nodes are named by their labels, or by their numbers if the tree has no labels. The
        support of an edge is written as the name of the internal node below the edge, with four
        decimals. A data point that is an internal node keeps its label instead, and its support
        is not written; `save` keeps all support. Labels of internal nodes that look like
        support are quoted.

        Examples
        --------
        >>> Tree(
        ...     3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 0.5], labels=["a", "b", "it's"]
        ... ).newick()
        "(a:1.0,b:2.0,'it''s':0.5);"
        >>> edges, none = [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], float("nan")
        >>> Tree(
        ...     4, edges, [1.0] * 5, labels="abcd", support=[none, none, 0.95, none, none]
        ... ).newick()
        '(a:1.0,b:1.0,(c:1.0,d:1.0)0.95:1.0);'
        """
        node = self._default_root() if root is None else self._node(root)
        view = self._view_from(node)
        above = None if self.support is None else support_above(view, self.edges, self.support)
        return write_newick(view, self.n_points, self.labels, digits, above)

    def _default_root(self) -> int:
        beside = self.edges[(self.edges == 0).any(axis=1)].max(axis=1, initial=0)
        steiner = beside[beside >= self.n_points]
        return int(steiner.min()) if len(steiner) else 0

    @classmethod
    def from_newick(
        cls, text: str, *, default_length: float | None = None, inner_labels: bool = True
    ) -> "Tree":
        """Read a tree from Newick text.

        Named nodes become data points, numbered in the order of the text. Internal nodes
        without a name become Steiner nodes. Points are matched to data by label (`order_known`
        is False). If the names are exactly 0 ... n-1, they are point numbers, not labels.

        Parameters
        ----------
        text : str
            One tree. Underscores in names are kept.
        default_length : float, optional
            Length of edges without a length. By default a missing length raises an error.
        inner_labels : bool
            Whether to read the names of internal nodes. False ignores names and support.

        Notes
        -----
        An unquoted decimal number from 0 to 1 as the name of an internal node is the support of
        the edge above the node. It is ignored at the root. If there is such a number, an
        internal 0 or 1 is also support. Other internal numbers, such as 95, raise an error,
        unless all points are numbered. Quoted numbers are names.

        Examples
        --------
        >>> Tree.from_newick("((a:1,b:2):0.5,c:3);").labels
        ('a', 'b', 'c')
        >>> Tree.from_newick("((a:1,b:2)0.95:0.5,c:3,d:1);").support
        array([ nan,  nan,  nan,  nan, 0.95])
        """
        return cls._in_canonical_order(
            *parse_newick(text, default_length, inner_labels), order_known=False
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a .npz or .json file. The file is never left incomplete."""
        save_tree(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Tree":
        """Read a tree written by `Tree.save`."""
        fields = load_fields(path)
        try:
            return cls(**fields)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    def to_networkx(self) -> NetworkXGraph:
        """Return a networkx Graph on the node ids.

        Edges have the attribute `weight`, and `support` if it is known. Nodes have the
        attribute `steiner`, and data points also have `label`.
        """
        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: NetworkXGraph, *, weight: str | None = "weight") -> "Tree":
        """Read a tree from an undirected networkx graph without cycles.

        Points are matched to data by label, not by the order of the nodes.

        Parameters
        ----------
        graph : networkx Graph
            Nodes are data points unless their attribute `steiner` is true. Labels are the
            attribute `label`, or the nodes themselves.
        weight : str or None
            Edge attribute that holds the lengths. With None, all edges have length 1.
        """
        return cls._of_fields(from_networkx(graph, weight))

    def to_skbio(self, root: int | str | None = None) -> SkbioNode:
        """Return a scikit-bio TreeNode, rooted as in `Tree.newick`. Steiner nodes have no name."""
        return to_skbio(self, root)

    @classmethod
    def from_skbio(cls, tree: SkbioNode, *, default_length: float | None = None) -> "Tree":
        """Read a tree from a scikit-bio TreeNode, by the rules of `Tree.from_newick`."""
        return cls._of_fields(from_skbio(tree, default_length))

    @classmethod
    def _of_fields(cls, fields: Fields) -> "Tree":
        return cls(*fields[:4], support=fields.support, order_known=False).canonical()

    def to_linkage(self, *, rtol: float = 1e-9) -> NDArray[np.float64]:
        """Return an ultrametric tree as SciPy's linkage matrix, an (n-1, 4) array. O(N log N).

        The height of a merge is the distance between the points that it joins. A node with more
        than two branches becomes several merges of the same height.

        Parameters
        ----------
        rtol : float
            Relative tolerance. If the distances from the points to the root differ by more, a
            ValueError is raised.

        Examples
        --------
        >>> Tree(3, [[0, 3], [1, 3], [3, 4], [4, 2]], [1.0, 1.0, 0.5, 1.5]).to_linkage()
        array([[0., 1., 2., 2.],
               [2., 3., 3., 3.]])
        """
        return linkage_matrix(self, rtol)

    # Roots.

    def root_at_midpoint(self) -> tuple["Tree", int]:
        """Return the tree and the node in the middle of its longest path. O(N).

        This root is appropriate under a molecular clock. If the middle is not a node, the
        result is a new tree with a Steiner node in the middle and the same distances.

        Examples
        --------
        >>> tree, root = Tree(2, [[0, 1]], [3.0], labels="ab").root_at_midpoint()
        >>> tree.newick(root)
        '(a:1.5,b:1.5);'
        """
        return midpoint_root(self)

    def root_at_outgroup(self, points: int | str | Iterable[int | str]) -> tuple["Tree", int]:
        """Return the tree and a node on the edge that separates an outgroup. O(N).

        The node is a Steiner node in the middle of the edge. If the middle is not a Steiner
        node yet, the result is a new tree with the same distances.

        Parameters
        ----------
        points : id, label, or several
            The outgroup. It must be a branch of the tree.

        Examples
        --------
        >>> tree, root = Tree.from_newick("((a:1,b:1):1,c:1,d:2);").root_at_outgroup("d")
        >>> tree.newick(root)
        '(((a:1.0,b:1.0):1.0,c:1.0):1.0,d:1.0);'
        """
        return outgroup_root(self, points)


def _require_tree(other: object) -> None:
    if not isinstance(other, Tree):
        kind = type(other).__name__
        raise TypeError(
            f"expected a Tree to compare with, not {kind}: for other metrics, use average_distortion"
        )
