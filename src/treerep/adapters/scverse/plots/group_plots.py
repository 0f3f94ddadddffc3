"""Plots of trees of groups."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...._core.extras import require
from .._data import check_adata
from .._storage import get_tree, params_of
from ._figures import finish, set_title
from .tree_plots import palette_of

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes


def groups(
    adata: "AnnData",
    groupby: str,
    *,
    key: str | None = None,
    layout: str = "rectangular",
    root: str | None = None,
    title: str | None = None,
    ax: "Axes | None" = None,
    show: bool = False,
    save: str | Path | None = None,
    **options: Any,
) -> "Axes":
    """Draw the tree of groups of cells, with support in percent.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.groups`.
    groupby : str
        The column of `obs` that was passed to `tl.groups`.
    key : str, optional
        Name of the tree. The default is ``f"treerep_{groupby}"``.
    layout : str
        The layout, as in `treerep.draw`.
    root : str, optional
        The group at the root. The default is the center of the tree.
    title, ax, show, save, **options
        As in `pl.tree`.

    Returns
    -------
    matplotlib Axes
        The picture. Groups have the colors of ``adata.uns[f"{groupby}_colors"]``, if present.
        The number at an internal node is the support of the edge toward the root.

    See Also
    --------
    tl.groups : Fit a tree to groups of cells.
    pl.tree : Draw the tree of the cells.

    Notes
    -----
    The cost is that of `treerep.draw`.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> cells = tr.datasets.branching_cells(200, levels=3)
    >>> adata = anndata.AnnData(obsm={"X_pca": cells.points})
    >>> adata.obs["branch"] = cells.branch.astype(str)
    >>> tr.tl.groups(adata, "branch", n_bootstrap=10)
    >>> axes = tr.pl.groups(adata, "branch")
    """
    check_adata(adata)
    name = f"treerep_{groupby}" if key is None else key
    if params_of(adata, name).get("groupby") != groupby:
        raise ValueError(
            f"adata.uns has no tree {name!r} of the groups {groupby!r}: "
            f"call treerep.tl.groups(adata, {groupby!r}) first"
        )
    require("matplotlib.pyplot", "draw")
    from ....drawing.draw import draw
    from ....drawing.figures._support import support_texts
    from ....drawing.layouts._passes import rooted_view

    tree = get_tree(adata, key=name)
    start = int(rooted_view(tree, root).order[0])
    style = {"labels": support_texts(tree, start), "legend": False}
    style |= {"color": list(tree.labels or ()), **palette_of(adata, groupby)}
    drawn = draw(tree, layout=layout, root=start, ax=ax, **{**style, **options})
    set_title(drawn, groupby if title is None else title)
    finish([drawn], save, show)
    return drawn
