"""Oracles of one type for all metrics, so that a large kernel is compiled only once.

A kernel is compiled for each type of oracle that it receives, and the compiler copies `distance` into
it. For a large kernel, this takes seconds. A `CalledOracle` contains the address of a small kernel
that computes the distances instead. A call takes a few nanoseconds, so kernels read several distances
per call (`distances`).
"""

from threading import Lock
from typing import Any

import numba
import numpy as np

from ..._core.kernel import kernel
from .call_kernels import ARGUMENTS, point_at, reader, write_distance
from .classes import (
    AngleOracle,
    CalledOracle,
    ChebyshevOracle,
    EuclideanOracle,
    ManhattanOracle,
    MatrixOracle,
)
from .distance_kernels import distance, prefetch

# Distances that take only a few nanoseconds, of inputs that are common.
_FAST = (MatrixOracle, EuclideanOracle, ManhattanOracle, ChebyshevOracle, AngleOracle)


# Distance between the point being read and the point being prefetched.
_AHEAD = 8
# By the class and the arrays of an oracle: its compiled function, which keeps its machine code in memory,
# and the address of this code.
_functions: dict[Any, tuple[Any, int]] = {}
_lock = Lock()


def called(oracle: Any) -> CalledOracle:
    """Return an oracle with the same distances. The arrays of `oracle` must outlive it."""
    # Arrays of oracles are read-only and C-contiguous, so this determines their types.
    kind = type(oracle), *((array.dtype, array.ndim) for array in oracle)
    function = _functions.get(kind) or _compile_once(kind, oracle)
    table = [function[1]]
    for array in oracle:
        table += [array.__array_interface__["data"][0], *array.shape]
    entries = np.array(table, np.int64)
    entries.flags.writeable = False
    return CalledOracle(entries)


def called_if_slow(oracle: Any) -> Any:
    """Return the oracle itself if its distances are fast, and otherwise `called(oracle)`."""
    return oracle if isinstance(oracle, _FAST) else called(oracle)


def _compile_once(kind: Any, oracle: Any) -> tuple[Any, int]:
    """Return the function of an oracle. Threads that need the same function wait for one of them."""
    with _lock:
        if kind not in _functions:
            _functions[kind] = _compiled(numba.typeof(oracle))
        return _functions[kind]


def _compiled(kind: Any) -> tuple[Any, int]:
    """Compile the function for a type of oracle."""
    read = reader(kind)

    def fill(table: Any, i: Any, points: Any, count: Any, out: Any) -> None:
        oracle = read(table)
        for k in range(min(_AHEAD, count)):
            prefetch(oracle, i, point_at(points, k))
        for k in range(count):
            prefetch(oracle, i, point_at(points, min(k + _AHEAD, count - 1)))
            write_distance(out, k, distance(oracle, i, point_at(points, k)))

    compiled = kernel(fill, key=str(kind))
    compiled.compile(ARGUMENTS)
    (result,) = compiled.overloads.values()
    symbol = result.fndesc.llvm_func_name
    return compiled, int(result.library.get_pointer_to_function(symbol))
