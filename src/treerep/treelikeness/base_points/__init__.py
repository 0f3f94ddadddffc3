"""Bounds from base points, in O(n^3)."""
