"""Multidimensional scaling in hyperbolic space."""
