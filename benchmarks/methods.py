"""Tree methods that are not in the paper, on its graphs: distortion, MAP and time."""

from typing import Any, NamedTuple

import numpy as np

import treerep as tr

from .common import Table, seconds

GRAPHS = ("celegans", "diseasome", "csphd", "yeast", "grid_worm", "grqc")
SEEDS = 10


class Method(NamedTuple):
    """A column and its call."""

    column: str
    options: dict[str, Any]


METHODS = (
    Method("BIONJ", {"method": "bionj"}),
    Method("relaxed NJ", {"method": "relaxed_neighbor_joining"}),
    Method("ME balanced", {"method": "minimum_evolution"}),
    Method("ME ols", {"method": "minimum_evolution", "criterion": "ols"}),
    Method("UPGMA", {"method": "upgma"}),
    Method("Gromov average", {"method": "gromov"}),
    Method("Gromov single", {"method": "gromov", "linkage": "single"}),
    Method("Gromov complete", {"method": "gromov", "linkage": "complete"}),
    Method("BFS", {"method": "bfs"}),
    Method("Bartal best", {"method": "bartal"}),
    Method("FRT", {"method": "frt"}),
    Method("backbone", {"method": "backbone", "size": 1000}),
    Method("auto", {"method": "auto"}),
)
_RANDOM = (
    "relaxed_neighbor_joining",
    "gromov",
    "frt",
)  # averaged over seeds, except for backbones, which are slow
_OF_GRAPHS = ("bfs", "backbone", "auto")  # methods that use the graph


class Scores(NamedTuple):
    """Return means over the seeds."""

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
                "distortion": scores.plain,
                "scaled": scores.scaled,
                "MAP": scores.definition,
                "MAP by rank": scores.rank,
                "seconds": float(f"{scores.time:.2g}"),
            }
        )
    print(name, flush=True)
    return rows


def measure() -> list[Table]:
    return [
        Table(
            "Methods beyond the paper's table",
            [row for name in GRAPHS for row in rows_of(name)],
            "Bartal best: the best of 200 trees. ME: minimum evolution with NNI.",
        ),
    ]
