"""anjl: neighbor joining in numba and float32, by two of its three algorithms."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .answers import of_joins
from .problems import Problem
from .rival import Rival, package_version


def _prepare(problem: Problem) -> np.ndarray:
    return problem.matrix().astype(np.float32)


def _call(name: str, **options: Any) -> Callable[[Any], Any]:
    def compute(d: np.ndarray) -> np.ndarray:
        import anjl

        return getattr(anjl, name)(d, **options)

    return compute


def _rival(name: str, **options: Any) -> Rival:
    return Rival(
        f"anjl {name}",
        "tree",
        "neighbor joining",
        package_version("anjl"),
        "pip install anjl",
        prepare=_prepare,
        compute=_call(name, **options),
        convert=of_joins,
    )


# On one thread, its parallel kernels are 10% to 33% slower.
RIVALS = [_rival("rapid_nj"), _rival("dynamic_nj", parallel=False)]
