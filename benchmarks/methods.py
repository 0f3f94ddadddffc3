"""Tree methods that are not in the paper, on its graphs. For those in the paper, run `python -m paper`."""

from typing import Any, NamedTuple

import numpy as np

import treerep as tr

from .common import Table, seconds

GRAPHS = ("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc")
SEEDS = 10


class Method(NamedTuple):
    """A column, and the options of `fit`."""

    column: str
    options: dict[str, Any]


METHODS = (
    Method("BIONJ", {"method": "bionj"}),
    Method("relaxed NJ", {"method": "relaxed_neighbor_joining"}),
    Method("ME balanced", {"method": "minimum_evolution"}),
    Method("UPGMA", {"method": "upgma"}),
    Method("Gromov average", {"method": "gromov"}),
    Method("Gromov single", {"method": "gromov", "linkage": "single"}),
    Method("BFS", {"method": "bfs"}),
    Method("Bartal best", {"method": "bartal"}),
    Method("backbone", {"method": "backbone", "size": 1000}),
    Method("auto", {"method": "auto"}),
)
# Averaged over seeds. A backbone would take too long.
_RANDOM = ("relaxed_neighbor_joining", "gromov")
_OF_GRAPHS = ("bfs", "backbone", "auto")  # start from the graph


class Scores(NamedTuple):
    """Means over the seeds."""

    rank: float
    definition: float
    scaled: float
    plain: float
    time: float


def score(method: Method, graph: tr.GraphMetric, truth: tr.MatrixMetric) -> Scores:
    name = method.options["method"]
    data = graph if name in _OF_GRAPHS else truth
    found = []
    for seed in range(SEEDS if name in _RANDOM else 1):
        tree = tr.fit(data, rng=seed, **method.options)
        found.append(
            [
                tr.mean_average_precision(tree, graph, ties="rank"),
                tr.mean_average_precision(tree, graph),
                tr.average_distortion(tree, truth, scale="optimal"),
                tr.average_distortion(tree, truth),
            ]
        )
    time = seconds(lambda: tr.fit(data, rng=0, **method.options))
    return Scores(*np.mean(found, axis=0).tolist(), time)


def rows_of(name: str) -> list[dict[str, Any]]:
    graph = tr.datasets.load(name).metric
    n = np.arange(len(graph))
    truth = tr.MatrixMetric(graph.block(n, n).astype(np.uint8))
    rows = []
    for method in METHODS:
        scores = score(method, graph, truth)
        rows.append(
            {
                "graph": name,
                "method": method.column,
                "distortion, unscaled": scores.plain,
                "distortion, scaled": scores.scaled,
                "MAP by definition": scores.definition,
                "MAP by rank": scores.rank,
                "seconds": float(f"{scores.time:.2g}"),
            }
        )
    print(name, flush=True)
    return rows


def measure() -> list[Table]:
    return [
        Table(
            "Methods that are not in the paper",
            [row for name in GRAPHS for row in rows_of(name)],
            "Average distortion and mean average precision (MAP). Random methods except `auto`, `backbone` and "
            f"`bartal` have the mean of {SEEDS} seeds. Seconds are of one fit, the least of three. BFS, backbone and "
            "auto start from the graph, the other methods from its matrix of distances. Bartal best is the best of "
            "200 trees. ME is minimum evolution.",
        ),
    ]
