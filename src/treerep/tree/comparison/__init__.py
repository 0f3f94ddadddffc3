"""Comparison of trees by their splits: difference and support."""
