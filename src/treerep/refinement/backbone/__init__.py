"""Backbone trees: refine the tree of a sample and place all other points around it."""
