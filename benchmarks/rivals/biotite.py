"""biotite: neighbor joining and UPGMA in Cython."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .answers import Edges
from .problems import Problem
from .rival import Rival, package_version


def _call(name: str) -> Callable[[Any], Any]:
    def compute(d: np.ndarray) -> Any:
        import biotite.sequence.phylo as phylo

        return getattr(phylo, name)(d)

    return compute


def _edges(tree: Any, problem: Problem) -> Edges:
    """Return the edges. Unlike its Newick writer, this does not recurse."""
    ends, lengths, waiting = [], [], [(tree.root, problem.n)]
    fresh = problem.n + 1
    while waiting:
        node, number = waiting.pop()
        for child in node.children:
            name = child.index if child.is_leaf() else fresh
            fresh += not child.is_leaf()
            ends.append((number, name))
            lengths.append(child.distance)
            if not child.is_leaf():
                waiting.append((child, name))
    return Edges(np.array(ends), np.array(lengths))


def _rival(name: str, kind: str) -> Rival:
    return Rival(
        f"biotite {name}",
        "tree",
        kind,
        package_version("biotite"),
        "pip install biotite",
        compute=_call(name),
        convert=_edges,
    )


RIVALS = [_rival("neighbor_joining", "neighbor joining"), _rival("upgma", "UPGMA")]
