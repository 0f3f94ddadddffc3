"""What this room knows of other libraries' types: their names, and who reads them.

The rooms above (formats, adapters) fill the tables, so that this room imports none of the libraries; the types are
recognised by name.
"""

from collections.abc import Callable
from typing import Any

# "package.Class" -> converter(data, metric, **options), which returns a Metric.
_CONVERTERS: dict[str, Callable[..., Any]] = {}
# "package.Class" -> reader(graph, weight), which returns a symmetric sparse matrix of lengths and the vertices' names.
_GRAPH_READERS: dict[str, Callable[..., Any]] = {}


def register_converter(type_name: str, converter: Callable[..., Any]) -> None:
    """Let `as_metric` accept objects of a class, given by its root package and name: "package.Class"."""
    _CONVERTERS[type_name] = converter


def register_graph_reader(type_name: str, reader: Callable[..., Any]) -> None:
    """Let `GraphMetric` accept graphs of a class, given by its root package and name: "package.Class"."""
    _GRAPH_READERS[type_name] = reader


def find_converter(data: object) -> Callable[..., Any] | None:
    """Return the converter for an object, or None."""
    return _find(_CONVERTERS, data)


def find_graph_reader(graph: object) -> Callable[..., Any] | None:
    """Return the reader for a graph, or None."""
    return _find(_GRAPH_READERS, graph)


def _find(table: dict[str, Callable[..., Any]], data: object) -> Callable[..., Any] | None:
    # A class derived from a known one is known.
    names = (f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(data).__mro__)
    return next((table[name] for name in names if name in table), None)
