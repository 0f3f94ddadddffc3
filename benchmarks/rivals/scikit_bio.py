"""scikit-bio: neighbor joining, minimum evolution by greedy insertion, UPGMA."""

from collections.abc import Callable
from typing import Any

import treerep as tr

from .answers import Edges
from .problems import Problem
from .rival import Rival, package_version


def _prepare(problem: Problem) -> Any:
    from skbio import DistanceMatrix

    return DistanceMatrix(problem.matrix())  # its labels are 0 ... n-1


def _call(name: str) -> Callable[[Any], Any]:
    def compute(matrix: Any) -> Any:
        import skbio.tree

        return getattr(skbio.tree, name)(matrix)

    return compute


def _edges(tree: Any, problem: Problem) -> Edges:  # noqa: ARG001
    found = tr.Tree.from_skbio(tree, default_length=0.0)
    return Edges(found.edges, found.weights)


def _rival(name: str, kind: str) -> Rival:
    return Rival(
        f"scikit-bio {name}",
        "tree",
        kind,
        package_version("scikit-bio", "skbio"),
        "pip install scikit-bio",
        prepare=_prepare,
        compute=_call(name),
        convert=_edges,
    )


RIVALS = [
    _rival("nj", "neighbor joining"),
    _rival("bme", "minimum evolution, balanced"),
    _rival("upgma", "UPGMA"),
]
