"""Heat maps of marker genes along the tree."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import positive_number
from ..._core.extras import require
from ._data import check_adata
from ._figures import finish, set_title
from ._storage import get_tree, params_of, root_of
from .markers import marker_table
from .plots import palette_of, values_of

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.axes import Axes


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
    table = marker_table(adata, name)
    count = positive_number(n_genes, "n_genes")
    genes = list(dict.fromkeys(table.groupby("split", sort=False).head(count)["names"]))
    used = params_of(adata, name)
    order = _cell_order(adata, key)
    values = [values_of(adata, gene, used.get("layer"), used.get("use_raw")) for gene in genes]
    pyplot = require("matplotlib.pyplot", "draw")
    if ax is None:
        size = (8.0, 1.0 + 0.25 * len(genes))
        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    scaled = _scaled(np.array(values, float)[:, order])
    image = ax.imshow(scaled, aspect="auto", cmap=cmap, vmin=0, vmax=1, interpolation="nearest")
    ax.set_yticks(range(len(genes)), genes, usetex=False)
    ax.set_xticks([])
    ax.set_xlabel("cells along the tree")
    ax.figure.colorbar(image, ax=ax, label="scaled expression")
    _draw_strip(ax, adata, key, order)
    set_title(ax, "" if title is None else title)
    finish([ax], save, show)
    return ax


def _cell_order(adata: "AnnData", key: str) -> NDArray[np.int64]:
    """Return the cells in preorder."""
    tree = get_tree(adata, key=key)
    root = root_of(adata, key)
    order = tree.rooted(tree._default_root() if root is None else root).order
    return order[order < tree.n_points].astype(np.int64)


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale each row to the range from 0 to 1. Constant rows are 0."""
    low = values.min(axis=1, keepdims=True)
    width = values.max(axis=1, keepdims=True) - low
    return (values - low) / np.where(width > 0, width, 1.0)


def _draw_strip(ax: "Axes", adata: "AnnData", key: str, order: NDArray[np.int64]) -> None:
    """Draw the lineages of the cells as colors above the heat map."""
    from ...drawing.figures._colors import color_values

    column = f"{key}_lineage"
    if column not in adata.obs:
        return
    lineage = adata.obs[column].astype(str).to_numpy()[order]
    palette = palette_of(adata, column).get("palette")
    colors = color_values(lineage, len(lineage), palette).rgba
    strip = ax.inset_axes((0.0, 1.01, 1.0, 0.04))
    strip.imshow(colors[None], aspect="auto", interpolation="nearest")
    strip.set_axis_off()
