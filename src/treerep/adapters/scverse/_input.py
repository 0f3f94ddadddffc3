"""The distances that `tl.tree` fits: coordinates, genes, or a neighbor graph in `obsp`."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from ...metric.base import Metric, MetricError
from ...metric.graph import GraphMetric
from ...metric.matrix import MatrixMetric
from ...metric.points import PointMetric
from ._data import cell_metric, check_names, dense
from ._genes import genes_of

if TYPE_CHECKING:
    from anndata import AnnData

_DEFAULT = "X_pca"
# Length of an edge between equal cells, as a share of the longest edge.
_SHORTEST = 1e-9


class TreeInput(NamedTuple):
    """A metric on the cells, with the parameters that describe it."""

    metric: Metric
    params: dict[str, Any]


def tree_input(
    adata: "AnnData",
    *,
    use_rep: str | None,
    layer: str | None,
    use_raw: bool,
    obsp: str | None,
    metric: str | None,
) -> TreeInput:
    """Return the metric that the arguments of `tl.tree` name."""
    given = {"use_rep": use_rep, "layer": layer, "use_raw": use_raw or None, "obsp": obsp}
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) > 1:
        both = " and ".join(list(named)[:2])
        raise ValueError(f"{both} name different data: leave out one of them")
    if obsp is not None:
        if metric is not None:
            raise ValueError(f"metric={metric!r} does not apply to obsp: leave it out")
        return TreeInput(pairwise_metric(adata, obsp), named)
    chosen = "euclidean" if metric is None else metric
    if layer is None and not use_raw:
        table = _DEFAULT if use_rep is None else use_rep
        return TreeInput(cell_metric(adata, chosen, table), {"use_rep": table, "metric": chosen})
    names = check_names(adata)
    genes = genes_of(adata, layer, use_raw)
    points = PointMetric(dense(genes.table, genes.place), chosen, labels=names)
    return TreeInput(points, {**named, "metric": chosen})


def pairwise_metric(adata: "AnnData", key: str) -> Metric:
    """Return the metric of a matrix of `obsp`.

    A dense matrix contains the distances of all pairs. A sparse matrix is a neighbor graph, and
    distances are lengths of shortest paths. The lengths of its edges are the stored distances,
    and at least 1e-9 of the largest. If the name ends in "connectivities", the lengths are 1 / connectivity.
    """
    names = check_names(adata)
    if key not in adata.obsp:
        known = ", ".join(map(repr, adata.obsp))
        remedy = f"choose one of {known}" if known else "run sc.pp.neighbors(adata)"
        raise ValueError(f"adata.obsp has no {key!r}: {remedy}")
    matrix = adata.obsp[key]
    if hasattr(matrix, "to_memory"):  # sparse, in a file
        matrix = matrix.to_memory()
    place = f"adata.obsp[{key!r}]"
    try:
        if not issparse(matrix):
            return MatrixMetric(np.asarray(matrix), labels=names)
        return _graph_metric(matrix, place, key.endswith("connectivities"), names)
    except MetricError as error:
        raise MetricError(f"{place}: {error}") from error


def _graph_metric(matrix: Any, place: str, inverse: bool, names: list[str]) -> Metric:
    """Return the shortest-path metric of the undirected neighbor graph."""
    rows = csr_array(matrix, dtype=np.float64)
    if inverse:
        rows.eliminate_zeros()
        rows.data = 1 / rows.data
    else:
        # Edges of a graph have positive lengths. Equal cells are joined by very short edges.
        rows.data[rows.data == 0] = _SHORTEST * (rows.data.max(initial=0.0) or 1.0)
    # A cell may be among the nearest neighbors of another cell, but not conversely.
    both = rows.maximum(rows.T)
    _check_connected(both, place)
    return GraphMetric(both, labels=names)


def _check_connected(graph: csr_array, place: str) -> None:
    """Raise a ValueError if a neighbor graph has several components."""
    from scipy.sparse.csgraph import connected_components

    count, member = connected_components(graph, directed=False)
    if count == 1:
        return
    sizes = np.sort(np.bincount(member))[::-1]
    listed = ", ".join(f"{size:,}" for size in sizes[:4]) + (", ..." if count > 4 else "")
    raise ValueError(
        f"{place} has {count:,} components, of {listed} cells: "
        "run sc.pp.neighbors(adata, n_neighbors=...) with a larger number, or use use_rep"
    )
