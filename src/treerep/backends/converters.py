"""Metrics from arrays of Dask and torch.

The table in `metric/_registry.py` names these functions.
"""

from typing import Any, NoReturn

from .._core.typing import Tensor
from ..metric.as_metric import as_metric
from ..metric.base import Metric


def refuse_dask_array(array: object, **options: object) -> NoReturn:  # noqa: ARG001
    """Raise a TypeError: the points of a cluster must not come to one machine by accident."""
    raise TypeError(
        "points in a dask array stay with their workers: add engine='dask' or engine=client, or compute()"
    )


def from_tensor(tensor: Tensor, *, metric: str | None = None, **options: Any) -> Metric:
    """Return the metric of a dense tensor on any device, without its gradient."""
    if str(tensor.layout) != "torch.strided":  # what torch calls a dense layout
        raise TypeError("cannot take distances from a sparse tensor: give tensor.to_dense()")
    if tensor.is_floating_point() and str(tensor.dtype) not in (
        "torch.float16",
        "torch.float32",
        "torch.float64",
    ):
        tensor = tensor.double()  # NumPy has no bfloat16
    return as_metric(tensor.numpy(force=True), metric=metric, **options)
