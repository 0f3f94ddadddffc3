"""Pseudotime: the distance from a root along the tree."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ...tree.tree import Tree
from ._data import check_adata, check_key
from ._roots import Root, RootChoice, find_root, read_root
from ._storage import get_tree, store_tree

if TYPE_CHECKING:
    from anndata import AnnData


def pseudotime(
    adata: "AnnData",
    *,
    root: str | int | None = None,
    groupby: str | None = None,
    stages: str | None = None,
    key: str = "treerep",
    key_added: str | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Compute the pseudotime of the cells: their tree distance from a root cell.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    root : str or int, optional
        Name or position of the root cell, for example ``adata.uns["iroot"]``. With `groupby`, a
        group of cells.
    groupby : str, optional
        The column of `obs` that contains the group `root`. The root cell is the medoid of the
        group: the cell with the smallest mean tree distance to the cells of the group.
    stages : str, optional
        A numeric or ordered categorical column of `obs`, for example time points. The root is the
        cell of the first stage for which pseudotime agrees best with the stages. Cells without
        a stage are ignored.
    key : str
        Name of the tree.
    key_added : str, optional
        Column of `obs`. The default is ``f"{key}_pseudotime"``.
    copy : bool
        Whether to return a copy with the result and leave `adata` unchanged.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    tl.tree : Fit a tree to the cells.
    tl.lineages : Cut the tree into lineages.
    pl.tree : Draw the tree, colored by pseudotime.

    Notes
    -----
    O(N) time. Exact: the distances are sums of edge lengths.

    With `stages`, the agreement is the share of pairs of cells from different stages in which
    the later cell has the larger pseudotime; 0.5 is chance. It is stored in
    ``adata.uns[key_added]["agreement"]``. All cells of the first stage are ranked by the
    correlation of pseudotime and stage. The agreement is computed for the best 32 of them, and
    the best of these is the root. Stages change only the root. The tree stays the same, so
    cells of a late stage may still come early.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(np.array([[0.0], [1.0], [3.0]]))
    >>> tr.tl.tree(adata, use_rep="X")
    >>> tr.tl.pseudotime(adata, root="0")
    >>> adata.obs["treerep_pseudotime"].tolist()
    [0.0, 1.0, 3.0]
    """
    check_adata(adata)
    adata = adata.copy() if copy else adata
    choice = read_root(adata, root, groupby, stages)
    if not choice.given:
        raise ValueError("pseudotime needs a root: pass root (a cell), root and groupby (a group), or stages")
    column = f"{key}_pseudotime" if key_added is None else key_added
    check_key(column)
    tree = get_tree(adata, key=key)
    _store_pseudotime(adata, tree, find_root(choice, tree), key, column)
    return adata if copy else None


def store_with_root(
    adata: "AnnData", tree: Tree, key: str, choice: RootChoice, params: dict[str, Any]
) -> None:
    """Store a tree, and the pseudotime of its cells if a root is requested."""
    root = find_root(choice, tree)
    name = None if root.cell is None else adata.obs_names[root.cell]
    store_tree(adata, tree, key, root.cell, {**params, "root": name, **root.params})
    if root.cell is not None:
        _store_pseudotime(adata, tree, root, key, f"{key}_pseudotime")


def _store_pseudotime(adata: "AnnData", tree: Tree, root: Root, key: str, column: str) -> None:
    assert root.cell is not None
    times = tree.rooted(root.cell).depth[: adata.n_obs]
    adata.obs[column] = np.array(times)
    params = {"key": key, "root": adata.obs_names[root.cell], **root.params}
    adata.uns[column] = {"params": params}
    if root.agreement is not None:
        adata.uns[column]["agreement"] = root.agreement
