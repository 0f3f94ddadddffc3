"""`as_metric`: what users have becomes a Metric. The only place that guesses."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import Metric, MetricError
from .matrix import MatrixMetric
from .points import PointMetric

Converter = Callable[[Any, str | None], Metric]

# "module.Class" of a foreign type -> how to turn it into a Metric. Rooms above (formats, adapters) fill it, so that
# this room imports none of the libraries the types come from.
_CONVERTERS: dict[str, Converter] = {}


def register_converter(type_name: str, converter: Converter) -> None:
    """Let `as_metric` accept objects of the class `type_name` ("module.Class", the root package and the class name)."""
    _CONVERTERS[type_name] = converter


def as_metric(data: Any, *, metric: str | None = None) -> Metric:
    """Turn data into a Metric.

    Parameters
    ----------
    data : Metric, array, DataFrame, scipy sparse matrix, networkx graph
        A Metric is returned as it is. A sparse matrix or a networkx graph is a graph. An array or DataFrame is a
        distance matrix when `metric` is None or "precomputed", and points (rows) when `metric` names one. A square
        DataFrame of distances has the same names on rows and columns; they become labels.
    metric : str, optional
        One of PointMetric's metrics, or "precomputed".

    Examples
    --------
    >>> as_metric([[0, 2], [2, 0]])
    MatrixMetric(2 points)
    >>> as_metric([[0, 2], [2, 0], [1, 1]], metric="euclidean")
    PointMetric(3 points)
    """
    if isinstance(data, Metric):
        if metric is not None:
            raise ValueError(f"the data is a {type(data).__name__} already: leave metric={metric!r} out")
        return data
    for cls in type(data).__mro__:
        converter = _CONVERTERS.get(f"{cls.__module__.partition('.')[0]}.{cls.__name__}")
        if converter is not None:
            return converter(data, metric)
    if _is_sparse(data):
        return _graph(data, metric)
    if _is_frame(data):
        return _from_frame(data, metric)
    if isinstance(data, (str, bytes)) or not (hasattr(data, "__array__") or isinstance(data, (list, tuple))):
        raise TypeError(
            f"cannot take distances from {type(data).__name__}: give an array, a DataFrame, a graph or a Metric"
        )
    return _from_array(np.asarray(data), metric, None)


def _from_array(array: Any, metric: str | None, labels: Any) -> Metric:
    if metric is None or metric == "precomputed":
        return MatrixMetric(array, labels=labels)
    return PointMetric(array, metric, labels=labels)


def _is_sparse(data: Any) -> bool:
    # Whoever has a sparse matrix has imported scipy.sparse; nobody else should wait for it.
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(data))


def _graph(data: Any, metric: str | None) -> Metric:
    from .graph import GraphMetric

    if metric is not None:
        raise MetricError(f"a sparse matrix is read as a graph: for points with metric={metric!r} give data.toarray()")
    return GraphMetric(data)


def _is_frame(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("index", "columns", "to_numpy"))


def _from_frame(frame: Any, metric: str | None) -> Metric:
    names = [str(name) for name in frame.index]
    if (metric is None or metric == "precomputed") and frame.shape[0] == frame.shape[1]:
        columns = [str(name) for name in frame.columns]
        for position, (row, column) in enumerate(zip(names, columns, strict=True)):
            if row != column:
                raise MetricError(
                    f"row {position} is named {row!r} but column {position} {column!r}: "
                    "give the rows and columns of a distance table the same names in the same order"
                )
    return _from_array(frame.to_numpy(), metric, names)
