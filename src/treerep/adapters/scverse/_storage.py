"""Storage of a tree of cells in an AnnData: in `uns`, and as a graph in `TreeData.obst`.

`uns[key]` contains the exact tree in a form that .h5ad and .zarr preserve:

- `names`: (n,) names of the cells, nodes 0 ... n-1
- `edges`: (N-1, 2) node ids; `weights`: (N-1,) edge lengths; `support`: (N-1,), if available
- `newick`: the same tree for other tools
- `params`: the parameters of the fit
"""

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.extras import require
from ...tree.tree import Tree
from ._data import check_adata, check_names

if TYPE_CHECKING:
    import networkx as nx
    from anndata import AnnData

_FIELDS = ("names", "edges", "weights")


def store_tree(adata: "AnnData", tree: Tree, key: str, root: int | None, params: dict[str, object]) -> None:
    """Store a tree whose labels are the names of the cells, rooted at a cell or by default.

    If `params` contains `groupby`, the labels are the names of groups of cells.
    """
    chosen_root = tree._default_root() if root is None else root
    fields: dict[str, object] = {
        "names": np.array(tree.labels, dtype=object),
        "edges": tree.edges.astype(np.int32),  # a tree has fewer than 2^31 nodes
        "weights": np.array(tree.weights),
        "newick": tree.newick(chosen_root),
        "params": {name: value for name, value in params.items() if value is not None},
    }
    if tree.support is not None:
        fields["support"] = np.array(tree.support)
    is_new = key not in adata.uns
    adata.uns[key] = fields  # if adata is a view, anndata copies it here, with a warning
    if not is_new:
        _remove_results(adata, key)
    if is_treedata(adata) and "groupby" not in params:
        # Set the whole mapping, because the mapping of a copied view would belong to the
        # original.
        adata.obst = {**adata.obst, key: rooted_graph(tree, chosen_root)}


def _remove_results(adata: "AnnData", key: str) -> None:
    """Remove results with default names from an earlier tree under this key."""
    for table, name in (
        (adata.obs, f"{key}_pseudotime"),
        (adata.obs, f"{key}_lineage"),
        (adata.obsm, f"X_{key}"),
    ):
        # Only keys in both places: a column of another tool has no such entry in `uns`.
        if name in adata.uns and name in table:
            del table[name]
            del adata.uns[name]
            adata.uns.pop(f"{name}_colors", None)


def tree_of_cells(adata: "AnnData", tree: object) -> Tree:
    """Return the part of a tree that the cells span, in the order of the cells."""
    names = check_names(adata)
    if not isinstance(tree, Tree):
        kind = type(tree).__name__
        raise TypeError(f"expected a Tree, got {kind}: read files with formats.read_tree")
    if tree.labels is None:
        if len(tree) != len(names):
            raise ValueError(
                f"the tree has no labels and {len(tree):,} points for {len(names):,} cells: "
                "give it labels, the names of the cells"
            )
        if names != [str(k) for k in range(len(names))]:
            warnings.warn(
                "the tree has no labels, so its points are taken to be the cells in their order: "
                "if this is not their order, fit the tree to data with labels",
                stacklevel=3,
            )
        return tree._replace(labels=tuple(names))
    known = set(tree.labels)
    for name in names:
        if name not in known:
            raise ValueError(f"cell {name!r} is not in the tree: its labels must contain adata.obs_names")
    return tree if tuple(names) == tree.labels else tree.restrict(names)


def get_tree(adata: "AnnData", *, key: str = "treerep") -> Tree:
    """Return the tree that `tl.tree` stored, or a tree of another program in `obst`.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    key : str
        Name of the tree: the `key_added` of `tl.tree`, or a key of `TreeData.obst`. The edges of
        a tree of another program have their `length`, otherwise their `weight`, otherwise the
        difference of the `depth` of their nodes, otherwise length 1.

    Returns
    -------
    Tree
        The fitted tree, bit for bit, with `obs_names` as labels. If cells were removed or
        reordered, the part of the tree that the present cells span. Distances do not change. A
        tree of `tl.groups` has the names of the groups as labels.

    Raises
    ------
    ValueError
        If there is no tree of this name, or if a cell is not in the tree.

    See Also
    --------
    tl.tree : Fit a tree to the cells.
    tl.set_tree : Store another tree of the cells.
    tl.groups : Fit a tree to groups of cells.
    Tree.restrict : Return the part of a tree that some points span.

    Notes
    -----
    O(N) time and memory.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> cells = anndata.AnnData(obsm={"X_pca": tr.datasets.branching_cells(50).points})
    >>> tr.tl.tree(cells)
    >>> len(tr.tl.get_tree(cells)), len(tr.tl.get_tree(cells[:20]))
    (50, 20)
    """
    check_adata(adata)
    if is_treedata(adata) and key in adata.obst and not _is_stored(adata, key):
        return _read_graph(adata, key)
    if key not in adata.uns:
        raise ValueError(
            f"adata.uns has no tree {key!r}: call treerep.tl.tree(adata, key_added={key!r}) first"
        )
    tree = _read(adata.uns[key], key)
    if "groupby" in adata.uns[key].get("params", {}):
        return tree
    present = check_names(adata)
    if tuple(present) == tree.labels:
        return tree
    known = set(tree.labels or ())
    for name in present:
        if name not in known:
            raise ValueError(
                f"cell {name!r} is not in the tree {key!r}, so it was added or renamed "
                "later: call treerep.tl.tree again"
            )
    return tree.restrict(present)


def _is_stored(adata: "AnnData", key: str) -> bool:
    """Return whether `adata.uns` has a tree of treerep under this key."""
    fields = adata.uns.get(key)
    return isinstance(fields, Mapping) and fields.keys() >= set(_FIELDS)


def _read_graph(adata: "AnnData", key: str) -> Tree:
    """Return a tree of `TreeData.obst` that another program wrote."""
    names = check_names(adata)
    graph = adata.obst[key]
    cells = set(names)
    plain = require("networkx", "scverse").DiGraph()
    for node in graph:
        plain.add_node(node, steiner=node not in cells and graph.out_degree(node) > 0)
    length = _edge_lengths(graph)
    plain.add_edges_from((u, v, {"weight": length(u, v)}) for u, v in graph.edges)
    try:
        tree = Tree.from_networkx(plain)
    except (ValueError, TypeError) as error:
        raise ValueError(f"adata.obst[{key!r}] cannot be read: {error}") from error
    # Labels that are the numbers 0 ... n-1 were read as numbers of points.
    labels = tree.labels or tuple(map(str, range(len(tree))))
    place = {label: point for point, label in enumerate(labels)}
    for name in names:
        if name not in place:
            raise ValueError(
                f"cell {name!r} is not in the tree adata.obst[{key!r}]: select the cells of the tree first"
            )
    order = np.array([place[name] for name in names])
    if len(tree) == len(names):
        return tree._in_order(order, tuple(names), True)
    return tree.restrict(order)._replace(labels=tuple(names))


def _edge_lengths(graph: "nx.DiGraph") -> Callable[[Any, Any], Any]:
    """Return the length of an edge: its attribute `length` or `weight`, the difference of `depth`, or 1."""
    for name in ("length", "weight"):
        if any(name in data for _, _, data in graph.edges(data=True)):
            return lambda u, v: graph.edges[u, v].get(name, np.nan)
    depth = dict(graph.nodes(data="depth"))
    if None not in depth.values():
        return lambda u, v: depth[v] - depth[u]
    return lambda u, v: 1.0  # noqa: ARG005


def params_of(adata: "AnnData", key: str) -> Mapping[str, Any]:
    """Return the parameters that a tool stored under this key, if any."""
    fields = adata.uns.get(key)
    return fields.get("params", {}) if isinstance(fields, Mapping) else {}


def root_of(adata: "AnnData", key: str) -> int | None:
    """Return the position of the root cell that was used under this key, if it is present."""
    name = params_of(adata, key).get("root")
    return int(adata.obs_names.get_loc(name)) if name in adata.obs_names else None


def _read(fields: object, key: str) -> Tree:
    present = fields if isinstance(fields, Mapping) else {}
    missing = [name for name in _FIELDS if name not in present]
    if missing:
        raise ValueError(
            f"adata.uns[{key!r}] is not a treerep tree, because it has no {missing[0]!r}: choose another key"
        )
    names, edges, weights = (present[name] for name in _FIELDS)
    try:
        return Tree(len(names), edges, weights, labels=names, support=present.get("support"))
    except (ValueError, TypeError) as error:
        raise ValueError(f"adata.uns[{key!r}] is damaged: {error}") from error


def is_treedata(adata: "AnnData") -> bool:
    """Return whether this is a TreeData, without importing treedata."""
    treedata = sys.modules.get("treedata")
    return treedata is not None and isinstance(adata, treedata.TreeData)


def check_storage(adata: "AnnData", key: str) -> None:
    """Raise a ValueError if a TreeData cannot hold the tree."""
    if not is_treedata(adata):
        return
    if adata.alignment == "nodes":
        raise ValueError(
            "this TreeData has alignment='nodes', but internal nodes of a tree are not "
            "cells: set its alignment to 'leaves'"
        )
    if key in adata.obst and not _wrote_graph(adata, key):
        raise ValueError(
            f"adata.obst[{key!r}] is a tree that treerep did not write: choose another key_added, "
            "or delete it first"
        )
    others = [other for other in adata.obst if other != key]
    if others and not adata.allow_overlap:
        raise ValueError(
            f"this TreeData already has a tree {others[0]!r} of its cells: delete it, or "
            "set allow_overlap to True"
        )


def _wrote_graph(adata: "AnnData", key: str) -> bool:
    """Return whether a graph of `obst` is the tree in `uns`, or a part of that tree."""
    if not _is_stored(adata, key):
        return False
    tree = _read(adata.uns[key], key)
    return set(adata.obst[key]) <= {*_inner_names(tree), *(tree.labels or ())}


def _inner_names(tree: Tree) -> list[str]:
    """Return the name that every node has in the graph if it is not a leaf."""
    prefix = "node"
    while any(name.startswith(prefix) for name in tree.labels or ()):
        prefix = f"_{prefix}"  # a cell may have such a name
    return [f"{prefix}{v}" for v in range(tree.n_nodes)]


def rooted_graph(tree: Tree, root: int) -> "nx.DiGraph":
    """Return the tree as the DiGraph that treedata requires, with the cells as leaves.

    A cell that is an internal node or the root of the tree becomes two nodes: the internal
    node, and a leaf at distance 0 from it. Internal nodes are named "node" followed by their id
    in the Tree. Edges have `length`. Nodes have `depth`, the distance from the root, for pycea.
    """
    rooted = tree.rooted(root)
    inner = np.zeros(tree.n_nodes, bool)
    inner[rooted.parent[rooted.order[1:]]] = True
    cells = tree.labels or ()
    names = _inner_names(tree)
    for v in np.flatnonzero(~inner).tolist():
        names[v] = cells[v]
    graph = require("networkx", "scverse").DiGraph()
    parent = rooted.parent.tolist()
    depth = rooted.depth.tolist()
    length = rooted.length.tolist()
    for v in rooted.order.tolist():
        graph.add_node(names[v], depth=depth[v])
        if parent[v] >= 0:
            graph.add_edge(names[parent[v]], names[v], length=length[v])
        if v < tree.n_points and inner[v]:
            graph.add_node(cells[v], depth=depth[v])
            graph.add_edge(names[v], cells[v], length=0.0)
    return graph
