"""Measurements: ratios against a peer, or against one pass over the data, in the same run."""
