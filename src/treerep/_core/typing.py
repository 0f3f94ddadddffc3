"""Types of arguments that many functions share.

They are strings, so that no function imports NumPy, torch or Dask for its annotations.
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

#: A seed, a generator, or None for unpredictable choices.
RNGLike: TypeAlias = "int | np.random.Generator | None"
#: A Metric, or anything that `as_metric` reads: arrays, tables, graphs, files.
MetricLike: TypeAlias = "Metric | Any"
#: "threads", "dask" or a client of a cluster; None means threads.
EngineLike: TypeAlias = "str | Client | None"
#: The name of a torch device, or the device; None means the threads of the CPU, never a GPU.
DeviceLike: TypeAlias = "str | torch.device | None"
#: A torch device, as `find_device` returns it.
TorchDevice: TypeAlias = "torch.device"
#: A generator of torch's random numbers.
TorchGenerator: TypeAlias = "torch.Generator"
#: A table of pandas, or of a library like it.
DataFrame: TypeAlias = "pd.DataFrame"
#: A matrix of scipy.sparse, in any format.
SparseMatrix: TypeAlias = "sparse.sparray | sparse.spmatrix"
#: An array that is stored in chunks.
ChunkedArray: TypeAlias = "zarr.Array[Any] | h5py.Dataset"
#: A graph of scipy, networkx, igraph or networkit, or an (m, 2) array of edges.
GraphLike: TypeAlias = "sparse.sparray | sparse.spmatrix | ArrayLike | Any"
#: A graph of networkx.
NetworkXGraph: TypeAlias = "nx.Graph"
#: A tree of scikit-bio, given by its root.
SkbioNode: TypeAlias = "skbio.TreeNode"
#: Numbers on a torch device.
Tensor: TypeAlias = "torch.Tensor"
#: A connection to a Dask cluster.
DaskClient: TypeAlias = "Client"
#: What a task on a Dask cluster will return.
DaskFuture: TypeAlias = "Future[Any]"
