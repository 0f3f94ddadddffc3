"""A tree of cells inside an AnnData: arrays and Newick in `uns`, and a networkx graph in `TreeData.obst`.

`uns[key]` holds what makes the Tree, exactly, in forms that .h5ad and .zarr keep:

- `names`: (n,) names of the cells, nodes 0 ... n-1
- `edges`: (N-1, 2) node ids; `weights`: (N-1,) their lengths; `support`: (N-1,), where the tree
  has it
- `newick`: the same for other tools
- `params`: how it was made
"""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._core.extras import require
from ...tree.tree import Tree
from ._data import check_adata, check_names


def store_tree(
    adata: Any, tree: Tree, key: str, root: int | None, params: dict[str, Any]
) -> None:
    """Write a tree whose labels are the cells' names, hung from a cell or, by default, where Newick is."""
    above = tree._default_root() if root is None else root
    fields: dict[str, Any] = {
        "names": np.array(tree.labels, dtype=object),
        "edges": tree.edges.astype(np.int32),  # a tree has fewer than 2^31 nodes
        "weights": np.array(tree.weights),
        "newick": tree.newick(above),
        "params": {name: value for name, value in params.items() if value is not None},
    }
    if tree.support is not None:
        fields["support"] = np.array(tree.support)
    is_new = key not in adata.uns
    adata.uns[key] = fields  # of a view, anndata makes an object of its own here, and says so
    if not is_new:
        _forget_results(adata, key)
    if is_treedata(adata):
        # As a whole: after a view became an object of its own, its mapping of trees would still
        # belong to another.
        adata.obst = {**adata.obst, key: rooted_graph(tree, above)}


def _forget_results(adata: Any, key: str) -> None:
    """Remove what was made from an earlier tree of this name, under the names that are given where nobody says one."""
    for table, name in (
        (adata.obs, f"{key}_pseudotime"),
        (adata.obs, f"{key}_lineage"),
        (adata.obsm, f"X_{key}"),
    ):
        if (
            name in adata.uns and name in table
        ):  # in both: another tool's column of the same name has no such entry
            del table[name]
            del adata.uns[name]
            adata.uns.pop(f"{name}_colors", None)


def get_tree(adata: Any, *, key: str = "treerep") -> Tree:
    """Return the tree that `tl.tree` stored.

    Parameters
    ----------
    adata : AnnData or TreeData
    key : str
        The `key_added` of `tl.tree`.

    Returns
    -------
    Tree
        Its labels are `obs_names`. It is the fitted tree, bit for bit, also after writing and
        reading a file. If cells have been taken away or put into another order since, it is the
        part of that tree spanned by the cells that are left, in their order: all distances stay
        as they were.

    Raises
    ------
    ValueError
        If there is no such tree, or if it does not know one of the cells.

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
    if key not in adata.uns:
        raise ValueError(
            f"adata.uns has no tree {key!r}: call treerep.tl.tree(adata, key_added={key!r}) first"
        )
    tree = _read(adata.uns[key], key)
    present = check_names(adata)
    if tuple(present) == tree.labels:
        return tree
    known = set(tree.labels or ())
    for name in present:
        if name not in known:
            raise ValueError(
                f"cell {name!r} is not in the tree {key!r}: it was added or renamed later; call treerep.tl.tree again"
            )
    return tree.restrict(present)


def _read(fields: Any, key: str) -> Tree:
    needed = ("names", "edges", "weights")
    missing = [name for name in needed if not isinstance(fields, Mapping) or name not in fields]
    if missing:
        raise ValueError(
            f"adata.uns[{key!r}] is no tree of treerep: it has no {missing[0]!r}; choose another key"
        )
    names, edges, weights = (fields[name] for name in needed)
    try:
        return Tree(len(names), edges, weights, labels=names, support=fields.get("support"))
    except (ValueError, TypeError) as error:
        raise ValueError(f"adata.uns[{key!r}] is damaged: {error}") from error


def is_treedata(adata: Any) -> bool:
    """Whether this is a TreeData.

    Whoever has one has imported treedata; nobody else should wait for it.
    """
    treedata = sys.modules.get("treedata")
    return treedata is not None and isinstance(adata, treedata.TreeData)


def check_storage(adata: Any, key: str) -> None:
    """Raise a ValueError if a TreeData has no room for the tree."""
    if not is_treedata(adata):
        return
    if adata.alignment == "nodes":
        raise ValueError(
            "this TreeData has alignment='nodes', but inner nodes of a tree are no cells: set its alignment to 'leaves'"
        )
    others = [other for other in adata.obst if other != key]
    if others and not adata.allow_overlap:
        raise ValueError(
            f"this TreeData has a tree {others[0]!r} of its cells: delete it, or set allow_overlap to True"
        )


def rooted_graph(tree: Tree, root: int) -> Any:
    """Return the tree as a networkx.DiGraph as treedata wants it: leaves are cells, by name, and no inner node is.

    A cell that is an inner node of the tree (or its root) becomes two: the inner node, and the
    cell as a leaf at distance 0 from it. Inner nodes are named "node" and their id in the Tree.
    Edges have `length`, nodes `depth`, the distance from the root, which is what pycea draws
    by.
    """
    rooted = tree.rooted(root)
    inner = np.zeros(tree.n_nodes, bool)
    inner[rooted.parent[rooted.order[1:]]] = True
    cells = tree.labels or ()
    prefix = "node"
    while any(
        name.startswith(prefix) for name in cells
    ):  # so that no cell has the name of an inner node
        prefix = f"_{prefix}"
    names = [
        f"{prefix}{v}" if is_inner else cells[v] for v, is_inner in enumerate(inner.tolist())
    ]
    graph = require("networkx", "scverse").DiGraph()
    order, parent, depth, length = (
        array.tolist() for array in (rooted.order, rooted.parent, rooted.depth, rooted.length)
    )
    for v in order:
        graph.add_node(names[v], depth=depth[v])
        if parent[v] >= 0:
            graph.add_edge(names[parent[v]], names[v], length=length[v])
        if v < tree.n_points and inner[v]:
            graph.add_node(cells[v], depth=depth[v])
            graph.add_edge(names[v], cells[v], length=0.0)
    return graph
