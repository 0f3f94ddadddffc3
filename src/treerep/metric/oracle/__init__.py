"""Distances for compiled code: a named tuple of arrays per kind of metric, and its readers."""
