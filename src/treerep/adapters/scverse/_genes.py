"""Tables of genes: `X`, a layer, or `raw`."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from anndata import AnnData


class Genes(NamedTuple):
    """A table of cells and genes, dense or sparse, with the names of the genes."""

    names: Any  # pandas Index
    table: Any  # (cells, genes)
    place: str  # where the table is, for errors


def genes_of(adata: "AnnData", layer: str | None = None, use_raw: bool | None = None) -> Genes:
    """Return a layer, `raw` or `X`. As in scanpy, the default is `raw` if it exists."""
    if layer is not None:
        if use_raw:
            raise ValueError("layer and use_raw=True name different genes: leave out one")
        if layer not in adata.layers:
            known = ", ".join(map(repr, adata.layers)) or "no layers"
            raise ValueError(f"adata.layers has no {layer!r} (it has {known}): add it")
        return Genes(adata.var_names, adata.layers[layer], f"adata.layers[{layer!r}]")
    if use_raw and adata.raw is None:
        raise ValueError("adata.raw is empty: leave out use_raw, or set adata.raw")
    if adata.raw is not None and use_raw is not False:
        return Genes(adata.raw.var_names, adata.raw.X, "adata.raw.X")
    if adata.X is None:
        raise ValueError("this AnnData has no X: add gene expression, or name a layer")
    return Genes(adata.var_names, adata.X, "adata.X")
