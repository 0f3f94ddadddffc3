"""Benchmarks with biological data and simulations."""
