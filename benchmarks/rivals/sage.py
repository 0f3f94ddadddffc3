"""Sage's graphs (passagemath-graphs): hyperbolicity by the algorithm BCCM."""

from typing import Any

from .problems import Problem
from .rival import Rival, package_version

_INSTALL = "pip install passagemath-graphs"


def _graph(problem: Problem) -> Any:
    import sage.all__sagemath_graphs  # noqa: F401 (it must come first)
    from sage.graphs.graph import Graph

    return Graph([tuple(edge) for edge in problem.edges().tolist()], format="list_of_edges")


def _delta(graph: Any) -> float:
    from sage.graphs.hyperbolicity import hyperbolicity

    return float(hyperbolicity(graph, algorithm="BCCM")[0])


RIVALS = [
    Rival(
        "Sage hyperbolicity",
        "delta",
        "hyperbolicity",
        package_version("passagemath-graphs", "sage.graphs"),
        _INSTALL,
        prepare=_graph,
        compute=_delta,
    ),
]
