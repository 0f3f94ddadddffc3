"""Who does the work: threads, a Dask cluster, or a device of torch.

Importing this package imports neither.
"""
