"""The cells of an AnnData as points of a metric, labeled by `obs_names`."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import integer_or_none
from ..._core.extras import require
from ..._core.memory import check_memory
from ...metric.base import Metric, MetricError
from ...metric.points import PointMetric

if TYPE_CHECKING:
    from anndata import AnnData


def check_adata(adata: object) -> None:
    """Raise a TypeError unless this is an AnnData. A TreeData is an AnnData."""
    if not isinstance(adata, require("anndata", "scverse").AnnData):
        kind = type(adata).__name__
        raise TypeError(f"expected an AnnData or TreeData, got {kind}: for other data use treerep.fit")


def check_key(key: object) -> None:
    """Raise a ValueError unless files can store results under this key."""
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(f"key_added must be text without slashes, got {key!r}")


def cell_metric(
    adata: "AnnData", metric: str | None = None, use_rep: str | None = None, **others: object
) -> Metric:
    """Return the metric that `as_metric` creates from an AnnData object.

    `use_rep` is "X" or a key of `obsm`. The default is "X_pca" if it exists, otherwise "X". The
    default metric is Euclidean. A sparse table is converted to a dense one if it fits in
    memory.
    """
    for name, value in others.items():
        raise ValueError(f"{name}={value!r} does not apply to an AnnData object: leave it out")
    if metric == "precomputed":
        raise ValueError(
            "the cells of an AnnData are points: choose a metric for points, e.g. 'euclidean', or pass a matrix"
        )
    names = check_names(adata)
    chosen = use_rep if use_rep is not None else "X_pca" if "X_pca" in adata.obsm else "X"
    table = representation(adata, chosen)
    try:
        return PointMetric(table, "euclidean" if metric is None else metric, labels=names)
    except MetricError as error:
        raise MetricError(f"{_place(chosen)}: {error}") from error


def check_names(adata: "AnnData") -> list[str]:
    """Return the names of the cells. Raise an error if there are no cells or names occur twice."""
    names = list(adata.obs_names)
    if not names:
        raise ValueError("this AnnData has no cells: a tree needs at least one")
    if not adata.obs_names.is_unique:
        twice = adata.obs_names[adata.obs_names.duplicated()][0]
        raise ValueError(f"several cells are named {twice!r}: call adata.obs_names_make_unique() first")
    return names


def representation(adata: "AnnData", use_rep: str) -> NDArray[Any]:
    """Return `X` or a table of `obsm` as a dense array."""
    if use_rep != "X" and use_rep not in adata.obsm:
        known = ", ".join(map(repr, adata.obsm))
        remedy = "choose one of them" if known else "add it"
        if use_rep == "X_pca":
            remedy = "run sc.pp.pca(adata)"
        content = f"it contains {known}" if known else "it is empty"
        raise ValueError(
            f"adata.obsm has no {use_rep!r} ({content}): {remedy}, or pass use_rep='X' to use the genes"
        )
    table = adata.X if use_rep == "X" else adata.obsm[use_rep]
    if table is None:
        raise ValueError("this AnnData has no X: choose a table of its obsm with use_rep")
    return dense(table, _place(use_rep))


def dense(table: Any, place: str) -> NDArray[Any]:
    """Return a table as a dense array, if it fits in memory. `place` is its name in errors."""
    if hasattr(table, "to_memory"):  # sparse, in a file
        table = table.to_memory()
    if not hasattr(table, "toarray"):
        return np.asarray(table)
    rows, columns = table.shape
    check_memory(
        rows * columns * table.dtype.itemsize,
        f"{place}, sparse, as a dense table of {rows:,} x {columns:,}",
        "reduce it first, e.g. with sc.pp.pca(adata), and pass use_rep='X_pca'",
    )
    return np.asarray(table.toarray())


def column_of(adata: "AnnData", name: object, argument: str) -> Any:
    """Return a column of `obs`. `argument` is the argument that names it, for the error."""
    check_adata(adata)
    if name not in adata.obs:
        known = ", ".join(map(repr, list(adata.obs)[:5]))
        content = f"it has {known}" if known else "it is empty"
        raise ValueError(f"{argument}={name!r} is not a column of adata.obs ({content})")
    return adata.obs[name]


def cell_position(adata: "AnnData", cell: object) -> int:
    """Return the position of the root cell, given its name or its position."""
    check_names(adata)
    if isinstance(cell, str):
        if cell not in adata.obs_names:
            raise ValueError(
                f"root={cell!r} is not in adata.obs_names: use the name or the position of a cell"
            )
        return int(adata.obs_names.get_loc(cell))
    position = integer_or_none(cell)
    if position is None or not 0 <= position < adata.n_obs:
        raise ValueError(
            f"root must be the name of a cell or its position, 0 to {adata.n_obs - 1}, got {cell!r}"
        )
    return position


def _place(use_rep: str) -> str:
    return "adata.X" if use_rep == "X" else f"adata.obsm[{use_rep!r}]"
