"""Matrices that stay on disk."""
