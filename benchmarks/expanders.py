"""Measure the choice between hub labels and a matrix of searches, on graphs with and without short labels."""

import time
from typing import Any, NamedTuple

import numpy as np

import treerep as tr
from treerep.metric.oracle.classes import MatrixOracle
from treerep.metric.shortest_paths.all_pairs import all_pairs

from .common import Table

SIZES = (1250, 2500, 5000)
DEGREE = 20
TOGETHER = 256


class Graph(NamedTuple):
    """A graph with hop counts or edge lengths."""

    name: str
    edges: np.ndarray
    lengths: np.ndarray | None = None

    def metric(self) -> tr.GraphMetric:
        """Return a new metric, without labels."""
        return tr.GraphMetric(self.edges, weights=self.lengths)


def expander(n: int) -> np.ndarray:
    """Return random cycles through all vertices, an expander with high probability."""
    rng = np.random.default_rng(0)
    cycles = [rng.permutation(n) for _ in range(DEGREE // 2)]
    return np.concatenate([np.column_stack([cycle, np.roll(cycle, 1)]) for cycle in cycles])


def random_tree(n: int) -> np.ndarray:
    """Return a tree in which each vertex is joined to a random earlier vertex."""
    later = np.arange(1, n)
    return np.column_stack([np.random.default_rng(0).integers(0, later), later])


def sparse_graph(n: int) -> np.ndarray:
    """Return a random tree and n / 100 random edges."""
    extra = np.random.default_rng(1).integers(0, n, (n // 100, 2))
    return np.concatenate([random_tree(n), extra])


def tree_on_expander(n: int, inside: int) -> np.ndarray:
    """Return an expander of `inside` vertices, with trees of the other vertices attached to it."""
    later = np.arange(inside, n)
    outside = np.column_stack([np.random.default_rng(0).integers(0, later), later])
    return np.concatenate([expander(inside), outside])


def graphs() -> list[Graph]:
    lengths = np.random.default_rng(2)
    middle = expander(SIZES[1])
    return [
        *(Graph(f"expander, {n:,} vertices", expander(n)) for n in SIZES),
        Graph("expander, lengths 1 ... 9", middle, lengths.integers(1, 10, len(middle))),
        Graph("expander, lengths with fractions", middle, lengths.uniform(1, 2, len(middle))),
        Graph("trees on an expander of a half", tree_on_expander(5000, 2500)),
        Graph("trees on an expander of a tenth", tree_on_expander(5000, 500)),
        Graph("tree and 1% more edges", sparse_graph(5000)),
    ]


def timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def row(graph: Graph) -> dict[str, Any]:
    reading, metric = timed(graph.metric)
    choosing, oracle = timed(lambda: metric.oracle)
    fitting, _ = timed(lambda: tr.fit(metric, method="treerep"))
    labeled = graph.metric()
    labeling, labels = timed(labeled.build_labels)
    searching, table = timed(lambda: all_pairs(len(metric), metric._search_all, TOGETHER))
    chosen = "matrix" if isinstance(oracle, MatrixOracle) else "labels"
    # A matrix of whole numbers is the only other choice.
    best = min(labeling, searching) if metric.integral and table is not None else labeling
    return {
        "graph": graph.name,
        "n": len(metric),
        "edges": metric.adjacency.nnz // 2,
        "hubs per vertex": len(labels.hubs) / len(metric),
        "reading": reading,
        "only labels": labeling,
        "only searches": searching,
        "chosen": chosen,
        "chosen, with the choice": choosing,
        "chosen / better of the two": choosing / best,
        "TreeRep": fitting,
    }


def measure() -> list[Table]:
    for graph in (expander(1000), sparse_graph(1000)):  # compiles
        for lengths in (None, np.full(len(graph), 2)):
            row(Graph("", graph, lengths))
    rows = [row(graph) for graph in graphs()]
    growth = {
        name: np.polyfit(np.log(SIZES), np.log([line[name] for line in rows[: len(SIZES)]]), 1)[0]
        for name in (
            "only labels",
            "only searches",
            "chosen, with the choice",
            "hubs per vertex",
        )
    }
    note = (
        f"Seconds of one run after warm-up. The expanders have degree {DEGREE}. From {SIZES[0]:,} to {SIZES[-1]:,} "
        f"vertices, labels alone take n^{growth['only labels']:.2f}, searches alone "
        f"n^{growth['only searches']:.2f}, and the choice n^{growth['chosen, with the choice']:.2f}; the hubs "
        f"per vertex grow like n^{growth['hubs per vertex']:.2f}. Lengths with fractions always have labels."
    )
    return [Table("Hub labels or searches", rows, note)]
