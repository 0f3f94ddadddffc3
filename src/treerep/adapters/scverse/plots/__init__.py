"""Plots of trees of cells, following scverse conventions."""
