"""Distances in compiled code: a named tuple of arrays for each kind of metric, and functions to read it."""
