"""Plots of single-cell trees: `treerep.pl.tree(adata)`, `treerep.pl.page(adata)`."""

from .adapters.scverse.plots.cell_page import page
from .adapters.scverse.plots.group_plots import groups
from .adapters.scverse.plots.tree_plots import disk, tree

__all__ = ["disk", "groups", "page", "tree"]
