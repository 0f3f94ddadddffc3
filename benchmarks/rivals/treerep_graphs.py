"""Our hyperbolicity and graph distances, on one thread."""

import numpy as np

import treerep as tr

from .problems import Problem
from .rival import Rival


def _delta(graph: tr.GraphMetric) -> float:
    return float(tr.hyperbolicity(graph, method="exact", n_jobs=1))


def _distances(graph: tr.GraphMetric) -> np.ndarray:
    everyone = np.arange(len(graph))
    return graph.block(everyone, everyone)


RIVALS = [
    Rival(
        "treerep hyperbolicity",
        "delta",
        "hyperbolicity",
        lambda: tr.__version__,
        "pip install treerep",
        prepare=Problem.graph,
        compute=_delta,
        ours=True,
    ),
    Rival(
        "treerep GraphMetric",
        "paths",
        "all distances",
        lambda: tr.__version__,
        "pip install treerep",
        prepare=Problem.graph,
        compute=_distances,
        ours=True,
    ),
]
