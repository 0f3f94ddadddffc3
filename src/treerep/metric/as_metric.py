"""`as_metric`: conversion of arrays, tables, graphs and files to a Metric."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.typing import DataFrame, MetricLike
from ._registry import find_converter
from .base import Metric, MetricError
from .matrix import MatrixMetric
from .points import PointMetric


def as_metric(
    data: MetricLike,
    *,
    metric: str | None = None,
    labels: Sequence[object] | None = None,
    symmetrize: str | None = None,
    weight: str | None = None,
    largest_component: bool = False,
    use_rep: str | None = None,
) -> Metric:
    """Turn data into a Metric.

    Parameters
    ----------
    data : Metric, array, DataFrame, sparse matrix, graph, AnnData or path of a file
        - A Metric, or a data set of `datasets.load`: returned as it is.
        - An array or DataFrame: a distance matrix if `metric` is None or "precomputed",
          otherwise points (rows). A DataFrame of distances has the same names on rows and
          columns, which become labels. Torch tensors, zarr arrays and h5py data sets are
          arrays. Stored distances of more than 1 GiB stay on disk.
        - A scipy sparse matrix, or a graph of networkx, igraph or networkit: a graph.
        - A DistanceMatrix of scikit-bio: a distance matrix.
        - An AnnData: its cells are points, Euclidean if `metric` is None.
        - A string or path: a file. Its content and extension decide how it is read.
          `treerep.formats.read` takes more options.

        Installed packages can add types.
    metric : str, optional
        One of PointMetric's metrics, or "precomputed".
    labels : sequence, optional
        Names of the points.
    symmetrize : "mean", optional
        For a distance matrix: average d(i, j) and d(j, i).
    weight : str, optional
        For a graph of another library or a GraphML file: the edge attribute with the lengths.
        By default every edge counts 1, as in networkx's shortest paths.
    largest_component : bool
        For a graph: keep the largest connected component of a disconnected one.
    use_rep : str, optional
        For an AnnData: the table of the cells, "X" or a key of `obsm`. By default "X_pca" if
        there is one, otherwise "X".

    Notes
    -----
    Everything is checked once, here: O(n^2) time for a matrix, O(n k) for points, O(edges) for
    a graph. An array is copied only if its type or layout requires it.

    Examples
    --------
    >>> as_metric([[0, 2], [2, 0]])
    MatrixMetric(2 points)
    >>> as_metric([[0, 2], [2, 0], [1, 1]], metric="euclidean")
    PointMetric(3 points)
    """
    options: dict[str, Any] = {
        "labels": labels,
        "symmetrize": symmetrize,
        "weight": weight,
        "use_rep": use_rep,
    }
    options = {name: value for name, value in options.items() if value is not None}
    if largest_component:
        options["largest_component"] = True
    if isinstance(data, Metric):
        _refuse(
            {"metric": metric, **options}, f"a {type(data).__name__}, which is already a metric"
        )
        return data
    if isinstance(getattr(data, "metric", None), Metric):  # a data set
        return as_metric(data.metric, metric=metric, **options)
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        first = tuple(np.argwhere(np.ma.getmaskarray(data))[0].tolist())
        raise MetricError(
            f"entry {first} is masked: fill it, or drop the points with missing entries"
        )
    converter = find_converter(data)
    if converter is not None:
        metric_of: Metric = converter(data, metric=metric, **options)
        return metric_of
    if _is_sparse(data):
        return _graph(data, metric, options)
    if is_frame(data):
        return _from_frame(data, metric, options)
    if isinstance(data, (str, bytes)) or not (
        hasattr(data, "__array__") or isinstance(data, (list, tuple))
    ):
        raise TypeError(
            f"cannot read distances from {type(data).__name__}: pass an array, a "
            "DataFrame, a graph, a Metric or the path of a file as a str or Path"
        )
    return _from_array(np.asarray(data), metric, options)


def _from_array(array: NDArray[Any], metric: str | None, options: dict[str, Any]) -> Metric:
    if metric is None or metric == "precomputed":
        _refuse(options, "a distance matrix", allowed=("labels", "symmetrize"))
        return MatrixMetric(array, **options)
    _refuse(options, "points", allowed=("labels",))
    return PointMetric(array, metric, **options)


def _refuse(options: dict[str, Any], what: str, allowed: tuple[str, ...] = ()) -> None:
    """Raise a ValueError for the first given option that does not apply to this kind of data."""
    for name, value in options.items():
        if value is not None and name not in allowed:
            raise ValueError(f"{name}={value!r} does not apply to {what}: leave it out")


def _is_sparse(data: MetricLike) -> bool:
    # If this is a sparse matrix, scipy.sparse is already imported. Otherwise its slow import is
    # avoided.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))


def _graph(data: MetricLike, metric: str | None, options: dict[str, Any]) -> Metric:
    from .graph import GraphMetric

    if metric is not None:
        raise MetricError(
            f"a sparse matrix is read as a graph: for points with metric={metric!r} pass data.toarray()"
        )
    _refuse(options, "a sparse matrix", allowed=("labels", "largest_component"))
    return GraphMetric(data, **options)


def is_frame(data: MetricLike) -> bool:
    """Return whether this is a DataFrame of pandas or a similar library."""
    return all(hasattr(data, name) for name in ("index", "columns", "to_numpy"))


def _from_frame(frame: DataFrame, metric: str | None, options: dict[str, Any]) -> Metric:
    names = [str(name) for name in frame.index]
    if (metric is None or metric == "precomputed") and frame.shape[0] == frame.shape[1]:
        columns = [str(name) for name in frame.columns]
        for position, (row, column) in enumerate(zip(names, columns, strict=True)):
            if row != column:
                raise MetricError(
                    f"row {position} is named {row!r} but column {position} is named "
                    f"{column!r}: give the rows and columns of a distance table the same "
                    "names in the same order"
                )
    return _from_array(frame.to_numpy(), metric, {"labels": names, **options})
