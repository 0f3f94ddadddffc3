"""SciPy: all distances of a graph by Dijkstra's algorithm."""

from typing import Any

import numpy as np

from .problems import Problem
from .rival import Rival, package_version


def _prepare(problem: Problem) -> Any:
    return problem.graph().adjacency


def _distances(adjacency: Any) -> np.ndarray:
    from scipy.sparse.csgraph import shortest_path

    return shortest_path(adjacency, method="D", directed=False, unweighted=True)


RIVALS = [
    Rival(
        "SciPy shortest_path",
        "paths",
        "all distances",
        package_version("scipy"),
        "pip install scipy",
        prepare=_prepare,
        compute=_distances,
    ),
]
