"""Nearest-neighbor graphs, for methods that need a graph."""

import treerep as tr
from treerep.fitting.spanning._graphs import sparse_graph


def nearest_neighbors(metric: tr.Metric, k: int = 10) -> tr.GraphMetric:
    """Return the graph of the k nearest neighbors, with the shortest edges that connect it."""
    rows = sparse_graph(metric, "knn", min(k, len(metric) - 1), None)
    return tr.GraphMetric(rows)
