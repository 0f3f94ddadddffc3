"""NumPy's npy files: distances, condensed distances or points, opened without reading them where that is possible."""

from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from ..common.memory import check_memory
from ..metric.base import Metric
from .condensed import expand
from .request import Request
from .source import Source


def read(source: Source, request: Request) -> Metric:
    """Read an npy file; of one that is neither packed nor a pipe, only what is asked for is ever read from disk."""
    if source.path is not None and not source.packed:
        # Mapped where NumPy can: a file of 100 GB opens at once.
        with source.open() as file:
            check_header(file, source.most_bytes, in_memory=False)
        return from_array(np.load(source.path, mmap_mode="r", allow_pickle=False), request)
    with source.open() as file:
        check_header(file, source.most_bytes, in_memory=True)
    with source.open() as file:
        return from_array(npy_format.read_array(file, allow_pickle=False), request)


def check_header(file: BinaryIO, size: int, *, in_memory: bool) -> None:
    """Refuse an array of Python objects, one that promises more bytes than `size`, and one that memory cannot hold."""
    version = npy_format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version[0]}.{version[1]} of the npy format holds no table of numbers: save it anew")
    read_header = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    shape, fortran, dtype = read_header(file)
    if dtype.hasobject or dtype.names is not None:
        raise ValueError(f"an array of dtype {dtype} is no table of numbers: save it as numbers")
    needed = dtype.itemsize
    for length in shape:  # Python's integers do not overflow
        needed *= length
    if needed > size:
        raise ValueError(f"an array of shape {shape} takes {needed:,} bytes and the file has {size:,}: it is cut short")
    if in_memory or fortran:
        check_memory(needed, f"an array of shape {shape}", "save it plain and in C order, to be mapped")


def from_array(array: NDArray[Any], request: Request, labels: Any = None) -> Metric:
    """Return the metric of an array: a square one, or a vector, is distances unless the request says otherwise."""
    if request.kind == "points":
        return request.points(array, labels)
    if request.kind == "graph":
        return request.graph(array, labels=labels)
    if array.ndim == 1:
        return request.distances(expand(array), labels)
    if request.kind is None and (array.ndim != 2 or array.shape[0] != array.shape[1]):
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise ValueError(f"an array of {shape} is no square of distances: for points say kind='points'")
    return request.distances(array, labels)
