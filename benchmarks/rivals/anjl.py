"""anjl: neighbour joining in numba, in float32; three algorithms, the same tree."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .answers import of_joins
from .problems import Problem
from .rival import Rival, package_version


def _prepare(problem: Problem) -> np.ndarray:
    return problem.matrix().astype(np.float32)


def _call(name: str) -> Callable[[Any], Any]:
    def compute(d: np.ndarray) -> np.ndarray:
        import anjl

        return getattr(anjl, name)(d)

    return compute


def _rival(name: str) -> Rival:
    return Rival(
        f"anjl {name}", "tree", "neighbour joining", package_version("anjl"), "pip install anjl",
        prepare=_prepare, compute=_call(name), convert=of_joins,
    )  # fmt: skip


RIVALS = [_rival("rapid_nj"), _rival("dynamic_nj")]
