"""Metrics: distance matrices, points with coordinates, and graphs."""
