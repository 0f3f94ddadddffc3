"""Readers for types of other libraries, looked up by the name of the type.

The tables contain only names, so nothing is imported until an object of that type is passed.
The result does not depend on earlier imports. Other packages register types with an entry point
in the group "treerep.converters".
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from .._core.lazy import load

#: Entry points of this group are named "package.Class" and refer to a converter
#: "module:function".
GROUP = "treerep.converters"

# "package.Class" -> "module:function". A converter is called as converter(data, metric=...,
# **options), with the options of `as_metric` that were given, and returns a Metric.
CONVERTERS: Mapping[str, str] = {
    "anndata.AnnData": "treerep.adapters._converters:from_anndata",
    "builtins.str": "treerep.formats.reading:read",
    "dask.Array": "treerep.backends.converters:refuse_dask_array",
    "h5py.Dataset": "treerep.adapters._converters:from_chunked",
    "igraph.Graph": "treerep.adapters._converters:from_igraph",
    "networkit.Graph": "treerep.adapters._converters:from_networkit",
    "networkx.Graph": "treerep.adapters._converters:from_networkx",
    "pathlib.PurePath": "treerep.formats.reading:read",
    "skbio.DistanceMatrix": "treerep.adapters._converters:from_skbio",
    "torch.Tensor": "treerep.backends.converters:from_tensor",
    "zarr.Array": "treerep.adapters._converters:from_chunked",
}

# "package.Class" -> "module:function". A reader is called as reader(graph, weight) and returns
# a symmetric sparse matrix of lengths and the vertex names.
GRAPH_READERS: Mapping[str, str] = {
    "igraph.Graph": "treerep.adapters.igraph:read_graph",
    "networkit.Graph": "treerep.adapters.networkit:read_graph",
    "networkx.Graph": "treerep.adapters.networkx:read_graph",
}

# `as_metric` reads types of these packages itself, so looking for entry points would only cost
# time.
_NATIVE = frozenset(("builtins", "numpy", "pandas", "scipy"))


def find_converter(data: object) -> Callable[..., Any] | None:
    """Return the converter for an object, or None.

    A converter for a class also applies to its subclasses.
    """
    for package, name in _type_names(data):
        if name in CONVERTERS:
            return _loaded(CONVERTERS[name])
        if package not in _NATIVE and name in _installed():
            return _loaded(_installed()[name])
    return None


def find_graph_reader(graph: object) -> Callable[..., Any] | None:
    """Return the reader for a graph, or None."""
    found = next((name for _, name in _type_names(graph) if name in GRAPH_READERS), None)
    return None if found is None else _loaded(GRAPH_READERS[found])


def _type_names(data: object) -> Iterator[tuple[str, str]]:
    """Yield (package, "package.Class") for the class of an object, then for its bases."""
    for cls in type(data).__mro__:
        package = cls.__module__.partition(".")[0]
        yield package, f"{package}.{cls.__name__}"


@cache
def _installed() -> Mapping[str, str]:
    """Return the converters registered by other installed packages."""
    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


def _loaded(address: str) -> Callable[..., Any]:
    function: Callable[..., Any] = load(address)
    return function
