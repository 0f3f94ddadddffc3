"""Trees in and out of Python: Newick, npz and JSON, linkage matrices, nodes of other libraries, notebooks."""
