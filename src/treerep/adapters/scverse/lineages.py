"""Lineages: connected parts of the tree of the cells."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import positive_number
from ..._core.extras import require
from ...tree.operations.clusters import cut_clusters
from ...tree.tree import Tree
from ._data import check_adata, check_key
from ._storage import get_tree, root_of

if TYPE_CHECKING:
    from anndata import AnnData


def lineages(
    adata: "AnnData",
    *,
    n_clusters: int,
    key: str = "treerep",
    key_added: str | None = None,
    copy: bool = False,
) -> "AnnData | None":
    """Cut the tree into lineages, which are connected parts of the tree.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    n_clusters : int
        Number of lineages.
    key : str
        Name of the tree.
    key_added : str, optional
        Categorical column of `obs`. The default is ``f"{key}_lineage"``.
    copy : bool
        Whether to return a copy with the result and leave `adata` unchanged.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    Tree.cut : The method that is used.
    tl.tree : Fit a tree to the cells.
    tl.pseudotime : Compute pseudotime along the tree.

    Notes
    -----
    O(N) time per cut in the worst case, by Ward's criterion on tree distances.

    ``adata.uns[key_added]["splits"]`` has a row for each cut edge, with the numbers of the two
    lineages that it joins. The first one is nearer to the root. To find genes that differ between
    them, pass them to ``scanpy.tl.rank_genes_groups`` as `reference` and `groups`.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(np.array([[0.0], [1.0], [9.0]]))
    >>> tr.tl.tree(adata, use_rep="X")
    >>> tr.tl.lineages(adata, n_clusters=2)
    >>> adata.obs["treerep_lineage"].tolist()
    ['0', '0', '1']
    """
    check_adata(adata)
    adata = adata.copy() if copy else adata
    check_clusters(adata, n_clusters)
    column = f"{key}_lineage" if key_added is None else key_added
    check_key(column)
    tree = get_tree(adata, key=key)
    of_node = cut_clusters(tree._view, tree.n_points, n_clusters)
    names = [str(cluster) for cluster in range(n_clusters)]
    adata.obs[column] = require("pandas", "scverse").Categorical.from_codes(
        of_node[: adata.n_obs], categories=names
    )
    adata.uns[column] = {
        "params": {"key": key, "n_clusters": n_clusters},
        "splits": _splits(tree, of_node, root_of(adata, key)),
    }
    return adata if copy else None


def _splits(tree: Tree, of_node: NDArray[np.int64], root: int | None) -> NDArray[np.int64]:
    """Return the pairs of lineages that cut edges join, the one nearer to the root first."""
    if root is None:
        root = tree._default_root()
    rooted = tree.rooted(root)
    below = rooted.order[1:]
    above = rooted.parent[below]
    pairs = of_node[np.column_stack([above, below])]
    differ = pairs[:, 0] != pairs[:, 1]
    return pairs[differ]


def check_clusters(adata: "AnnData", n_clusters: object) -> None:
    """Raise a ValueError unless there are enough cells for this number of clusters."""
    if positive_number(n_clusters, "n_clusters") > adata.n_obs:
        raise ValueError(
            f"n_clusters={n_clusters} exceeds the number of cells, {adata.n_obs}: choose a smaller number"
        )
