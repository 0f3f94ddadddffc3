"""Metrics from Dask arrays and torch tensors.

The table in `metric/_registry.py` refers to these functions by name.
"""

from typing import Any, NoReturn

from .._core.typing import Tensor
from ..metric.as_metric import as_metric
from ..metric.base import Metric


def refuse_dask_array(array: object, **options: object) -> NoReturn:  # noqa: ARG001
    """Raise a TypeError, so that points on a cluster are not loaded onto one machine."""
    raise TypeError(
        "points in a dask array stay on their workers: add engine='dask' or engine=client, or call compute()"
    )


def from_tensor(tensor: Tensor, *, metric: str | None = None, **options: Any) -> Metric:
    """Return the metric of a dense tensor on any device, without its gradient."""
    if str(tensor.layout) != "torch.strided":  # torch's name for a dense layout
        raise TypeError("a sparse tensor cannot be used as distances or points: pass tensor.to_dense()")
    if tensor.is_floating_point() and str(tensor.dtype) not in (
        "torch.float16",
        "torch.float32",
        "torch.float64",
    ):
        tensor = tensor.double()  # NumPy has no bfloat16
    return as_metric(tensor.numpy(force=True), metric=metric, **options)
