"""Room `scaling`: the same trees and scores from a cluster (Dask) or a GPU (torch). Importing it imports neither."""

from typing import Any, NoReturn

from ..common.engines import register_engine
from ..metric.base import Metric
from ..metric.convert import as_metric
from ..metric.registry import register_converter

# What runs elsewhere, and the function of this room that does it.
_DASK: dict[str, str] = {
    "average_distortion": "dask_scores:average_distortion",
    "fit": "dask_fit:fit",
    "mean_average_precision": "dask_scores:mean_average_precision",
    "refine": "dask_refine:refine",
}
_TORCH: dict[str, str] = {
    "average_distortion": "torch_scores:average_distortion",
    "fit": "torch_fit:fit",
    "hyperbolicity": "torch_hyperbolicity:hyperbolicity",
    "mean_average_precision": "torch_precision:mean_average_precision",
    "refine": "torch_refine:refine",
}


def register() -> None:
    """Tell the rooms below where else their work can be done."""
    for where, table in (("dask", _DASK), ("torch", _TORCH)):
        for what, function in table.items():
            register_engine(what, where, f"{__name__}.{function}")
    register_converter("dask.Array", _refuse)
    register_converter("torch.Tensor", _from_tensor)


def _refuse(array: Any, metric: str | None, **options: Any) -> NoReturn:  # noqa: ARG001
    # Nobody wants all points of a cluster on one machine by accident.
    raise TypeError("points in a dask array stay with their workers: add engine='dask' or engine=client, or compute()")


def _from_tensor(tensor: Any, metric: str | None, **options: Any) -> Metric:
    # From whatever device it is on, and without its gradient. The layout of a dense tensor is called torch.strided.
    if str(tensor.layout) != "torch.strided":
        raise TypeError("cannot take distances from a sparse tensor: give tensor.to_dense()")
    if tensor.is_floating_point() and str(tensor.dtype) not in ("torch.float16", "torch.float32", "torch.float64"):
        tensor = tensor.double()  # NumPy has no bfloat16
    return as_metric(tensor.numpy(force=True), metric=metric, **options)
