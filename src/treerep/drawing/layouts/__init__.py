"""Positions of nodes and edges in a picture."""
