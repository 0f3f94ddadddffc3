"""Figures of matplotlib."""
