"""Types of arguments that many functions share.

They are strings, so that no function imports NumPy, torch or Dask for its annotations.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import torch
    from distributed import Client, Future

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
#: Numbers on a torch device.
Tensor: TypeAlias = "torch.Tensor"
#: A connection to a Dask cluster.
DaskClient: TypeAlias = "Client"
#: What a task on a Dask cluster will return.
DaskFuture: TypeAlias = "Future[Any]"
