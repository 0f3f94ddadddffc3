"""Embeddings of points and trees in hyperbolic space."""
