"""Room `adapters`: thin shells around other libraries. Importing it imports none of them."""

from typing import Any


def register() -> None:
    """Tell `as_metric` and `GraphMetric` about the types of other libraries."""
    from ..metric.registry import register_converter, register_graph_reader

    register_converter("anndata.AnnData", _anndata)
    register_converter("networkx.Graph", _networkx)
    register_graph_reader("networkx.Graph", _read_networkx)


def _anndata(adata: Any, metric: str | None, **options: Any) -> Any:
    from .scverse_data import cell_metric

    return cell_metric(adata, metric, **options)


def _read_networkx(graph: Any, weight: str | None) -> Any:
    from .networkx import read_graph

    return read_graph(graph, weight)


def _networkx(graph: Any, metric: str | None, **options: Any) -> Any:
    from ..metric.graph import GraphMetric

    if metric is not None:
        raise ValueError(f"a networkx graph has its own distances: leave metric={metric!r} out")
    for name in ("symmetrize", "use_rep"):
        if name in options:
            raise ValueError(f"{name} does not apply to a networkx graph: leave it out")
    return GraphMetric(graph, **options)
