"""Reproduction of the paper: all tables and figures, next to the published numbers."""
