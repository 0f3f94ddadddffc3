"""Formats for distances, points and graphs, one module each."""
