"""Room `adapters`: thin shells around other libraries. Importing it imports none of them."""

import importlib
from typing import Any

# Graphs of these classes are read by `read_graph` of the module that has the name of their library.
_GRAPHS = ("networkx.Graph", "igraph.Graph", "networkit.Graph")

# Arrays of these classes are stored in chunks, which only a slice unpacks.
_CHUNKED = ("zarr.Array", "h5py.Dataset")


def register() -> None:
    """Tell `as_metric` and `GraphMetric` about the types of other libraries, and notebooks how to show a tree."""
    from ..metric.registry import register_converter, register_graph_reader
    from ..tree.display import register_renderer

    for name in _GRAPHS:
        library = name.partition(".")[0]
        register_converter(name, _graph_converter(library))
        register_graph_reader(name, _graph_reader(library))
    register_converter("skbio.DistanceMatrix", _skbio)
    register_converter("anndata.AnnData", _anndata)
    for name in _CHUNKED:
        register_converter(name, _chunked)
    register_renderer(_tree_html)


def _tree_html(tree: Any) -> str:
    from ..drawing.page import tree_html

    return tree_html(tree)


def _graph_reader(library: str) -> Any:
    def read(graph: Any, weight: str | None) -> Any:
        return importlib.import_module(f".{library}", __package__).read_graph(graph, weight)

    return read


def _graph_converter(library: str) -> Any:
    def convert(graph: Any, metric: str | None, **options: Any) -> Any:
        from ..metric.graph import GraphMetric

        if metric is not None:
            raise ValueError(f"a {library} graph has its own distances: leave metric={metric!r} out")
        for name in ("symmetrize", "use_rep"):
            if name in options:
                raise ValueError(f"{name} does not apply to a {library} graph: leave it out")
        return GraphMetric(graph, **options)

    return convert


def _skbio(matrix: Any, metric: str | None, **options: Any) -> Any:
    from .skbio import read_distances

    if metric not in (None, "precomputed"):
        raise ValueError(f"a scikit-bio DistanceMatrix has its own distances: leave metric={metric!r} out")
    for name in options:
        if name != "labels":
            raise ValueError(f"{name} does not apply to a scikit-bio DistanceMatrix: leave it out")
    return read_distances(matrix, **options)


def _anndata(adata: Any, metric: str | None, **options: Any) -> Any:
    from .scverse_data import cell_metric

    return cell_metric(adata, metric, **options)


def _chunked(array: Any, metric: str | None, **options: Any) -> Any:
    from ..metric.chunks import check_chunks
    from ..metric.convert import as_metric
    from ..metric.stored import stored_matrix

    if metric not in (None, "precomputed"):
        check_chunks(array, "points")
        return as_metric(array[:], metric=metric, **options)
    for name in options:
        if name not in ("labels", "symmetrize"):
            raise ValueError(f"{name} does not apply to a distance matrix: leave it out")
    return stored_matrix(array, **options)
