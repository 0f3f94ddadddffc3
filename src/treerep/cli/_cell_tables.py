"""Read the columns of `obs`, genes and colors from an h5ad file."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .._core.extras import require
from ..adapters.scverse._cell_table import cell_palettes, cell_table
from ..formats.data.h5ad import check_links
from ._options import Reading

if TYPE_CHECKING:
    from anndata import AnnData
    from pandas import Series

    from ..drawing.figures._colors import Palette

_HDF5 = b"\x89HDF\r\n\x1a\n"


class CellTable(NamedTuple):
    """Columns of the cells, and the palette of each column that has one."""

    columns: "dict[str, Series]"
    palettes: "dict[str, Palette]"


def is_h5ad(path: str, reading: Reading) -> bool:
    """Return whether a file is an uncompressed h5ad file."""
    if path == "-" or reading.format not in (None, "h5ad") or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(len(_HDF5)) == _HDF5


def read_cells(path: str, color: str | None, genes: str | None, table: str | None) -> CellTable:
    """Read the attributes of the cells. Genes are read only if requested."""
    check_links(path)
    wanted = genes.split(",") if genes is not None and genes != "all" else genes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # files of old versions
        backed = None if genes is not None else "r"
        adata = require("anndata", "scverse").read_h5ad(path, backed=backed)
    known = color is None or color in adata.obs or color in _gene_names(adata)
    if not known and table is None:  # before a tree is fitted, which may take long
        listed = ", ".join(map(repr, adata.obs)) or "no columns"
        raise ValueError(
            f"--color {color} is neither a gene nor a column of obs, which has {listed}: "
            "use one of them, or add --table"
        )
    columns = cell_table(adata, color if known else None, wanted)
    return CellTable(columns, cell_palettes(adata, columns, None, None, None))


def _gene_names(adata: "AnnData") -> set[str]:
    names = set(adata.var_names)
    return names if adata.raw is None else names | set(adata.raw.var_names)
