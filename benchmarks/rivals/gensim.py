"""gensim: Poincaré embeddings (PM) of Nickel and Kiela."""

from typing import Any

import numpy as np

import treerep as tr

from .problems import Problem
from .rival import Rival, package_version

#: As in its tutorial; other options are its defaults.
EPOCHS = 50


def _prepare(problem: Problem) -> list[tuple[str, str]]:
    """Return each edge in both directions, because relations are directed."""
    edges = problem.edges()
    return [(str(u), str(v)) for u, v in np.vstack([edges, edges[:, ::-1]]).tolist()]


def _train(relations: list[tuple[str, str]]) -> Any:
    from gensim.models.poincare import PoincareModel

    model = PoincareModel(relations, size=2, seed=1)
    model.train(epochs=EPOCHS, print_every=10**9)
    return model.kv


def _embedding(vectors: Any, problem: Problem) -> tr.Embedding:
    order = [vectors.key_to_index[str(i)] for i in range(problem.n)]
    return tr.Embedding.from_poincare(np.asarray(vectors.vectors, np.float64)[order])


RIVALS = [
    Rival(
        "gensim PoincareModel",
        "embedding",
        "PM",
        package_version("gensim"),
        "pip install gensim",
        prepare=_prepare,
        compute=_train,
        convert=_embedding,
    ),
]
