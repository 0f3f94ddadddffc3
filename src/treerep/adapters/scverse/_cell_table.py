"""The columns of `obs` and chosen genes as a table of attributes for a page."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..._core.extras import require
from ._genes import Genes, genes_of
from .plots.tree_plots import palette_of

if TYPE_CHECKING:
    from anndata import AnnData
    from matplotlib.colors import Colormap
    from pandas import Series

    from ...drawing.figures._colors import Palette

#: Genes to include: their names, "all", or None.
GeneNames = Sequence[str] | str | None


def cell_table(
    adata: "AnnData",
    color: str | None,
    genes: GeneNames,
    *,
    layer: str | None = None,
    use_raw: bool | None = None,
) -> "dict[str, Series]":
    """Return columns of `obs`, and sparse columns of genes. `color` may also be a gene."""
    columns = {str(name): _finite(adata.obs[name]) for name in adata.obs if _is_usable(adata.obs[name])}
    wanted = [genes] if isinstance(genes, str) and genes != "all" else genes
    extra = [] if color is None or color in columns else [color]
    if wanted is None and not extra:
        return columns
    table = genes_of(adata, layer, use_raw)
    names = list(table.names) if wanted == "all" else [*extra, *(wanted or ())]
    if layer is None and use_raw is None and not set(names) <= set(table.names):
        table = genes_of(adata, use_raw=False)  # genes that raw lacks are taken from X
    for name, values in _sparse_columns(adata, table, list(dict.fromkeys(names))).items():
        columns[name if name not in columns else f"{name} (gene)"] = values
    return columns


def _finite(column: "Series") -> "Series":
    """Return a column with NaN instead of infinite numbers."""
    return column.where(np.isfinite(column)) if column.dtype.kind == "f" else column


def _is_usable(column: "Series") -> bool:
    """Return whether all values of a column are numbers, text, dates or missing."""
    if column.dtype.kind != "O" or hasattr(column, "cat"):
        return True
    return not any(np.ndim(value) > 0 for value in column)


def _sparse_columns(adata: "AnnData", genes: Genes, names: list[str]) -> "dict[str, Series]":
    pandas = require("pandas", "scverse")
    csc_array = require("scipy.sparse", "scverse").csc_array
    part = csc_array(genes.table[:, [_gene_position(genes, name) for name in names]])
    columns = {}
    for k, name in enumerate(names):
        within = slice(part.indptr[k], part.indptr[k + 1])  # much faster than part[:, [k]]
        column = np.zeros(part.shape[0], part.dtype)
        column[part.indices[within]] = part.data[within]
        array = pandas.arrays.SparseArray(column, fill_value=0)
        columns[name] = pandas.Series(array, index=adata.obs_names)
    return columns


def _gene_position(genes: Genes, name: str) -> int:
    found = np.flatnonzero(genes.names == name)
    if len(found) == 0:
        raise ValueError(
            f"{name!r} is neither a column of adata.obs nor a gene: choose a column or one of adata.var_names"
        )
    if len(found) > 1:
        raise ValueError(f"several genes are named {name!r}: call adata.var_names_make_unique() first")
    return int(found[0])


def cell_palettes(
    adata: "AnnData",
    columns: "Mapping[str, Series]",
    color: str | None,
    palette: "Palette",
    cmap: "str | Colormap | None",
) -> "dict[str, Palette]":
    """Return the palette of each column: given, or stored in `uns`, as in scanpy."""
    found: dict[str, Palette] = {}
    for name, values in columns.items():
        stored = palette_of(adata, name)
        if stored:
            found[name] = stored["palette"]
        elif cmap is not None and values.dtype.kind == "f":
            found[name] = cmap
    if palette is not None and color is not None:
        found[color] = palette
    return found
