"""Pytest plugin that runs kernels as plain Python: `pytest -p harden.uncompiled`.

coverage.py does not see compiled code. With this plugin nothing is compiled. Functions that only
exist as machine code (distances by oracle class, lanes, prefetching) get a Python body here. The
plugin also records which tests call each kernel.
"""

import json
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

from treerep._core import kernel as kernel_module

#: Kernel -> tests that called it.
CALLS: dict[str, set[str]] = {}
_current = ""


def _noted(function: Callable[..., Any]) -> Callable[..., Any]:
    name = f"{function.__module__.removeprefix('treerep.')}.{function.__name__}"

    @wraps(function)
    def noted(*arguments: Any) -> Any:
        CALLS.setdefault(name, set()).add(_current)
        return function(*arguments)

    return noted


kernel_module.kernel = _noted
kernel_module.helper = kernel_module.borrower = lambda function: function

from treerep.fitting.evolution import _profile_kernels as profiles  # noqa: E402
from treerep.fitting.joining import _row_minimum_kernels as row_minimum_kernels  # noqa: E402 - made of what stands above
from treerep.metric.oracle import distance_kernels as distances  # noqa: E402
from treerep.metric.oracle import lane_kernels as lanes  # noqa: E402
from treerep.metric.shortest_paths import _row_union_kernels as row_union_kernels  # noqa: E402

_DISTANCES = dict(distances._DISTANCES)


def _distance(oracle: Any, i: Any, j: Any) -> Any:
    return _DISTANCES[type(oracle)](oracle, i, j)


def _lanes(term: Callable[..., Any], combine: Callable[..., Any]) -> Callable[..., Any]:
    """Return the sum or maximum of lane_kernels.py, in the same order."""

    def reduction(points: Any, i: Any, j: Any) -> Any:
        terms = term(points[i], points[j])
        whole = len(terms) // 8 * 8
        sums = np.zeros(8, terms.dtype)
        for start in range(0, whole, 8):
            sums = combine(sums, terms[start : start + 8])
        while len(sums) > 1:
            sums = combine(sums[::2], sums[1::2])
        total = sums[0]
        for value in terms[whole:]:
            total = combine(total, value)
        return total

    return reduction


def _row_minima(
    matrix: Any, row: Any, means: Any, gone: Any, start: Any, stop: Any
) -> tuple[float, float, float]:
    plain = np.append(matrix[row, start:stop].astype(float) + gone[start:stop], np.inf)
    reduced = np.sort(np.append(plain[:-1] - means[start:stop], [np.inf, np.inf]))
    return reduced[0], reduced[1], plain.min()


def _unite_rows(rows: Any, chosen: Any, begin: Any, end: Any, out: Any, v: Any) -> None:
    out[v] = np.bitwise_or.reduce(rows[chosen[begin:end]], axis=0)


def _fill_block(oracle: Any, rows: Any, cols: Any, out: Any) -> None:
    distances._fill_one_by_one(oracle, rows, cols, 0, out)


distances.distance = _distance
distances.fill_block = _fill_block
lanes.prefetch_row = lambda *_: None
distances.prefetch = lambda *_: None
profiles.sum_of_squared_differences = _lanes(lambda x, y: (x - y) * (x - y), np.add)
profiles.sum_of_products = _lanes(lambda x, y: x * y, np.add)
profiles.average = lambda space, *rows: profiles._AVERAGES[type(space)](space, *rows)
profiles.separation = lambda space, *rows: profiles._SEPARATIONS[type(space)](space, *rows)
distances.sum_of_squared_differences = _lanes(lambda x, y: (x - y) * (x - y), np.add)
distances.sum_of_squared_sums = _lanes(lambda x, y: (x + y) * (x + y), np.add)
distances.sum_of_absolute_differences = _lanes(lambda x, y: np.abs(x - y), np.add)
distances.largest_absolute_difference = _lanes(lambda x, y: np.abs(x - y), np.maximum)
row_minimum_kernels.row_minima = _row_minima
row_union_kernels.unite_rows = _unite_rows


def pytest_runtest_setup(item: Any) -> None:
    """Record the current test."""
    global _current
    _current = item.nodeid.partition("[")[0]


def pytest_configure(config: Any) -> None:
    """Let integers overflow, as in compiled code."""
    np.seterr(over="ignore")
    config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")


def pytest_sessionfinish() -> None:
    """Write which tests called each kernel, if requested."""
    if "HARDEN_CALLS" in os.environ:
        found = {name: sorted(tests) for name, tests in sorted(CALLS.items())}
        Path(os.environ["HARDEN_CALLS"]).write_text(json.dumps(found, indent=1))
