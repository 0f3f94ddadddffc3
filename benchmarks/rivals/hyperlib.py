"""hyperlib: the only other TreeRep on PyPI, in C++."""

from typing import Any

import numpy as np

from .answers import Edges
from .problems import Problem
from .rival import Rival, package_version


def _prepare(problem: Problem) -> np.ndarray:
    from scipy.spatial.distance import squareform

    return squareform(problem.matrix())


def _compute(d: np.ndarray) -> Any:
    from hyperlib.embedding.treerep import treerep

    # Its default of 0.1 is meant for whole numbers: it would take short edges for none.
    whole = bool((d == np.round(d)).all())
    return treerep(d, tol=0.1 if whole else 1e-9 * d.max())


def _edges(weights: dict[tuple[int, int], float], problem: Problem) -> Edges:  # noqa: ARG001
    return Edges(np.array(list(weights)), np.array(list(weights.values())))


RIVALS = [
    Rival(
        "hyperlib treerep", "tree", "TreeRep", package_version("hyperlib"),
        "pip install --no-deps hyperlib (its extension is compiled; its trees need no TensorFlow)",
        prepare=_prepare, compute=_compute, convert=_edges, random=True,
    ),
]  # fmt: skip
