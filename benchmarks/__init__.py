"""Benchmarks. Many results are ratios to another library or to one pass over the data."""
