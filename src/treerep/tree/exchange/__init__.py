"""Trees as Newick, npz, JSON, linkage matrices, nodes of other libraries, and notebooks."""
