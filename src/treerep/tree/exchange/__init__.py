"""Conversion of trees: Newick, npz, JSON, linkage matrices, nodes of other libraries, notebooks."""
