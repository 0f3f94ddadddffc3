"""Neighbor joining: exact, with variances (BIONJ), and relaxed."""
