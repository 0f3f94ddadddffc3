"""Room `scaling`: the same trees and scores from a cluster (Dask) or a GPU (torch). Importing it imports neither."""

from ..common.engines import register_engine

# What runs elsewhere, and the function of this room that does it.
_DASK: dict[str, str] = {"fit": "dask_fit:fit"}
_TORCH: dict[str, str] = {}


def register() -> None:
    """Tell the rooms below where else their work can be done."""
    for where, table in (("dask", _DASK), ("torch", _TORCH)):
        for what, function in table.items():
            register_engine(what, where, f"{__name__}.{function}")
