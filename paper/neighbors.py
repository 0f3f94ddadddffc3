"""The graph of the nearest neighbors, for methods that need a graph where the data is none."""

import treerep as tr
from treerep.fitting.spanning._graphs import sparse_graph


def nearest_neighbors(metric: tr.Metric, k: int = 10) -> tr.GraphMetric:
    """Return the graph of the k nearest neighbors, connected by the shortest edges where it falls apart."""
    rows = sparse_graph(metric, "knn", min(k, len(metric) - 1), None)
    return tr.GraphMetric(rows)
