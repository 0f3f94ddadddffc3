"""Room `scaling`: the same trees and scores from a cluster (Dask) or a GPU (torch). Importing it imports neither."""

from ..common.engines import register_engine

# What runs elsewhere, and the function of this room that does it.
_DASK: dict[str, str] = {
    "average_distortion": "dask_scores:average_distortion",
    "fit": "dask_trials:fit_trials",
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
