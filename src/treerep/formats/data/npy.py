"""Reader for npy files: distances, condensed distances or points, memory-mapped if possible."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.io.arrays import Header, read_array, read_header
from ..._core.memory import check_memory
from ...metric._graph_arrays import edge_columns
from ...metric.base import Metric
from ...metric.disk.mapped import LARGE
from .._request import Request
from .._source import Source
from .condensed import expand

MAPPED = "save it uncompressed and in C order, so that it can be memory-mapped"  # the fix if memory is short


def read(source: Source, request: Request) -> Metric:
    """Read an npy file. A plain file is memory-mapped, so even a 100 GB file opens instantly."""
    with source.open() as file:
        if source.path is None or source.packed:
            return from_array(read_array(file, source.most_bytes, MAPPED), request)
        header = read_header(file, source.most_bytes)
        if header.order == "F" and header.size <= LARGE:
            _check_memory(header)  # a metric keeps a copy in C order
        if header.size == 0:  # an empty array cannot be mapped
            return from_array(np.empty(header.shape, header.dtype), request)
        array = np.memmap(source.path, header.dtype, "r", file.tell(), header.shape, header.order)
    return from_array(array, request)


def _check_memory(header: Header) -> None:
    check_memory(header.size, f"an array of shape {header.shape}", MAPPED)


def from_array(array: NDArray[Any], request: Request, labels: Sequence[object] | None = None) -> Metric:
    """Return the metric of an array. By default, a square array or a vector contains distances."""
    if request.kind == "points":
        return request.points(array, labels)
    if request.kind == "graph":
        return request.graph(array, labels=labels)
    if array.ndim == 1:
        return request.distances(expand(array), labels)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        edges = "for edges pass kind='graph', " * (edge_columns(array) == 2)
        raise ValueError(
            f"an array of {shape} is not a square distance matrix: {edges}for points pass kind='points'"
        )
    return request.square(array, labels)
