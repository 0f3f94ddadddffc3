"""Readers for NumPy's npy format that check sizes before they allocate memory."""

import warnings
from math import prod
from tokenize import TokenError
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from ..memory import check_memory


class Header(NamedTuple):
    """The header of an npy file."""

    shape: tuple[int, ...]
    order: Literal["C", "F"]
    dtype: np.dtype[Any]
    size: int  # in bytes


def read_array(file: IO[bytes], most_bytes: int, remedy: str) -> NDArray[Any]:
    """Return the array of an npy file of at most `most_bytes`, if it fits in memory.

    The array is read-only.
    """
    header = read_header(file, most_bytes)
    check_memory(header.size, f"an array of shape {header.shape}", remedy)
    data = file.read(header.size)
    if len(data) < header.size:
        raise ValueError(
            f"an array of shape {header.shape} takes {header.size:,} bytes: the file is truncated"
        )
    return np.frombuffer(data, header.dtype).reshape(header.shape, order=header.order)


def read_header(file: IO[bytes], most_bytes: int) -> Header:
    """Return the header of an npy file. Arrays of objects or larger than the file raise an error."""
    version = npy_format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(
            f"version {version[0]}.{version[1]} of the npy format cannot store a table of "
            "numbers: save the file again"
        )
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about integers written by Python 2
            shape, fortran, dtype = read(file)
    except (SyntaxError, TypeError, AttributeError, TokenError, RecursionError) as error:
        raise ValueError(f"the npy header is damaged ({error}): save the file again") from error
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        raise ValueError(f"expected numbers, got an array of dtype {dtype}: save the array as numbers")
    if any(length < 0 for length in shape):
        raise ValueError(f"the npy header has the shape {shape}: save the file again")
    size = prod(shape) * dtype.itemsize  # Python integers do not overflow
    if size > most_bytes - file.tell():
        raise ValueError(
            f"an array of shape {shape} takes {size:,} bytes, more than the file has: the file is truncated"
        )
    return Header(shape, "F" if fortran else "C", dtype, size)
