"""Refined quality at any size: refine the tree of a sample, place all other points around it."""
