"""An interactive page of the tree of the cells."""

import os
from typing import TYPE_CHECKING, Any

from .._cell_table import GeneNames, cell_palettes, cell_table
from .._storage import get_tree
from .tree_plots import root_cell

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.colors import Colormap

    from ....drawing.figures._colors import Palette
    from ....drawing.page.write import Page


def page(
    adata: "AnnData",
    path: str | os.PathLike[str] | None = None,
    *,
    key: str = "treerep",
    color: str | None = None,
    genes: GeneNames = None,
    root: str | int | None = None,
    layer: str | None = None,
    use_raw: bool | None = None,
    palette: "Palette" = None,
    cmap: "str | Colormap | None" = None,
    **options: Any,
) -> "Page":
    """Make an interactive page of the tree of the cells.

    All columns of `obs` become attributes of the page. Categories have the colors of
    ``adata.uns[f"{column}_colors"]``, if present.

    Parameters
    ----------
    adata : AnnData or TreeData
        The cells, after `tl.tree`.
    path : str or path, optional
        The HTML file to write. Without a path, a notebook displays the result.
    key : str
        Name of the tree.
    color : str, optional
        A column of `obs`, or a gene, to color by at first.
    genes : list of str, str, or "all", optional
        Genes to include. The page stores values other than 0 and finds a gene by its name.
    root : str or int, optional
        Name or position of the root cell. The default is the `root` of `tl.tree`, or the center
        of the tree.
    layer, use_raw
        The table of genes, as in `pl.tree`.
    palette, cmap : optional
        Colors of the categories of `color`, and color map of numbers, as in scanpy.
    **options
        Passed to `treerep.page`.

    Returns
    -------
    Page
        Its attribute `Page.html` is the text of the page.

    See Also
    --------
    page : Make a page of any tree.
    pl.tree : Draw the tree with matplotlib.
    tl.tree : Fit a tree to the cells.

    Notes
    -----
    O(N) time for N nodes, plus the number of values of the genes.

    Examples
    --------
    >>> import anndata, treerep as tr
    >>> adata = anndata.AnnData(obsm={"X_pca": tr.datasets.branching_cells(50).points})
    >>> tr.tl.tree(adata, n_clusters=3)
    >>> tr.pl.page(adata, color="treerep_lineage")
    Page(Tree(50 points, ...), ... kB)
    """
    from ....drawing.page.write import page as tree_page

    tree = get_tree(adata, key=key)
    if tree.n_points != adata.n_obs:
        raise ValueError(
            f"the tree {key!r} has {tree.n_points} groups, not cells: use "
            f"treerep.page(treerep.tl.get_tree(adata, key={key!r}))"
        )
    table = cell_table(adata, color, genes, layer=layer, use_raw=use_raw)
    palettes = cell_palettes(adata, table, color, palette, cmap)
    return tree_page(
        tree,
        path,
        table=table,
        color=color,
        palette=palettes or None,
        root=root_cell(adata, root, key),
        **options,
    )
