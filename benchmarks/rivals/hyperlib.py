"""hyperlib: the only other implementation of TreeRep on PyPI, in C++."""

from typing import Any

import numpy as np

from .answers import Edges
from .problems import Problem
from .rival import Rival, package_version


def _prepare(problem: Problem) -> tuple[np.ndarray, float]:
    """Return the distances above the diagonal, and the tolerance of edge lengths."""
    from scipy.spatial.distance import squareform

    d = squareform(problem.matrix())
    # Its default of 0.1 is meant for integers, and would remove short edges.
    return d, 0.1 if (d == np.round(d)).all() else 1e-9 * d.max()


def _compute(given: tuple[np.ndarray, float]) -> Any:
    from hyperlib.embedding.treerep import treerep

    d, tolerance = given
    return treerep(d, tol=tolerance)


def _edges(weights: dict[tuple[int, int], float], problem: Problem) -> Edges:  # noqa: ARG001
    return Edges(np.array(list(weights)), np.array(list(weights.values())))


RIVALS = [
    Rival(
        "hyperlib treerep",
        "tree",
        "TreeRep",
        package_version("hyperlib"),
        "pip install --no-deps hyperlib (its extension is compiled; its trees need no TensorFlow)",
        prepare=_prepare,
        compute=_compute,
        convert=_edges,
        random=True,
    ),
]
