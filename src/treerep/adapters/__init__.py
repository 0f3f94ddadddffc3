"""Room `adapters`: thin shells around other libraries. Importing it imports none of them."""

from typing import Any


def register() -> None:
    """Tell `as_metric` and `GraphMetric` about the types of other libraries, and notebooks how to show a tree."""
    from ..metric.registry import register_converter, register_graph_reader
    from ..tree.display import register_renderer

    register_renderer(_tree_html)
    register_converter("networkx.Graph", _networkx)
    register_graph_reader("networkx.Graph", _read_networkx)


def _tree_html(tree: Any) -> str:
    from ..drawing.page import tree_html

    return tree_html(tree)


def _read_networkx(graph: Any, weight: str | None) -> Any:
    from .networkx import read_graph

    return read_graph(graph, weight)


def _networkx(graph: Any, metric: str | None, **options: Any) -> Any:
    from ..metric.graph import GraphMetric

    if metric is not None:
        raise ValueError(f"a networkx graph has its own distances: leave metric={metric!r} out")
    if "symmetrize" in options:
        raise ValueError("symmetrize does not apply to a networkx graph: leave it out")
    return GraphMetric(graph, **options)
