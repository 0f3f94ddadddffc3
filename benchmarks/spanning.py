"""Trees of large graphs: WordNet, Enron, and growth of time with the number of edges."""

import numpy as np

import treerep as tr

from .common import Table, seconds

METHODS = ("minimum_spanning_tree", "bfs", "level_tree", "low_stretch")
# Table 4 of the paper, unscaled; "-" if its run was stopped after four hours.
PAPER = {
    ("wordnet", "minimum_spanning_tree"): 0.336,
    ("wordnet", "low_stretch"): 0.071,
    ("enron", "minimum_spanning_tree"): 0.607,
    ("enron", "low_stretch"): 0.562,
}
ROWS = 200


def random_graph(n: int, degree: int = 10) -> tr.GraphMetric:
    """Return a path with random additional edges."""
    ends = np.random.default_rng(0).integers(n, size=(n * degree // 2 - n, 2))
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return tr.GraphMetric(np.concatenate([path, ends]))


def measure() -> list[Table]:
    rows = []
    for name in ("wordnet", "enron"):
        graph = tr.datasets.load(name).metric
        for method in METHODS:
            tree = tr.fit(graph, method=method)
            rows.append(
                {
                    "graph": name,
                    "n": len(graph),
                    "edges": int(graph.adjacency.nnz // 2),
                    "method": method,
                    "seconds": seconds(lambda graph=graph, method=method: tr.fit(graph, method=method)),
                    "distortion, unscaled": float(tr.average_distortion(tree, graph, rows=ROWS)),
                    "paper": PAPER.get((name, method), "-"),
                }
            )
    growth = []
    small, large = random_graph(20_000), random_graph(200_000)
    for method in METHODS:
        times = [
            seconds(lambda graph=graph, method=method: tr.fit(graph, method=method, **root(method)))
            for graph in (small, large)
        ]
        growth.append(
            {
                "method": method,
                "100,000 edges": times[0],
                "1,000,000 edges": times[1],
                "ratio": times[1] / times[0],
            }
        )
    return [
        Table(
            "Trees of large graphs",
            rows,
            f"Average distortion on {ROWS} sampled rows. Seconds of one fit, the least of three.",
        ),
        Table(
            "Growth with the number of edges",
            growth,
            "Seconds on random graphs of mean degree 10 with root 0. The larger graph does not fit into the cache.",
        ),
    ]


def root(method: str) -> dict[str, int]:
    return {} if method == "low_stretch" else {"root": 0}
