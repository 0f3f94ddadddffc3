"""Backends: threads, a Dask cluster, or a torch device.

Importing this package imports neither Dask nor torch.
"""
