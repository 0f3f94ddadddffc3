"""Minimum evolution."""
