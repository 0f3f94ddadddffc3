"""networkit: all distances of a graph by breadth-first searches, in C++."""

from typing import Any

import numpy as np

from .problems import Problem
from .rival import Rival, package_version


def _prepare(problem: Problem) -> Any:
    import networkit

    networkit.setNumberOfThreads(1)
    graph = networkit.Graph(problem.n)
    for u, v in problem.edges().tolist():
        graph.addEdge(u, v)
    return graph


def _search(graph: Any) -> Any:
    import networkit

    return networkit.distance.APSP(graph).run()


def _table(found: Any, problem: Problem) -> np.ndarray:  # noqa: ARG001
    return np.asarray(found.getDistances(asarray=True))


RIVALS = [
    Rival(
        "networkit APSP",
        "paths",
        "all distances",
        package_version("networkit"),
        "pip install networkit",
        prepare=_prepare,
        compute=_search,
        convert=_table,
    ),
]
