"""Our tree methods, on one thread."""

import itertools
from collections.abc import Callable
from typing import Any

import treerep as tr

from .answers import Edges
from .problems import Problem
from .rival import Rival


def _fit(method: str = "treerep", **options: Any) -> Callable[[Any], tr.Tree]:
    seeds = itertools.count()
    # The time includes validation of the matrix.
    return lambda d: tr.fit(d, method=method, n_jobs=1, rng=next(seeds), **options)


def edges_of(tree: tr.Tree, problem: Problem) -> Edges:  # noqa: ARG001
    return Edges(tree.edges, tree.weights)


def _ours(name: str, kind: str, *, random: bool = False, **options: Any) -> Rival:
    return Rival(
        f"treerep {name}",
        "tree",
        kind,
        lambda: tr.__version__,
        "pip install treerep",
        compute=_fit(**options),
        convert=edges_of,
        ours=True,
        random=random,
    )


_RELAXED = "relaxed neighbor joining"

RIVALS = [
    _ours("TreeRep", "TreeRep", random=True),
    _ours("TreeRep, best of 20", "TreeRep, best of 20", random=True, trials=20),
    _ours("neighbor_joining", "neighbor joining", method="neighbor_joining"),
    _ours("bionj", "BIONJ", method="bionj"),
    _ours("relaxed_neighbor_joining", _RELAXED, random=True, method="relaxed_neighbor_joining"),
    _ours(
        "minimum_evolution, balanced",
        "minimum evolution, balanced",
        method="minimum_evolution",
    ),
    _ours("upgma", "UPGMA", method="upgma"),
]
