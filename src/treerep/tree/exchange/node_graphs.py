"""Trees of other libraries: nodes with or without names, and edges between them."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._core.extras import require
from ..._core.typing import NetworkXGraph, SkbioNode
from ..structure.annotations import NONE, Annotations
from ..structure.rooted import Rooted
from .newick_text import looks_like_support, number_points, read_support

if TYPE_CHECKING:
    from ..tree import Tree


class Fields(NamedTuple):
    """The arguments of Tree."""

    n_points: int
    edges: NDArray[np.int64]
    weights: ArrayLike
    labels: tuple[str, ...] | None
    support: NDArray[np.float64] | None
    annotations: Annotations = NONE


def number_nodes(
    names: Sequence[str | None],
    ends: ArrayLike,
    weights: ArrayLike,
    support: Sequence[float] | None = None,
    *,
    root: int | None = None,
    root_length: float | None = None,
    clades: Mapping[int, str] | None = None,
) -> Fields:
    """Number the nodes of a tree. Data points have names; Steiner nodes have None.

    `ends` contains pairs of positions in `names`. `root` is a position, and `clades` has the names
    of Steiner nodes by position. Points keep their order. Names that are exactly
    the numbers 0 ... n-1 are point numbers, not labels, as in Newick. Support that is NaN
    everywhere becomes None.

    >>> number_nodes([None, "a", "b"], [[0, 1], [0, 2]], [1.0, 2.0]).edges
    array([[2, 0],
           [2, 1]])
    """
    numbers, labels = number_points(tuple(name for name in names if name is not None))
    steiner = np.array([name is None for name in names], dtype=bool)
    ids = np.empty(len(names), np.int64)
    ids[~steiner] = numbers
    ids[steiner] = len(numbers) + np.arange(np.count_nonzero(steiner))
    shares = None if support is None else np.array(support, dtype=np.float64)
    if shares is not None and np.isnan(shares).all():
        shares = None
    pairs = ids[np.asarray(ends, np.int64).reshape(-1, 2)]
    named = sorted((int(ids[k]), name) for k, name in (clades or {}).items())
    top = None if root is None else int(ids[root])
    notes = Annotations(top, tuple(named), root_length=root_length)
    return Fields(len(numbers), pairs, weights, labels, shares, notes)


def lower_ends(tree: "Tree", rooted: Rooted) -> NDArray[np.int64]:
    """Return the node below each edge, in the order of `tree.edges`."""
    first, second = tree.edges.T
    return np.where(rooted.parent[first] == second, first, second)


def support_by_node(tree: "Tree", rooted: Rooted) -> NDArray[np.float64]:
    """Return the support of the edge above each node; NaN if there is no support."""
    shares = np.full(tree.n_nodes, np.nan)
    if tree.support is not None:
        shares[lower_ends(tree, rooted)] = tree.support
    return shares


def to_networkx(tree: "Tree") -> NetworkXGraph:
    """Return a networkx.Graph on the node ids: see `Tree.to_networkx`."""
    graph = require("networkx", "networkx").Graph()
    graph.add_nodes_from(range(tree.n_points), steiner=False)
    graph.add_nodes_from(range(tree.n_points, tree.n_nodes), steiner=True)
    for i, label in (*enumerate(tree.labels or ()), *tree.clade_names.items()):
        graph.nodes[i]["label"] = label
    if tree.root is not None:
        graph.nodes[tree.root]["root"] = True
    edges = tree.edges.tolist()
    graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(edges, tree.weights.tolist(), strict=True))
    if tree.support is not None:
        for (u, v), share in zip(edges, tree.support.tolist(), strict=True):
            if not math.isnan(share):
                graph[u][v]["support"] = share
    return graph


def from_networkx(graph: NetworkXGraph, weight: str | None) -> Fields:
    """Read a networkx graph: see `Tree.from_networkx`."""
    place = {node: k for k, node in enumerate(graph)}
    inner = _inner_nodes(graph)
    steiner = {node for node, data in graph.nodes(data=True) if data.get("steiner", node in inner)}
    names = [
        None if node in steiner else str(data.get("label", node)) for node, data in graph.nodes(data=True)
    ]
    ends = []
    weights = []
    support = []
    for u, v, data in graph.edges(data=True):
        if weight is not None and weight not in data:
            raise ValueError(
                f"edge ({u!r}, {v!r}) has no attribute {weight!r}: set it on every edge, or pass weight=None"
            )
        ends.append((place[u], place[v]))
        weights.append(1.0 if weight is None else data[weight])
        support.append(data.get("support", math.nan))
    roots = [place[node] for node, data in graph.nodes(data=True) if data.get("root")]
    if graph.is_directed():
        roots = [place[node] for node in graph if not graph.in_degree(node)]
    if len(roots) > 1:
        raise ValueError("several nodes have the attribute 'root': keep it on one node")
    clades = {
        place[node]: str(data["label"])
        for node, data in graph.nodes(data=True)
        if node in steiner and data.get("label")
    }
    top = roots[0] if roots else None
    return number_nodes(names, ends, weights, support, root=top, clades=clades)


def _inner_nodes(graph: NetworkXGraph) -> set[object]:
    """Return the nodes of a directed tree that have children. Other graphs have none."""
    if not graph.is_directed():
        return set()
    roots = [node for node in graph if not graph.in_degree(node)]
    several = next((node for node in graph if graph.in_degree(node) > 1), None)
    if several is not None or len(roots) != 1:
        fault = f"has {len(roots)} nodes without a parent"
        if several is not None:
            fault = f"has {graph.in_degree(several)} edges to node {several!r}"
        raise ValueError(
            f"the directed graph {fault}, but the edges of a rooted tree go from parents to "
            "children: correct it, or pass G.to_undirected()"
        )
    return {node for node in graph if graph.out_degree(node)}


def to_skbio(tree: "Tree") -> SkbioNode:
    """Return a skbio.TreeNode: see `Tree.to_skbio`."""
    make = require("skbio", "scikit-bio").TreeNode
    rooted = tree.rooted(tree._default_root())
    clades = tree.clade_names
    names = [
        *(tree.labels or map(str, range(tree.n_points))),
        *(clades.get(node) for node in range(tree.n_points, tree.n_nodes)),
    ]
    shares = [None if math.isnan(share) else share for share in support_by_node(tree, rooted).tolist()]
    nodes = [
        make(name, length, share)
        for name, length, share in zip(names, rooted.length.tolist(), shares, strict=True)
    ]
    nodes[rooted.root].length = tree.root_length
    parent = rooted.parent.tolist()
    for node in rooted.order[1:].tolist():
        # Like TreeNode.append, but without its climb to the root to clear caches.
        nodes[node].parent = nodes[parent[node]]
        nodes[parent[node]].children.append(nodes[node])
    return nodes[rooted.root]


def from_skbio(root: SkbioNode, default_length: float | None) -> Fields:
    """Read a skbio.TreeNode: see `Tree.from_skbio`."""
    nodes = list(root.preorder())
    place = {id(node): k for k, node in enumerate(nodes)}
    support = [math.nan if node.support is None else node.support for node in nodes]
    names = [node.name if not node.children else None for node in nodes]
    clades = {k: node.name for k, node in enumerate(nodes) if node.children and node.name}
    if all(map(math.isnan, support)):
        # scikit-bio reads support from a file as the name of a node.
        texts = {k: name for k, name in clades.items() if looks_like_support(name)}
        shares = read_support(list(texts.values()))
        for k, share in zip(texts, () if shares is None else shares[0], strict=False):
            support[k] = share
            del clades[k]
    lengths = []
    for node, name in zip(nodes, names, strict=True):
        if not node.children and name is None:
            raise ValueError("a leaf of the tree has no name: name every tip, or drop it with TreeNode.prune")
        lengths.append(default_length if node.length is None else node.length)
    if root.length and not 0 < root.length < math.inf:
        raise ValueError(
            f"the length of the root is {root.length}: set a finite length of at least 0, or None"
        )
    if None in lengths[1:]:
        name = nodes[1 + lengths[1:].index(None)].name
        raise ValueError(f"the edge above {name!r} has no length: set it, or pass default_length=1.0 for all")
    ends = [(place[id(node.parent)], k) for k, node in enumerate(nodes[1:], start=1)]
    stem = root.length or None
    top = 0 if len(nodes) > 1 or stem else None
    weights = np.array(lengths[1:], dtype=np.float64)
    return number_nodes(names, ends, weights, support[1:], root=top, root_length=stem, clades=clades)
