"""Distances for compiled code: one named tuple of arrays per kind of metric, and one function that reads it."""
