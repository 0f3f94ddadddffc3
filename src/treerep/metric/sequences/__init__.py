"""Evolutionary distances between aligned sequences, computed from bits on request."""
