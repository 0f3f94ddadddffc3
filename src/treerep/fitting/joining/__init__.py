"""Neighbor joining: exact, with variances (BIONJ), relaxed."""
