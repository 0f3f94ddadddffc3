"""Plots of trees of cells, following scverse conventions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._core.extras import require
from ._data import cell_position, check_adata
from ._storage import get_tree
from .tools import place_tree

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

    from ...embedding.embedding import Embedding
    from ...tree.tree import Tree


def tree(
    adata: "AnnData",
    *,
    key: str = "treerep",
    color: str | Sequence[str] | None = None,
    layout: str | None = None,
    root: str | int | None = None,
    ax: "Axes | None" = None,
    show: bool = False,
    **options: Any,
) -> "Axes | list[Axes]":
    """Draw the tree of the cells.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    key : str
        Name of the tree.
    color : str or list of str, optional
        A column of `obs`, or a gene, from ``adata.raw`` if present, as in scanpy. Categories
        have the colors of ``adata.uns[f"{color}_colors"]``, if present. A list makes one
        picture for each entry.
    layout : str, optional
        The layout, as in `treerep.draw`.
    root : str or int, optional
        Name or position of the root cell. The default is the `root` of `tl.tree`, or the center
        of the tree.
    ax : matplotlib Axes, optional
        Axes to draw on, for one picture.
    show : bool
        Whether to call matplotlib's ``show``.
    **options
        Passed to `treerep.draw`. `labels` is False by default.

    Returns
    -------
    matplotlib Axes
        A list of Axes if `color` is a list.

    See Also
    --------
    tl.tree : Fit a tree to the cells.
    pl.disk : Draw the tree in the Poincaré disk.
    draw : Draw any tree.
    page : Explore a tree interactively.

    Notes
    -----
    The cost is that of `treerep.draw` for each picture.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(obsm={"X_pca": tr.datasets.branching_cells(50).points})
    >>> tr.tl.tree(adata, n_clusters=3)
    >>> axes = tr.pl.tree(adata, color="treerep_lineage")
    """
    fitted = get_tree(adata, key=key)
    start = _root(adata, root, _params(adata, key))
    return _draw(adata, fitted, color, ax, show, {"layout": layout, "root": start, **options})


def disk(
    adata: "AnnData",
    *,
    key: str = "treerep",
    color: str | Sequence[str] | None = None,
    scale: float | str | None = None,
    root: str | int | None = None,
    ax: "Axes | None" = None,
    show: bool = False,
    **options: Any,
) -> "Axes | list[Axes]":
    """Draw the tree of the cells in the Poincaré disk.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    key, color, ax, show, **options
        As in `pl.tree`.
    scale, root
        As in `tl.embed`. The default is that of the last call of `tl.embed`, so that the cells
        have the same coordinates. The tree of a subset of the cells is embedded again.

    Returns
    -------
    matplotlib Axes
        A list of Axes if `color` is a list.

    See Also
    --------
    tl.embed : Store the coordinates of the cells.
    pl.tree : Draw the tree in the plane.
    draw : Draw any embedding.

    Notes
    -----
    The cost is that of `treerep.embed` and `treerep.draw` for each picture.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(obsm={"X_pca": tr.datasets.branching_cells(50).points})
    >>> tr.tl.tree(adata, root=0)
    >>> axes = tr.pl.disk(adata, color="treerep_pseudotime")
    """
    fitted = get_tree(adata, key=key)
    used = _params(adata, f"X_{key}")
    chosen = used.get("scale", "auto") if scale is None else scale
    placed = place_tree(fitted, dim=2, scale=chosen, root=_root(adata, root, used))
    return _draw(adata, placed, color, ax, show, options)


def _params(adata: "AnnData", key: str) -> Mapping[str, Any]:
    fields = adata.uns.get(key)
    return fields.get("params", {}) if isinstance(fields, Mapping) else {}


def _root(adata: "AnnData", root: str | int | None, params: Mapping[str, Any]) -> int | None:
    """Return the position of the requested root cell, or of the previously used one."""
    if root is not None:
        return cell_position(adata, root)
    before = params.get("root")
    return cell_position(adata, before) if before in adata.obs_names else None


def _draw(
    adata: "AnnData",
    what: "Tree | Embedding",
    color: str | Sequence[str] | None,
    ax: "Axes | None",
    show: bool,
    options: dict[str, Any],
) -> "Axes | list[Axes]":
    """Draw one picture per color."""
    pyplot = require("matplotlib.pyplot", "draw")
    from ...drawing.draw import draw
    from ...drawing.figures._text import plain

    names = [color] if color is None or isinstance(color, str) else list(color)
    if not names:
        raise ValueError(
            "color is an empty list: use columns of adata.obs or genes, or leave it out"
        )
    colors = [
        {} if name is None else {"color": values_of(adata, name), **palette_of(adata, name)}
        for name in names
    ]
    if ax is not None and len(names) != 1:
        raise ValueError(
            f"{len(names)} colors need {len(names)} axes: leave out ax, or draw one at a time"
        )
    places = [ax]
    if len(names) > 1:
        size = (6.0 * len(names), 5.0)
        places = list(pyplot.subplots(1, len(names), figsize=size, layout="constrained")[1])
    # Names of cells are mostly barcodes, so they are drawn only on request.
    axes = [
        draw(what, ax=place, **{"labels": False, **colored, **options})
        for place, colored in zip(places, colors, strict=True)
    ]
    for place, name in zip(axes, names, strict=True):
        place.set_title("" if name is None else plain(name), usetex=False)
    if show:
        pyplot.show()
    return axes[0] if color is None or isinstance(color, str) else axes


def values_of(adata: "AnnData", name: str) -> ArrayLike:
    """Return a value per cell: a column of `obs`, or a gene, from `raw` if possible."""
    check_adata(adata)
    if name in adata.obs:
        return adata.obs[name]
    for table in (adata.raw, adata):
        if table is not None and name in table.var_names:
            if (table.var_names == name).sum() > 1:
                raise ValueError(
                    f"several genes are named {name!r}: call adata.var_names_make_unique() first"
                )
            # Select a list of one column, so that the result is two-dimensional, dense or
            # sparse.
            values = table.X[:, [table.var_names.get_loc(name)]]
            dense = values.toarray() if hasattr(values, "toarray") else values
            return np.asarray(dense).ravel()
    raise ValueError(
        f"{name!r} is neither a column of adata.obs nor a gene: "
        "choose a column or one of adata.var_names"
    )


def palette_of(adata: "AnnData", name: str) -> dict[str, Any]:
    """Return the colors that `uns` stores for the categories of a column, as an argument of `draw`."""
    colors = adata.uns.get(f"{name}_colors")
    if colors is None or name not in adata.obs or not hasattr(adata.obs[name], "cat"):
        return {}
    categories = adata.obs[name].cat.categories
    if len(colors) < len(categories):
        return {}  # colors for other categories: scanpy ignores them as well
    return {"palette": dict(zip(categories, colors, strict=False))}
