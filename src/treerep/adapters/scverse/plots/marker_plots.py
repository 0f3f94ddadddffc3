"""Heat maps of marker genes along the tree."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...._core.checks import positive_number
from ...._core.extras import require
from .._data import check_adata
from .._storage import get_tree, params_of, root_of
from ..markers import marker_table
from ._figures import finish, set_title
from .tree_plots import palette_of, values_of

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes
    from pandas import DataFrame


def markers(
    adata: "AnnData",
    *,
    n_genes: int = 5,
    key: str = "treerep",
    markers_key: str | None = None,
    cmap: Any = "viridis",
    title: str | None = None,
    ax: "Axes | None" = None,
    show: bool = False,
    save: str | Path | None = None,
) -> "Axes":
    """Draw a heat map of the marker genes, with the cells in the order of the tree.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.markers`.
    n_genes : int
        Number of genes of each split, those with the largest absolute scores.
    key : str
        Name of the tree.
    markers_key : str, optional
        Name of the markers. The default is ``f"{key}_markers"``.
    cmap : str or matplotlib Colormap
        The color map.
    title, ax, show, save
        As in `pl.tree`.

    Returns
    -------
    matplotlib Axes
        A row per gene, scaled from 0 (its smallest value) to 1 (its largest), and a column per
        cell. Cells are in preorder from the root. The strip on top shows the lineages.

    See Also
    --------
    tl.markers : Find the genes.
    pl.tree : Draw the tree of the cells, for example colored by a gene.

    Notes
    -----
    O(N) time, and O(n) per gene.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(tr.datasets.branching_cells(100, dim=10).points)
    >>> tr.tl.tree(adata, use_rep="X", n_clusters=3)
    >>> tr.tl.markers(adata)
    >>> axes = tr.pl.markers(adata, n_genes=3)
    """
    check_adata(adata)
    name = f"{key}_markers" if markers_key is None else markers_key
    count = positive_number(n_genes, "n_genes")
    genes = _top_genes(marker_table(adata, name), count)
    order = _cell_order(adata, key)
    values = _expression(adata, genes, name)
    require("matplotlib.pyplot", "draw")
    ax = _new_axes(len(genes)) if ax is None else ax
    image = ax.imshow(
        _scaled(values[:, order]),
        aspect="auto",
        cmap=cmap,
        vmin=0,
        vmax=1,
        interpolation="nearest",
    )
    ax.set_yticks(range(len(genes)), genes, usetex=False)
    ax.set_xticks([])
    ax.set_xlabel("cells along the tree")
    ax.figure.colorbar(image, ax=ax, label="scaled expression")
    _draw_strip(ax, adata, key, order)
    set_title(ax, "" if title is None else title)
    finish([ax], save, show)
    return ax


def _top_genes(table: "DataFrame", count: int) -> list[str]:
    """Return the first genes of each split, each gene once."""
    splits = table.groupby("split", sort=False)
    names = splits.head(count)["names"]
    return list(dict.fromkeys(names))


def _expression(adata: "AnnData", genes: list[str], name: str) -> NDArray[np.float64]:
    """Return a row per gene, from the table that `tl.markers` used."""
    used = params_of(adata, name)
    layer = used.get("layer")
    use_raw = used.get("use_raw")
    rows = [values_of(adata, gene, layer, use_raw) for gene in genes]
    return np.array(rows, float)


def _new_axes(n_genes: int) -> "Axes":
    pyplot = require("matplotlib.pyplot", "draw")
    height = 1.0 + 0.25 * n_genes
    figure = pyplot.figure(
        figsize=(8.0, height),
        layout="constrained",
    )
    axes: Axes = figure.add_subplot()
    return axes


def _cell_order(adata: "AnnData", key: str) -> NDArray[np.int64]:
    """Return the cells in preorder."""
    tree = get_tree(adata, key=key)
    root = root_of(adata, key)
    if root is None:
        root = tree._default_root()
    order = tree.rooted(root).order
    cells = order[order < tree.n_points]
    return cells.astype(np.int64)


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each row to the range from 0 to 1. Constant rows are 0."""
    low = values.min(axis=1, keepdims=True)
    above = values - low
    width = above.max(axis=1, keepdims=True)
    return above / np.where(width > 0, width, 1.0)


def _draw_strip(ax: "Axes", adata: "AnnData", key: str, order: NDArray[np.int64]) -> None:
    """Draw the lineages of the cells as colors above the heat map."""
    from ....drawing.figures._colors import color_values

    column = f"{key}_lineage"
    if column not in adata.obs:
        return
    lineage = adata.obs[column].astype(str)
    lineage = lineage.to_numpy()[order]
    palette = palette_of(adata, column).get("palette")
    colors = color_values(lineage, len(lineage), palette).rgba
    strip = ax.inset_axes((0.0, 1.01, 1.0, 0.04))
    strip.imshow(colors[None], aspect="auto", interpolation="nearest")
    strip.set_axis_off()
