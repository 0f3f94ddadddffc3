"""Room `adapters`: thin shells around other libraries. Importing it imports none of them."""

from typing import Any


def register() -> None:
    """Tell `as_metric` about the types of other libraries."""
    from ..metric.convert import register_converter

    register_converter("networkx.Graph", _networkx)


def _networkx(graph: Any, metric: str | None, **options: Any) -> Any:
    from .networkx import convert

    return convert(graph, metric, **options)
