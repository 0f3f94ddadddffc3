"""Shortest paths in graphs: searches from one vertex, and hub labels for any pair."""
