"""Optimal edge lengths for a fixed topology."""
