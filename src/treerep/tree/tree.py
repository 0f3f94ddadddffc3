"""`Tree`: a weighted tree that is a metric on its data points."""

import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.checks import whole_number
from .._core.typing import NetworkXGraph, SkbioNode
from ..metric._matching import matched, values_in_order
from ._tree_metric import FIELDS, TreeMetric
from ._validation import check_weights, read_only_copy
from .comparison.difference import (
    TreeDifference,
    length_changes,
    path_difference,
    robinson_foulds,
)
from .comparison.splits import divisions, inner_splits
from .comparison.support import carried_support, split_support
from .exchange.archives import load_fields, save_tree
from .exchange.linkage import linkage_matrix
from .exchange.newick_text import parse_newick, write_newick
from .exchange.node_graphs import Fields, from_networkx, from_skbio, to_networkx, to_skbio
from .exchange.notebook import rendered
from .operations.clusters import cut_clusters
from .operations.leaves import leaf_edges, points_inside
from .operations.reduction import contracted_edges, restricted_edges
from .operations.rerooting import joined_edges, midpoint_root, outgroup_root
from .operations.states import checked_values, checked_variance, node_states


class Tree(TreeMetric):
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
        Support of each edge: the share of several trees that contain its split, or NaN if it is not
        known or the edge makes no split. `fit` sets the support if `trials` is more than 1.
    order_known : bool
        False if the numbers of the points come from a text file (Newick, Nexus, GraphML) or from
        another library. The points of such a tree are matched to data by label only. `restrict`
        returns a tree whose points are in a known order.
    root : int, optional
        The node at which the tree is rooted. Trees from Newick and Nexus files keep their root.
    clade_names : mapping, optional
        Names of internal nodes: from Steiner nodes to text.
    root_length : float, optional
        Length of the edge above the root, such as the stem of a dated tree. It is kept in files,
        and is not part of any distance.

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
    Construction validates the edges in O(N). `==` and `isclose` ignore `support`,
    `order_known`, `root`, `root_length` and `clade_names`. `pairs`, `block` and `path` also accept Steiner nodes.

    Examples
    --------
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
    >>> tree
    Tree(3 points, 1 Steiner node)
    >>> tree.pairs([0, 0], [1, 2])
    array([3., 4.])
    """

    def _repr_html_(self) -> str:
        """Return the interactive page for notebooks, or one line for a large tree."""
        return rendered(self)

    # New trees.

    def with_weights(self, weights: ArrayLike) -> "Tree":
        """Return the same tree with other edge lengths, in the order of `Tree.edges`."""
        return self._replace(weights=read_only_copy(check_weights(weights, self.edges), weights))

    def with_support(self, trees: Iterable["Tree"], *, zero_edges: bool = False) -> "Tree":
        """Return the same tree with support: the share of `trees` that contain each split.

        Parameters
        ----------
        trees : one or more trees on the same points
            For example bootstrap replicates. Points are matched by label if the trees have labels,
            otherwise by position.
        zero_edges : bool
            Whether edges of length 0 make splits. By default, an edge of length 0 in this tree has
            no support (NaN), and such an edge in another tree does not support anything.

        Notes
        -----
        The edge of a leaf makes no split, and has no support (NaN). O(N log N) time for each tree.

        Examples
        --------
        >>> tree = Tree.from_newick("(a:1,b:1,(c:1,d:1):1);")
        >>> tree.with_support([tree, Tree.from_newick("(a:1,c:1,(b:1,d:1):1);")]).newick()
        '(a:1.0,b:1.0,(c:1.0,d:1.0)0.5:1.0);'
        """
        notes = self._annotations._replace(support_text=None)
        support = split_support(self, trees, zero_edges)
        return self._replace(support=support, _annotations=notes)

    def with_root(self, root: int | str | None) -> "Tree":
        """Return the same tree rooted at a node.

        A former root that has only two branches and no name is removed. The numbers of Steiner
        nodes may change, and `root` is the new number. Another root has no `root_length`.

        Parameters
        ----------
        root : int or label
            The new root. None removes the root.

        Examples
        --------
        >>> tree = Tree.from_newick("((a:1,b:1):1,c:3);")
        >>> tree.with_root("c").newick()
        '((a:1.0,b:1.0):4.0,c:0.0);'
        """
        node = None if root is None else self._node(root)
        old = self.root
        notes = self._annotations._replace(root=node)
        if node != old:
            notes = notes._replace(root_length=None)
        chosen = self._replace(_annotations=notes)
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

        A Steiner node replaces each data point that is an internal node or the root. The point
        becomes a leaf at the end of a new edge of length 0. Other programs for phylogenies
        expect such trees. `contracted` reverses the change.

        Examples
        --------
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
        kept = {name: fields[name] for name in FIELDS}
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
        fields = self.n_points, number[self.edges], self.weights, labels, self.support
        notes = self._annotations.renumbered(number)
        return Tree._in_canonical_order(*fields, order_known, notes)

    def _settled(self) -> "Tree":
        """Return the same tree with `order_known` set. Call this after matching the points."""
        return self if self.order_known else self._replace(order_known=True)

    def restrict(self, points: Iterable[int | str]) -> "Tree":
        """Return the subtree spanned by some points, in the given order. O(N).

        Distances and labels do not change. Steiner nodes that become leaves or have two
        neighbors are removed. Support is kept only if all points are kept, because splits of
        all points do not apply to a subset. The root and the names of clades are not kept. The
        result is canonical, and its order is known.

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
            raise ValueError(f"point {repeated[0]} is chosen more than once: choose each point once")
        edges, weights = restricted_edges(self._view_from(int(chosen[0])), chosen)
        labels = None if self.labels is None else tuple(self.labels[i] for i in chosen)
        part = Tree._trusted(len(chosen), edges, weights, labels)
        return part if len(chosen) < len(self) else self._carry_support(part, chosen)

    def contracted(self, tol: float = 0.0) -> "Tree":
        """Return the tree without unnecessary Steiner nodes. O(N).

        First, edges of length at most `tol` that end in a Steiner node are contracted. Then
        Steiner nodes that are leaves or have two neighbors are removed. Two data points always
        stay two nodes, even at distance 0. With `tol=0`, the distances between data points do
        not change. The remaining edges keep their support. The root and the names of clades are
        not kept. The result is canonical.

        Parameters
        ----------
        tol : float
            Largest length to contract.
        """
        if not tol >= 0:
            raise ValueError(f"tol must be a length of at least 0, not {tol!r}")
        edges, weights = contracted_edges(self._view, self.n_points, float(tol))
        small = Tree._trusted(self.n_points, edges, weights, self.labels, None, self.order_known)
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
        The method removes k-1 edges, one at a time. Each time, it removes the edge that most
        reduces the sum, over clusters C, of (1/|C|) times the sum of d(i, j) over pairs in C. This
        is Ward's criterion, with tree distances as squared Euclidean distances. Each cut takes time
        linear in the part that it divides.

        Examples
        --------
        >>> Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0, 1.0, 5.0, 1.0, 1.0]).cut(2)
        array([0, 0, 1, 1])
        """
        if not 1 <= whole_number(k, "k") <= self.n_points:
            raise ValueError(f"k must be between 1 and the number of points, {self.n_points}, not {k}")
        return cut_clusters(self._view, self.n_points, k)[: self.n_points]

    def states(self, values: ArrayLike, *, noise_variance: ArrayLike = 0.0) -> NDArray[np.floating]:
        """Estimate values at all nodes, such as the expression of genes in ancestors, from those of the points.

        The values are assumed to diffuse along the edges: a change along an edge of length l has a
        variance proportional to l. The state of a Steiner node is its expected value, given all
        points. It is the mean of the states of its neighbors with weights 1 / l.

        Parameters
        ----------
        values : (n,) or (n, k) array, Series or DataFrame
            The values of each point, in the order of the points. A table whose index contains the
            labels is matched by label.
        noise_variance : float or (n,) array
            Variance of the noise in the values of each point, in the units of the edge lengths. If
            the tree was fitted to `PointMetric(points, "sqeuclidean", noise=s)` with k coordinates,
            this is k s^2. By default, the values are exact.

        Returns
        -------
        (N,) or (N, k) array
            The state of each node. The first n rows are the points: their own values, or with
            noise, their expected values without noise. float32 values give float32 states.

        See Also
        --------
        Tree.path : The nodes between two nodes.
        PointMetric : Squared Euclidean distances less the noise.

        Notes
        -----
        O(N k) time and memory: one pass up the tree and one pass down (Felsenstein, Am. J. Hum. Genet.
        25, 1973). Nodes joined by edges of length 0 have the same state, except points without noise.

        Examples
        --------
        >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 2.0])
        >>> tree.states([0, 1, 4])  # node 3 has the weights 1, 1 and 1/2
        array([0. , 1. , 4. , 1.2])
        """
        given = values_in_order(values, self.labels)
        table = checked_values(given, self.n_points)
        states = node_states(self._view, table, checked_variance(noise_variance, self.n_points))
        return states if np.ndim(given) == 2 else states[:, 0]

    # Comparison.

    def isclose(self, other: "Tree", rtol: float = 1e-9) -> bool:
        """Return whether two trees are equal up to Steiner ids, zero lengths and rounding.

        Takes O(N log N).

        The trees must have the same labels in the same order. The edges that divide the points in
        the same way must have the same length in both trees, up to `rtol` times the largest
        distance from point 0. A missing edge has length 0.
        """
        _require_tree(other)
        if self.n_points != other.n_points or self.labels != other.labels:
            return False
        changes = length_changes(divisions(self), divisions(other))
        largest = max(float(tree.rooted().depth.max()) for tree in (self, other))
        return bool(np.all(changes <= rtol * largest))

    def difference(
        self,
        other: "Tree",
        *,
        path: bool = True,
        zero_edges: bool = False,
        n_jobs: int | None = None,
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
        zero_edges : bool
            Whether edges of length 0 make splits.
        n_jobs : int, optional
            Number of threads; None uses all cores.

        Returns
        -------
        TreeDifference
            A named tuple of `robinson_foulds` (number of splits in exactly one of the trees),
            `normalized` (this number divided by the number of splits of the first tree plus that
            of the second: ``|A xor B| / (|A| + |B|)``, or 0 if neither tree has a split) and
            ``path`` (Euclidean norm of the differences of all path lengths, or NaN if ``path`` is
            False).

        Notes
        -----
        A split has at least two points on each side, so a leaf never makes a split. Edges in a
        line, for example at a root with two branches, make one split. An edge of length 0 makes no
        split unless `zero_edges` is True: many programs add such edges to make a tree binary. The
        limit is exactly 0: contract edges that are 0 up to rounding with `contracted` first. If a
        file was read with ``negative_lengths="zero"``, its negative edges have length 0.

        Splits are compared by random keys: two different splits are mistaken for each other with a
        probability of about 2^-64. Splits take O(N log N), and path lengths take O(n N).

        Examples
        --------
        >>> star = Tree(4, [[0, 4], [1, 4], [2, 4], [3, 4]], [1.0] * 4)
        >>> star.difference(Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5))
        TreeDifference(robinson_foulds=1, normalized=1.0, path=2.0)

        An edge of length 0 does not count:

        >>> binary = Tree.from_newick("((a:1,b:1):0,c:1,d:1);")
        >>> star = Tree.from_newick("(a:1,b:1,c:1,d:1);")
        >>> binary.difference(star).robinson_foulds
        0
        >>> binary.difference(star, zero_edges=True).robinson_foulds
        1
        """
        _require_tree(other)
        other = matched(other, self, ("the other tree", "this tree"))
        first, second = (inner_splits(tree, zero_edges).keys for tree in (self, other))
        count, normalized = robinson_foulds(first, second)
        return TreeDifference(count, normalized, path_difference(self, other, n_jobs) if path else math.nan)

    # Conversion.

    def newick(
        self,
        root: int | str | None = None,
        *,
        digits: int | None = None,
        leaves: bool = True,
    ) -> str:
        """Return the tree as Newick text.

        Parameters
        ----------
        root : int or label, optional
            The root. The default is the root of the tree. A tree without a root is written from
            a Steiner node next to point 0.
        digits : int, optional
            Significant digits of the lengths. By default lengths are written exactly.
        leaves : bool
            Whether data points inside the tree are written as leaves at distance 0, as other
            programs for phylogenies expect. If False, these points are written as names of internal
            nodes.

        Notes
        -----
        Points are named by their labels, or by their numbers if the tree has no labels. An
        internal node has the name of its clade. If it has no name, the support of the edge
        above it is written instead: as in the file that the tree was read from, or as a share
        with four decimals. Names of internal nodes that look like support are quoted. `save`
        keeps names and support. The root has a length if the tree has a `root_length`.

        Examples
        --------
        >>> Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 0.5], labels=["a", "b", "it's"]).newick()
        "(a:1.0,b:2.0,'it''s':0.5);"
        >>> edges, none = [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], float("nan")
        >>> Tree(4, edges, [1.0] * 5, labels="abcd", support=[none, none, 0.95, none, none]).newick()
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

        Leaves become data points, numbered in the order of the text. Points are matched to data
        by label (`order_known` is False). If the names are exactly 0 ... n-1, they are point
        numbers, not labels. The outermost node of the text is the root of the tree.

        Parameters
        ----------
        text : str
            One tree. Underscores in names are kept.
        default_length : float, optional
            Length of edges without a length. By default a missing length raises an error.
        inner_labels : {"clades", "points", "ignore"}
            How to read the names of internal nodes: as names of clades, as labels of data
            points, or not at all.
        negative_lengths : {"error", "zero"}
            Whether negative lengths, which some programs write, raise an error or become 0.

        Notes
        -----
        Unquoted numbers as names of internal nodes are the support of the edge above the node:
        shares up to 1, or percentages if one of them is larger than 1. If several numbers are
        joined by slashes, the last number counts (98.7/100: IQ-TREE writes SH-aLRT and
        bootstrap support). Numbers above 100 and quoted numbers are names.

        If no name is support, the comments of internal nodes are searched for support:
        ``[&posterior=0.98]`` (BEAST), ``[&prob=0.98]`` (MrBayes), ``[&bootstrap=95]``,
        ``[&support=95]`` or ``[&label=95]`` (FigTree), ``[&&NHX:B=95]``, and ``[95]`` after the
        length (RAxML). The first of these that a tree has is read. Other comments are ignored.

        A length of the root becomes `root_length`.

        Examples
        --------
        >>> Tree.from_newick("((a:1,b:2):0.5,c:3);").labels
        ('a', 'b', 'c')
        >>> tree = Tree.from_newick("((a:1,b:2)95:0.5,(c:3,d:1)Canidae:1);")
        >>> tree.newick(), float(np.nanmax(tree.support))
        ('((a:1.0,b:2.0)95:0.5,(c:3.0,d:1.0)Canidae:1.0);', 0.95)
        """
        parsed = parse_newick(text, default_length, inner_labels, negative_lengths)
        return cls._in_canonical_order(*parsed[:5], False, parsed.annotations)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a .npz or .json file. The file is never left incomplete."""
        save_tree(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Tree":
        """Read a tree written by `Tree.save`."""
        fields = load_fields(path)
        try:
            return cls._of_archive(fields)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    @classmethod
    def _of_archive(cls, fields: dict[str, Any]) -> "Tree":
        """Return the tree of the fields of a file."""
        texts = fields.pop("support_text", None)
        tree = cls(**fields)
        if texts is None:
            return tree
        return tree._replace(_annotations=tree._annotations._replace(support_text=texts))

    def to_networkx(self) -> NetworkXGraph:
        """Return a networkx Graph on the node ids.

        Edges have the attribute `weight`, and the attribute `support` if support is known. Nodes
        have the attribute `steiner`. Data points and named clades also have `label`, and the
        root has `root`.
        """
        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: NetworkXGraph, *, weight: str | None = "weight") -> "Tree":
        """Read a tree from a networkx graph without cycles.

        Points are matched to data by label, not by the order of the nodes.

        Parameters
        ----------
        graph : networkx Graph or DiGraph
            In a Graph, nodes are data points unless their attribute `steiner` is true. In a
            DiGraph, whose edges go from parents to children, the leaves are the data points,
            unless nodes have the attribute `steiner`. Its root becomes the root of the tree.
            Labels are the attribute `label`, or the nodes themselves.
        weight : str or None
            Edge attribute that holds the lengths. With None, all edges have length 1.
        """
        return cls._of_fields(from_networkx(graph, weight))

    def to_skbio(self, root: int | str | None = None) -> SkbioNode:
        """Return a scikit-bio TreeNode, rooted as in `Tree.newick`. All data points are leaves."""
        tree = self if root is None else self.with_root(root)
        return to_skbio(tree.with_leaves())

    @classmethod
    def from_skbio(cls, tree: SkbioNode, *, default_length: float | None = None) -> "Tree":
        """Read a tree from a scikit-bio TreeNode, by the rules of `Tree.from_newick`."""
        return cls._of_fields(from_skbio(tree, default_length))

    @classmethod
    def _of_fields(cls, fields: Fields) -> "Tree":
        tree = cls(*fields[:4], support=fields.support, order_known=False)
        return tree._replace(_annotations=fields.annotations).canonical()

    def to_linkage(self, *, rtol: float = 1e-9) -> NDArray[np.float64]:
        """Return an ultrametric tree as SciPy's linkage matrix, an (n-1, 4) array. O(N log N).

        The height of a merge is the distance between the points that it joins. A node with more
        than two branches becomes several merges of the same height.

        Parameters
        ----------
        rtol : float
            Relative tolerance. If the distances from the points to the root differ by more than
            this tolerance, a ValueError is raised.

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
        result is a new tree with a Steiner node in the middle and the same distances. The tree
        is rooted at this node.

        Examples
        --------
        >>> tree, root = Tree(2, [[0, 1]], [3.0], labels="ab").root_at_midpoint()
        >>> tree.newick()
        '(a:1.5,b:1.5);'
        """
        return _rooted_at(*midpoint_root(self))

    def root_at_outgroup(self, points: int | str | Iterable[int | str]) -> tuple["Tree", int]:
        """Return the tree and a node on the edge that separates an outgroup. O(N).

        The node is a Steiner node in the middle of the edge. If the middle is not a Steiner
        node yet, the result is a new tree with the same distances. The tree is rooted at this
        node.

        Parameters
        ----------
        points : id, label, or several
            The outgroup, which must be a branch of the tree.

        Examples
        --------
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
            f"expected a Tree to compare with, not {kind}: for other metrics, use average_distortion"
        )
