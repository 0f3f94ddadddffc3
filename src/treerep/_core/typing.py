"""Types of arguments that many functions share.

The types are strings, so that annotations do not import NumPy, torch or Dask.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import h5py
    import networkx as nx
    import numpy as np
    import pandas as pd
    import skbio
    import torch
    import zarr
    from distributed import Client, Future
    from numpy.typing import ArrayLike
    from scipy import sparse

    from ..metric.base import Metric

#: A seed, a generator, or None for a different result in every run.
RNGLike: TypeAlias = "int | np.random.Generator | None"
#: A Metric, or anything that `as_metric` reads: arrays, tables, graphs, files.
MetricLike: TypeAlias = "Metric | Any"
#: "threads", "dask" or a Dask client; None means threads.
EngineLike: TypeAlias = "str | Client | None"
#: The name of a torch device, or the device; None means CPU threads, never a GPU.
DeviceLike: TypeAlias = "str | torch.device | None"
#: A torch device, as returned by `find_device`.
TorchDevice: TypeAlias = "torch.device"
#: A torch random number generator.
TorchGenerator: TypeAlias = "torch.Generator"
#: A DataFrame of pandas or a similar library.
DataFrame: TypeAlias = "pd.DataFrame"
#: A scipy.sparse matrix in any format.
SparseMatrix: TypeAlias = "sparse.sparray | sparse.spmatrix"
#: An array stored in chunks.
ChunkedArray: TypeAlias = "zarr.Array[Any] | h5py.Dataset"
#: A scipy, networkx, igraph or networkit graph, or an (m, 2) array of edges.
GraphLike: TypeAlias = "sparse.sparray | sparse.spmatrix | ArrayLike | Any"
#: A networkx graph.
NetworkXGraph: TypeAlias = "nx.Graph"
#: The root node of a scikit-bio tree.
SkbioNode: TypeAlias = "skbio.TreeNode"
#: A torch tensor.
Tensor: TypeAlias = "torch.Tensor"
#: A connection to a Dask cluster.
DaskClient: TypeAlias = "Client"
#: The future result of a task on a Dask cluster.
DaskFuture: TypeAlias = "Future[Any]"
