"""Tools and plots for single cells in AnnData."""
