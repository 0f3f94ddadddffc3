"""Our embeddings: trees by Sarkar's construction, and PM, the method of gensim."""

import importlib.util
from typing import Any

import treerep as tr

from .problems import Problem
from .rival import Rival, matrix_of


def _sarkar(d: Any) -> tr.Metric:
    return tr.embed(tr.fit(d, method="neighbor_joining", n_jobs=1), dim=2)


def _learned(graph: tr.GraphMetric) -> tr.Metric:
    return tr.embed(graph, method="poincare", dim=2)


def _one_thread(problem: Problem) -> tr.GraphMetric:
    import torch

    torch.set_num_threads(1)
    return problem.graph()


def _with_torch() -> str | None:
    return tr.__version__ if importlib.util.find_spec("torch") else None


def _ours(name: str, kind: str, compute: Any, prepare: Any = matrix_of) -> Rival:
    learned = prepare is not matrix_of
    version = _with_torch if learned else lambda: tr.__version__
    install = "pip install 'treerep[embed]'" if learned else "pip install treerep"
    return Rival(
        f"treerep {name}",
        "embedding",
        kind,
        version,
        install,
        prepare=prepare,
        compute=compute,
        ours=True,
    )


RIVALS = [
    _ours("NJ and Sarkar", "tree in the plane", _sarkar),
    _ours("PM", "PM", _learned, _one_thread),
]
