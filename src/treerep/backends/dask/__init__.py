"""A cluster of Dask workers."""
