"""Comparison of trees by their splits: difference, support and consensus."""
