"""Utilities shared by all packages: argument checks, files, kernels, memory, threads, progress."""
