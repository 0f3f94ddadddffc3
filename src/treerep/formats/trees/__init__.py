"""Formats for trees, one module each."""
