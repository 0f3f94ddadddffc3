"""Trees of groups of cells, such as clusters, with support from resampled cells."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import whole_number
from ..._core.progress import progress_bar
from ..._core.typing import RNGLike
from ...fitting.fit import fit
from ...fitting.methods import DEFAULT
from ...metric.points import PointMetric
from ...tree.tree import Tree
from ._data import check_adata, check_key, column_of, representation
from ._storage import store_tree

if TYPE_CHECKING:
    from anndata import AnnData


def groups(
    adata: "AnnData",
    groupby: str,
    *,
    use_rep: str | None = None,
    metric: str = "euclidean",
    method: str = DEFAULT,
    n_bootstrap: int = 100,
    key_added: str | None = None,
    rng: RNGLike = 0,
    copy: bool = False,
) -> "AnnData | None":
    """Fit a tree to groups of cells, for example clusters, with support.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells.
    groupby : str
        Column of `obs` with the groups. Cells without a group are ignored.
    use_rep : str, optional
        The coordinates of the cells, as in `tl.tree`. The default is "X_pca".
    metric, method
        The metric between groups and the method, as in `treerep.fit`.
    n_bootstrap : int
        Number of trees for the support; 0 for no support.
    key_added : str, optional
        Name of the tree. The default is ``f"treerep_{groupby}"``.
    rng : int, numpy Generator or None
        Seed of the resampling and of the fit.
    copy : bool
        Whether to return a copy with the result and leave `adata` unchanged.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    See Also
    --------
    pl.groups : Draw the tree of the groups.
    tl.get_tree : Return the tree.
    tl.tree : Fit a tree to the cells.

    Notes
    -----
    The tree is fitted to the mean coordinates of the groups. For the support, the cells of each
    group are resampled with replacement, and a tree is fitted to the new means. The support of an
    edge is the share of these trees that contain its split. It measures the noise of the means,
    not whether the groups are correct.

    The function sets ``adata.uns[key_added]``, as `tl.tree` does. Unlike a dendrogram, the tree
    has no root, and its edge lengths approximate the distances of the means.

    O(n dim) time per tree, for n cells.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> cells = tr.datasets.branching_cells(200, levels=3)
    >>> adata = anndata.AnnData(obsm={"X_pca": cells.points})
    >>> adata.obs["branch"] = cells.branch.astype(str)
    >>> tr.tl.groups(adata, "branch", n_bootstrap=10)
    >>> len(tr.tl.get_tree(adata, key="treerep_branch"))
    7
    """
    check_adata(adata)
    key = f"treerep_{groupby}" if key_added is None else key_added
    check_key(key)
    count = whole_number(n_bootstrap, "n_bootstrap")
    if count < 0:
        raise ValueError(f"n_bootstrap must be at least 0, got {n_bootstrap}")
    adata = adata.copy() if copy else adata
    labels, codes = _read_groups(adata, groupby)
    table = "X_pca" if use_rep is None else use_rep
    cells = np.flatnonzero(codes >= 0)
    points = np.asarray(representation(adata, table), float)[cells]
    tree = _tree_with_support(points, codes[cells], labels, metric, method, count, rng)
    params = {
        "groupby": groupby,
        "use_rep": table,
        "metric": metric,
        "method": method,
        "n_bootstrap": count,
        "rng": rng if isinstance(rng, int | np.integer) else None,
    }
    store_tree(adata, tree, key, None, params)
    return adata if copy else None


def _read_groups(adata: "AnnData", groupby: str) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of the groups, and the group of each cell or -1."""
    column = column_of(adata, groupby, "groupby").astype("category").cat
    names = column.remove_unused_categories().cat
    labels = [str(name) for name in names.categories]
    if len(labels) < 2:
        raise ValueError(f"adata.obs[{groupby!r}] has fewer than two groups: choose another")
    return labels, np.asarray(names.codes, np.int64)


def _tree_with_support(
    points: NDArray[np.float64],
    codes: NDArray[np.int64],
    labels: list[str],
    metric: str,
    method: str,
    n_bootstrap: int,
    rng: RNGLike,
) -> Tree:
    """Return the tree of the group means, with the share of resampled trees that have its splits."""
    generator = np.random.default_rng(rng)

    def fitted(means: NDArray[np.float64]) -> Tree:
        return fit(PointMetric(means, metric, labels=labels), method=method, rng=0)

    tree = fitted(group_means(points, codes))
    if not n_bootstrap:
        return tree
    members = [np.flatnonzero(codes == code) for code in range(len(labels))]
    trees = []
    with progress_bar(n_bootstrap, "resampled trees", "trees") as bar:
        for _ in range(n_bootstrap):
            drawn = [generator.choice(group, len(group)) for group in members]
            chosen = np.concatenate(drawn)
            trees.append(fitted(group_means(points[chosen], codes[chosen])))
            bar.update()
    return tree.with_support(trees)


def group_means(points: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[Any]:
    """Return the mean point of each group 0, 1, ...

    >>> group_means(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1]))
    array([[1.],
           [5.]])
    """
    sums = np.zeros((int(codes.max()) + 1, points.shape[1]))
    np.add.at(sums, codes, points)
    return sums / np.bincount(codes)[:, None]
