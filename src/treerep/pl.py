"""Plots of single-cell trees: `treerep.pl.tree(adata)`, `treerep.pl.disk(adata)`."""

from .adapters.scverse.plots import disk, tree

__all__ = ["disk", "tree"]
