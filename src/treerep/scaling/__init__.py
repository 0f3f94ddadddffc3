"""The same trees and scores from a cluster (Dask) or a GPU (torch). Importing this package imports neither."""
