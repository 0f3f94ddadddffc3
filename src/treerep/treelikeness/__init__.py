"""Gromov's hyperbolicity: a measure of how tree-like distances are."""
