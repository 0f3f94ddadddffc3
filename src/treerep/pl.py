"""Plots of single-cell trees: `treerep.pl.tree(adata)`, `treerep.pl.disk(adata)`."""

from .adapters.scverse.group_plots import groups
from .adapters.scverse.marker_plots import markers
from .adapters.scverse.plots import disk, tree

__all__ = ["disk", "groups", "markers", "tree"]
