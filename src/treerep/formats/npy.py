"""NumPy's npy files: distances, condensed distances or points, opened without reading them where that is possible."""

import warnings
from math import prod
from tokenize import TokenError
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from ..common.memory import check_memory
from ..metric.base import Metric
from ..metric.mapped import LARGE
from .condensed import expand
from .request import Request
from .source import Source


class Header(NamedTuple):
    """What an npy file says of its array."""

    shape: tuple[int, ...]
    order: Literal["C", "F"]
    dtype: np.dtype[Any]
    size: int  # in bytes


def read(source: Source, request: Request) -> Metric:
    """Read an npy file; one that is neither packed nor a pipe is mapped, so that 100 GB open at once."""
    with source.open() as file:
        if source.path is None or source.packed:
            return from_array(read_array(file, source.most_bytes), request)
        header = read_header(file, source.most_bytes)
        if header.order == "F" and header.size <= LARGE:
            _check_memory(header)  # a metric keeps a copy in C order
        if header.size == 0:  # which cannot be mapped
            return from_array(np.empty(header.shape, header.dtype), request)
        array = np.memmap(source.path, header.dtype, "r", file.tell(), header.shape, header.order)
    return from_array(array, request)


def read_array(file: IO[bytes], most_bytes: int) -> NDArray[Any]:
    """Return the array of an npy file that has at most so many bytes, if there is memory for it."""
    header = read_header(file, most_bytes)
    _check_memory(header)
    data = file.read(header.size)
    if len(data) < header.size:
        raise ValueError(f"an array of shape {header.shape} takes {header.size:,} bytes: the file is cut short")
    return np.frombuffer(data, header.dtype).reshape(header.shape, order=header.order)


def read_header(file: IO[bytes], most_bytes: int) -> Header:
    """Return the header of an npy file; one of an array of objects, or of more bytes than there can be, is refused."""
    version = npy_format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version[0]}.{version[1]} of the npy format holds no table of numbers: save it anew")
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of numbers as Python 2 wrote them
            shape, fortran, dtype = read(file)
    except (SyntaxError, TypeError, AttributeError, TokenError, RecursionError) as error:
        raise ValueError(f"its npy header is damaged ({error}): save it anew") from error
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        raise ValueError(f"an array of dtype {dtype} is no table of numbers: save it as numbers")
    if any(length < 0 for length in shape):
        raise ValueError(f"its npy header has the shape {shape}: save it anew")
    size = prod(shape) * dtype.itemsize  # Python's integers do not overflow
    if size > most_bytes - file.tell():
        raise ValueError(f"an array of shape {shape} takes {size:,} bytes, more than there are: the file is cut short")
    return Header(shape, "F" if fortran else "C", dtype, size)


def _check_memory(header: Header) -> None:
    check_memory(header.size, f"an array of shape {header.shape}", "save it plain and in C order, to be mapped")


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
