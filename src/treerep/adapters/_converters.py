"""Converters from objects of other libraries to metrics.

The table in `metric/_registry.py` refers to these functions by name.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from ..metric._graph_arrays import ADJACENCY, refuse_adjacency
from ..metric.as_metric import as_metric
from ..metric.base import Metric

if TYPE_CHECKING:
    import h5py
    import igraph
    import networkit
    import networkx as nx
    import skbio
    import zarr
    from anndata import AnnData


def _from_graph(
    library: str,
    graph: "nx.Graph | igraph.Graph | networkit.Graph",
    *,
    metric: str | None = None,
    **options: Any,
) -> Metric:
    """Return the shortest-path metric of a graph."""
    from ..metric.graph import GraphMetric

    if metric is not None:
        raise ValueError(f"a {library} graph defines its distances: leave out metric={metric!r}")
    for name in ("alphabet", "symmetrize", "missing", "use_rep"):
        if name in options:
            raise ValueError(f"{name} does not apply to a {library} graph: leave it out")
    return GraphMetric(graph, **options)


from_networkx = partial(_from_graph, "networkx")
from_igraph = partial(_from_graph, "igraph")
from_networkit = partial(_from_graph, "networkit")


def from_skbio(matrix: "skbio.DistanceMatrix", *, metric: str | None = None, **options: Any) -> Metric:
    """Return the distances of a scikit-bio DistanceMatrix. Its ids are the labels."""
    from ..metric.matrix import MatrixMetric

    if metric not in (None, "precomputed"):
        raise ValueError(f"a scikit-bio DistanceMatrix defines its distances: leave out metric={metric!r}")
    for name in options:
        if name != "labels":
            raise ValueError(f"{name} does not apply to a scikit-bio DistanceMatrix: leave it out")
    return MatrixMetric(matrix.redundant_form(), **{"labels": matrix.ids, **options})


def from_anndata(adata: "AnnData", *, metric: str | None = None, **options: Any) -> Metric:
    """Return the metric of the cells of an AnnData."""
    from .scverse._data import cell_metric

    return cell_metric(adata, metric, **options)


def from_chunked(
    array: "zarr.Array[Any] | h5py.Dataset", *, metric: str | None = None, **options: Any
) -> Metric:
    """Return the metric of an array stored in chunks (zarr, h5py)."""
    from ..metric.disk.chunks import check_chunks
    from ..metric.disk.stored import stored_matrix

    if metric not in (None, "precomputed"):
        check_chunks(array, "points")
        return as_metric(array[:], metric=metric, **options)
    for name in options:
        if name not in ("labels", "symmetrize", "missing"):
            raise ValueError(f"{name} does not apply to a distance matrix: leave it out")
    matrix = stored_matrix(array, **options)
    if metric is None:
        refuse_adjacency(matrix.distances, ADJACENCY)
    return matrix
