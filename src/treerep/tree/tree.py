"""`Tree`: a weighted tree, which is a metric on some of its nodes."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
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
from .comparison.support import carried_support, check_support, split_support
from .exchange.archives import load_fields, save_tree
from .exchange.linkage import linkage_matrix
from .exchange.newick_text import parse_newick, write_newick
from .exchange.node_graphs import Fields, from_networkx, from_skbio, to_networkx, to_skbio
from .exchange.notebook import rendered
from .operations.clusters import cut_clusters
from .operations.leaves import leaf_edges, points_inside
from .operations.reduction import contracted_edges, restricted_edges
from .operations.rerooting import joined_edges, midpoint_root, outgroup_root
from .structure.ancestors import tree_oracle
from .structure.annotations import NONE, Annotations, check_annotations
from .structure.canonical import canonical_edges, canonical_numbers
from .structure.rooted import Preorder, Rooted, by_node, preorder
from .structure.walks import path_between, prefer_walk, symmetric_matrix, walked_block

_FIELDS = ("n_points", "edges", "weights", "labels", "support", "order_known", "_annotations")


class Tree(CompiledMetric):
    """A tree with non-negative edge lengths, some of whose nodes are data points.

    Parameters
    ----------
    n_points : int
        Nodes 0 ... n_points-1 are the data points; nodes n_points ... N-1 are Steiner nodes.
    edges : (N-1, 2) whole numbers
    weights : (N-1,) real numbers, finite and not negative, with a finite sum
    labels : names of the data points, optional
    support : (N-1,) numbers from 0 to 1, optional
        The share of several trees that contain the split of each edge (see `with_support`), or
        NaN. `fit` with `trials` sets it; otherwise it is None. `==` and `isclose` ignore it.
    order_known : bool
        False if the numbers of the points come from a text (Newick, Nexus, GraphML) or from a
        graph of another library. Such a tree is matched to data only by its labels. `restrict`
        gives a tree in a known order. `==` and `isclose` ignore it.
    root : int, optional
        The node at which the tree is rooted, if it is. Trees of Newick and Nexus files keep
        their root. `==`, `isclose` and all distances ignore it.
    clade_names : mapping of Steiner nodes to names, optional
        Names of internal nodes, as files of phylogenies have them. `==` and `isclose` ignore
        them.

    A tree is a metric on its data points: `len(tree) == n_points`. `pairs`, `block` and `path`
    also accept Steiner nodes. A tree is immutable; its arrays are read-only. Edges that do not
    form a tree are refused, in O(N).

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
        root: int | None = None,
        clade_names: Mapping[int, str] | None = None,
    ) -> None:
        n = whole_number(n_points, "n_points")
        if n < 1:
            raise ValueError(f"a tree needs at least one data point, not n_points={n}")
        pairs = read_only_copy(check_edges(edges, n).astype(np.int64, copy=False), edges)
        lengths = read_only_copy(check_weights(weights, pairs), weights)
        check_tree(pairs)
        shares = check_support(support, len(pairs))
        shares = None if shares is None else read_only_copy(shares, support)
        notes = check_annotations(n, len(pairs) + 1, root, clade_names)
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
    ) -> "Tree":
        """Make a tree of arrays that are known to be valid, without checks or copies."""
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
    ) -> "Tree":
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
            f"a tree does not change: make a new one with another {name}, "
            "e.g. by Tree.with_weights"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"a tree does not change: {name} cannot be deleted, make a new tree instead"
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
        """Return the interactive page for notebooks, or a line about a large tree."""
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
        """Number of nodes N: data points and Steiner nodes."""
        return len(self.edges) + 1

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of edges at each node, (N,)."""
        return np.bincount(self.edges.ravel(), minlength=self.n_nodes)

    @property
    def total_length(self) -> float:
        """Sum of all weights."""
        return math.fsum(self.weights)

    @property
    def root(self) -> int | None:
        """The node at which the tree is rooted, or None."""
        return self._annotations.root

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
        """Root the tree at a node (id or label): parents, lengths, preorder and depths. O(N).

        Children are in the order of the smallest id in their subtree. The default root is
        point 0.

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
                    else "no point has that label"
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

        With many columns O(N) per row, by a walk over the tree; with few O(1) each, from common
        ancestors. The choice depends only on the number of columns and nodes.
        """
        first, second = (check_indices(x, self.n_nodes).reshape(-1) for x in (rows, cols))
        if len(first) and prefer_walk(len(second), self.n_nodes):
            return walked_block(self._view, first, second)
        return super().block(first, second)

    def distances(
        self, points: Iterable[int | str] | None = None, *, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Return the distance matrix of the data points, or of some (ids or labels). O(n N).

        >>> Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).distances()
        array([[0., 3.],
               [3., 0.]])
        """
        chosen = np.arange(self.n_points) if points is None else self._points(points)
        return symmetric_matrix(self.block, chosen, n_jobs)

    def path(self, i: int | str, j: int | str) -> NDArray[np.int64]:
        """Return the nodes on the path from i to j (ids or labels), both included.

        >>> Tree(2, [[0, 2], [2, 1]], [1.0, 2.0]).path(1, 0)
        array([1, 2, 0])
        """
        return path_between(self._view, self._node(i), self._node(j))

    # New trees.

    def with_weights(self, weights: ArrayLike) -> "Tree":
        """Return the same tree with other edge weights, in the order of `edges`."""
        return self._replace(
            weights=read_only_copy(check_weights(weights, self.edges), weights)
        )

    def with_support(self, trees: Iterable["Tree"]) -> "Tree":
        """Return the same tree with the share of `trees` that contain each edge's split."""
        notes = self._annotations._replace(support_text=None)
        return self._replace(support=split_support(self, trees), _annotations=notes)

    def with_root(self, root: int | str | None) -> "Tree":
        """Return the same tree rooted at a node (id or label), or with None without a root.

        A former root that has only two branches and no name is removed, so ids of Steiner nodes
        may change: see `root`.

        >>> tree = Tree.from_newick("((a:1,b:1):1,c:3);")
        >>> tree.with_root("c").newick()
        '((a:1.0,b:1.0):4.0,c:0.0);'
        """
        node = None if root is None else self._node(root)
        chosen = self._replace(_annotations=self._annotations._replace(root=node))
        old = self.root
        if old in (None, node) or old < self.n_points or old in self.clade_names:
            return chosen
        return chosen._without(old) if self.degrees[old] == 2 else chosen

    def _without(self, node: int) -> "Tree":
        """Return the tree with one edge in place of the two edges at a Steiner node."""
        edges, weights, nodes, kept = joined_edges(self.edges, self.weights, node)
        notes = self._annotations
        support = None
        if self.support is not None:
            both = np.flatnonzero((self.edges == node).any(axis=1))
            support = self.support.copy()
            support[both] = np.fmax(*support[both])
            support = support[kept]
            if notes.support_text is not None:
                texts = list(notes.support_text)
                texts[both[0]] = texts[both[0]] or texts[both[1]]
                notes = notes._replace(support_text=tuple(texts))
        fields = self.n_points, edges, weights, self.labels, support, self.order_known
        return Tree._in_canonical_order(*fields, notes.renumbered(nodes, kept))

    def with_leaves(self) -> "Tree":
        """Return a tree with the same distances in which every data point is a leaf. O(N).

        A data point inside the tree, or at its root, becomes a leaf at the end of a new edge of
        length 0. A Steiner node takes its place. Programs for phylogenies expect such trees.
        `contracted` reverses this.

        >>> Tree(3, [[0, 1], [1, 2]], [1.0, 2.0], labels="abc").with_leaves().newick()
        '(a:1.0,b:0.0,c:2.0);'
        """
        inside = points_inside(self.edges, self.n_points, self.root)
        if not len(inside):
            return self
        edges, weights, nodes = leaf_edges(self.edges, self.weights, inside)
        new = np.full(len(inside), np.nan)
        support = None if self.support is None else np.append(self.support, new)
        notes = self._annotations.renumbered(nodes)
        if notes.support_text is not None:
            notes = notes._replace(support_text=(*notes.support_text, *[""] * len(inside)))
        fields = self.n_points, edges, weights, self.labels, support, self.order_known, notes
        return Tree._in_canonical_order(*fields)

    def _replace(self, **changes: Any) -> "Tree":
        """Return a tree with other arguments of `_trusted`."""
        fields = self.__dict__
        kept = {name: fields[name] for name in _FIELDS}
        return Tree._trusted(**(kept | changes))

    def canonical(self) -> "Tree":
        """Return the tree with Steiner nodes numbered depth-first and edges sorted.

        Trees that differ only in the ids of Steiner nodes and the order of edges become equal.
        See `canonical_edges`.
        """
        return Tree._in_canonical_order(*self._arguments())

    def _in_order(
        self, order: NDArray[np.int64], labels: tuple[str, ...] | None, order_known: bool
    ) -> "Tree":
        """Return the same tree with its points in another order: point i was point order[i].

        O(N).
        """
        number = np.arange(self.n_nodes)
        number[order] = np.arange(self.n_points)
        fields = self.n_points, number[self.edges], self.weights, labels, self.support
        notes = self._annotations.renumbered(number)
        return Tree._in_canonical_order(*fields, order_known, notes)

    def _settled(self) -> "Tree":
        """Return the same tree with its order known. Call this once the points are matched."""
        return self if self.order_known else self._replace(order_known=True)

    def restrict(self, points: Iterable[int | str]) -> "Tree":
        """Return the subtree spanned by some points (ids or labels), in the given order. O(N).

        Distances and labels are kept. Steiner nodes that become leaves, or have only two
        neighbors, are removed. The result is canonical, and its order is known. Support is kept
        only if all points are: the share of a split of all points does not apply to a part.
        The root and the names of clades are not kept.
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

        Edges of length at most `tol` with a Steiner node at one end are contracted. Two data
        points stay two nodes, even at distance 0. Then Steiner leaves and Steiner nodes with
        two neighbors are removed. With tol=0 no distance between data points changes. The
        remaining edges keep their splits and their support. The root and the names of clades
        are not kept. The result is canonical.
        """
        if not tol >= 0:
            raise ValueError(f"tol must be a length, 0 or more, not {tol!r}")
        edges, weights = contracted_edges(self._view, self.n_points, float(tol))
        small = Tree._trusted(
            self.n_points, edges, weights, self.labels, None, self.order_known
        )
        return self._carry_support(small, np.arange(self.n_points))

    def _carry_support(self, part: "Tree", points: NDArray[np.int64]) -> "Tree":
        support = carried_support(self, part, points)
        return part if support is None else part._replace(support=support)

    def cut(self, k: int) -> NDArray[np.int64]:
        """Cut the tree into k clusters; return the cluster of each point.

        Removes k-1 edges. Each one is chosen to lower the sum over clusters C of (1/|C|) sum of
        d(i, j) over pairs in C most. This is Ward's criterion, for which tree distances are
        squared Euclidean ones. Each cut takes linear time in the part that it cuts. Clusters
        are numbered by first appearance.

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
        """Tell whether two trees are equal up to Steiner ids, zero lengths and rounding. O(N).

        They must have the same labels in the same order. Each split of either tree must have
        the same length in both, within `rtol` times the largest distance from point 0. An
        absent split has length 0.
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
        """Return the Robinson-Foulds and path-length distance of two trees on the same points.

        Points are matched by label if both trees have labels, otherwise by position. Edges of
        length 0 make no split. A split of one point from all others counts if only one tree has
        it. If all points are leaves of both trees, this is the usual Robinson-Foulds distance.
        Exact, O(N). `path` is the Euclidean norm over all pairs and takes O(n N); with
        path=False it is nan.

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

    def newick(
        self,
        root: int | str | None = None,
        *,
        digits: int | None = None,
        leaves: bool = True,
    ) -> str:
        """Write the tree as Newick text. Names are the labels or the point numbers.

        `root` is a node id or label. The default is the root of the tree, if it has one,
        otherwise a Steiner node next to point 0. Lengths are written exactly, or with the given
        number of significant digits.

        Data points inside the tree are written as leaves at distance 0, as programs for
        phylogenies expect (see `with_leaves`). With leaves=False they are names of inner nodes.

        An inner node has the name of its clade or, without a name, the support of the edge
        above it: as in the file that it was read from, otherwise a share with four decimals.
        `save` keeps both.

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
        tree = self if root is None else self.with_root(root)
        tree = tree.with_leaves() if leaves else tree
        return write_newick(tree, tree._view_from(tree._default_root()), digits)

    def _default_root(self) -> int:
        if self.root is not None:
            return self.root
        beside = self.edges[(self.edges == 0).any(axis=1)].max(axis=1, initial=0)
        steiner = beside[beside >= self.n_points]
        return int(steiner.min()) if len(steiner) else 0

    @classmethod
    def from_newick(
        cls,
        text: str,
        *,
        default_length: float | None = None,
        inner_labels: str = "clades",
        negative_lengths: str = "error",
    ) -> "Tree":
        """Read a tree from Newick text.

        Leaves become data points, numbered as they appear in the text. Names that are exactly
        0 ... n-1, as `newick` writes a tree without labels, are point numbers, not labels. The
        order in the text is not that of the data (`order_known` is False): the points are
        matched by label. Underscores are kept. The outermost node is the root of the tree.

        A missing length is refused unless `default_length` is given. Negative lengths, which
        other programs may write, are refused, or with negative_lengths="zero" set to 0.

        Names of inner nodes are names of clades. Numbers there, without quotes, are the support
        of the edge above: shares up to 1, or percentages if one is larger than 1. If several
        numbers are joined by slashes, the last one counts (98.7/100, as IQ-TREE writes SH-aLRT
        and bootstrap support). With inner_labels="points", names of inner nodes are data points;
        with "ignore", names and numbers of inner nodes are ignored.

        >>> Tree.from_newick("((a:1,b:2):0.5,c:3);").labels
        ('a', 'b', 'c')
        >>> tree = Tree.from_newick("((a:1,b:2)95:0.5,(c:3,d:1)Canidae:1);")
        >>> tree.newick(), float(np.nanmax(tree.support))
        ('((a:1.0,b:2.0)95:0.5,(c:3.0,d:1.0)Canidae:1.0);', 0.95)
        """
        parsed = parse_newick(text, default_length, inner_labels, negative_lengths)
        return cls._in_canonical_order(*parsed[:5], False, parsed.annotations)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a .npz or .json file, whole or not at all."""
        save_tree(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Tree":
        """Read a tree written by `save`."""
        fields = load_fields(path)
        try:
            return cls(**fields)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    def to_networkx(self) -> NetworkXGraph:
        """Return a networkx.Graph on the node ids.

        Edges have `weight`, and `support` if it is known. Nodes have `steiner`; data points also
        have `label`.
        """
        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: NetworkXGraph, *, weight: str | None = "weight") -> "Tree":
        """Read a tree from an undirected networkx graph without cycles.

        Nodes are data points unless their attribute `steiner` is true. Labels are the attribute
        `label`, or the nodes themselves. `weight` names the attribute with the length of an
        edge; with None all have length 1. The points are matched to data by label, not by the
        order of the nodes.
        """
        return cls._of_fields(from_networkx(graph, weight))

    def to_skbio(self, root: int | str | None = None) -> SkbioNode:
        """Return a skbio.TreeNode, rooted as in `newick`, with all data points as leaves."""
        tree = self if root is None else self.with_root(root)
        return to_skbio(tree.with_leaves())

    @classmethod
    def from_skbio(cls, tree: SkbioNode, *, default_length: float | None = None) -> "Tree":
        """Read a tree from a skbio.TreeNode, by the rules of `from_newick`."""
        return cls._of_fields(from_skbio(tree, default_length))

    @classmethod
    def _of_fields(cls, fields: Fields) -> "Tree":
        tree = cls(*fields[:4], support=fields.support, order_known=False)
        return tree._replace(_annotations=fields.annotations).canonical()

    def to_linkage(self, *, rtol: float = 1e-9) -> NDArray[np.float64]:
        """Return an ultrametric tree as SciPy's linkage matrix, (n-1, 4). O(N log N).

        The height of a merge is the distance between the points that it joins. A node with more
        than two branches becomes several merges of one height. Points whose distances to the
        root differ by more than `rtol` are refused.

        >>> Tree(3, [[0, 3], [1, 3], [3, 4], [4, 2]], [1.0, 1.0, 0.5, 1.5]).to_linkage()
        array([[0., 1., 2., 2.],
               [2., 3., 3., 3.]])
        """
        return linkage_matrix(self, rtol)

    # Roots.

    def root_at_midpoint(self) -> tuple["Tree", int]:
        """Return the tree and the node in the middle of its longest path. O(N).

        This root is appropriate under a molecular clock. If no node is there, the result is a
        new tree with a Steiner node there and the same distances. The tree is rooted there.

        >>> tree, root = Tree(2, [[0, 1]], [3.0], labels="ab").root_at_midpoint()
        >>> tree.newick()
        '(a:1.5,b:1.5);'
        """
        return _rooted_at(*midpoint_root(self))

    def root_at_outgroup(self, points: int | str | Iterable[int | str]) -> tuple["Tree", int]:
        """Return the tree and a node on the edge that separates an outgroup. O(N).

        The outgroup is one point or several (ids or labels). It is refused if it is not a
        branch of the tree. The node is a Steiner node in the middle of the edge. The result is
        a new tree with the same distances, unless a Steiner node already lies there. The tree
        is rooted there.

        >>> tree, root = Tree.from_newick("((a:1,b:1):1,c:1,d:2);").root_at_outgroup("d")
        >>> tree.newick()
        '(((a:1.0,b:1.0):1.0,c:1.0):1.0,d:1.0);'
        """
        return _rooted_at(*outgroup_root(self, points))


def _rooted_at(tree: Tree, node: int) -> tuple[Tree, int]:
    rooted = tree.with_root(node)
    return rooted, int(rooted.root)  # type: ignore[arg-type]


def _require_tree(other: object) -> None:
    if not isinstance(other, Tree):
        kind = type(other).__name__
        raise TypeError(
            f"a tree is compared with a tree here, not with {kind}: "
            "average_distortion takes any metric"
        )
