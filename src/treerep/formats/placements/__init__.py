"""Formats of placements."""
