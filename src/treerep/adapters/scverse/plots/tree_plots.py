"""Plots of the tree of the cells."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...._core.extras import require
from .._data import cell_position, check_adata
from .._genes import genes_of
from .._storage import get_tree, params_of, root_of
from ..tools import place_tree
from ._figures import finish, panels, set_title, titles_of

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes

    from ....embedding.embedding import Embedding
    from ....tree.tree import Tree


def tree(
    adata: "AnnData",
    *,
    key: str = "treerep",
    color: str | Sequence[str] | None = None,
    layout: str | None = None,
    root: str | int | None = None,
    layer: str | None = None,
    use_raw: bool | None = None,
    palette: Any = None,
    cmap: Any = None,
    title: str | Sequence[str] | None = None,
    ncols: int = 4,
    ax: "Axes | None" = None,
    show: bool = False,
    save: str | Path | None = None,
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
    layer, use_raw
        The table of genes for `color`: a layer, ``adata.raw`` (True), or X (False).
    palette, cmap : optional
        Colors of categories, and color map of numbers, as in scanpy.
    title : str or list of str, optional
        Titles of the pictures. The default is the name of the color.
    ncols : int
        Number of pictures per row.
    ax : matplotlib Axes, optional
        Axes to draw on, for one picture.
    show : bool
        Whether to call matplotlib's ``show``.
    save : path, optional
        File to write, for example "tree.pdf". Unlike scanpy, the path is used as it is.
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
    start = root_cell(adata, root, key)
    style = _Style(layer, use_raw, palette, cmap, title, ncols, ax, show, save)
    return _draw(adata, fitted, color, style, {"layout": layout, "root": start, **options})


def disk(
    adata: "AnnData",
    *,
    key: str = "treerep",
    color: str | Sequence[str] | None = None,
    scale: float | str | None = None,
    root: str | int | None = None,
    layer: str | None = None,
    use_raw: bool | None = None,
    palette: Any = None,
    cmap: Any = None,
    title: str | Sequence[str] | None = None,
    ncols: int = 4,
    ax: "Axes | None" = None,
    show: bool = False,
    save: str | Path | None = None,
    **options: Any,
) -> "Axes | list[Axes]":
    """Draw the tree of the cells in the Poincaré disk.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    key, color, layer, use_raw, palette, cmap, title, ncols, ax, show, save, **options
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
    used = params_of(adata, f"X_{key}")
    chosen = used.get("scale", "auto") if scale is None else scale
    placed = place_tree(fitted, dim=2, scale=chosen, root=root_cell(adata, root, f"X_{key}"))
    style = _Style(layer, use_raw, palette, cmap, title, ncols, ax, show, save)
    return _draw(adata, placed, color, style, options)


class _Style(NamedTuple):
    """Options of `tree` and `disk` that have the names of scanpy."""

    layer: str | None
    use_raw: bool | None
    palette: Any
    cmap: Any
    title: str | Sequence[str] | None
    ncols: int
    ax: "Axes | None"
    show: bool
    save: str | Path | None


def root_cell(adata: "AnnData", root: str | int | None, key: str) -> int | None:
    """Return the position of the requested root cell, or of the previously used one."""
    return root_of(adata, key) if root is None else cell_position(adata, root)


def _draw(
    adata: "AnnData",
    what: "Tree | Embedding",
    color: str | Sequence[str] | None,
    style: _Style,
    options: dict[str, Any],
) -> "Axes | list[Axes]":
    """Draw one picture per color."""
    require("matplotlib.pyplot", "draw")
    from ....drawing.draw import draw

    names = [color] if color is None or isinstance(color, str) else list(color)
    if not names:
        raise ValueError("color is an empty list: use columns of adata.obs or genes, or leave it out")
    colors = [{} if name is None else _colors(adata, name, style) for name in names]
    titles = titles_of(style.title, names)
    places = panels(len(names), style.ncols, style.ax)
    # Names of cells are mostly barcodes, so they are drawn only on request. The name of the color
    # is the title of the picture.
    axes = [
        draw(what, ax=place, **{"labels": False, "color_label": "", **colored, **options})
        for place, colored in zip(places, colors, strict=True)
    ]
    for place, text in zip(axes, titles, strict=True):
        set_title(place, text)
    finish(axes, style.save, style.show)
    return axes[0] if color is None or isinstance(color, str) else axes


def _colors(adata: "AnnData", name: str, style: _Style) -> dict[str, Any]:
    """Return the arguments of `draw` that color the cells."""
    from ....drawing.figures._colors import color_scale_values

    values = values_of(adata, name, style.layer, style.use_raw)
    if color_scale_values(values) is not None:
        return {"color": values, "palette": style.cmap}
    if style.palette is not None:
        return {"color": values, "palette": style.palette}
    return {"color": values, **palette_of(adata, name)}


def values_of(
    adata: "AnnData", name: str, layer: str | None = None, use_raw: bool | None = None
) -> ArrayLike:
    """Return a value per cell: a column of `obs`, or a gene, from `raw` if possible."""
    check_adata(adata)
    if name in adata.obs:
        return adata.obs[name]
    tables = [(layer, use_raw)]
    if layer is None and use_raw is None and adata.raw is not None:
        tables.append((None, False))  # genes that raw lacks are taken from X
    for table in tables:
        genes = genes_of(adata, *table)
        if name in genes.names:
            if (genes.names == name).sum() > 1:
                raise ValueError(
                    f"several genes are named {name!r}: call adata.var_names_make_unique() first"
                )
            # Select a list of one column, so that the result is two-dimensional, dense or
            # sparse.
            values = genes.table[:, [genes.names.get_loc(name)]]
            dense = values.toarray() if hasattr(values, "toarray") else values
            return np.asarray(dense).ravel()
    raise ValueError(
        f"{name!r} is neither a column of adata.obs nor a gene: choose a column or one of adata.var_names"
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
