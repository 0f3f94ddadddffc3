"""Annotations of a tree that its metric does not have: a root, names of clades, support as text."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import whole_number


class Annotations(NamedTuple):
    """A root, and texts of a file that are written back as they were read."""

    root: int | None = None
    clade_names: tuple[tuple[int, str], ...] = ()  # names of Steiner nodes, by node
    # support in the words of another program (95, 98.7/100), by edge; "" for none
    support_text: tuple[str, ...] | None = None
    root_length: float | None = None  # of the edge above the root

    def renumbered(
        self, nodes: NDArray[np.integer], edges: NDArray[np.integer] | None = None
    ) -> "Annotations":
        """Return the annotations after node v became nodes[v], and edge edges[i] became edge i."""
        root = None if self.root is None else int(nodes[self.root])
        names = sorted((int(nodes[node]), name) for node, name in self.clade_names)
        texts = self.support_text
        if texts is not None and edges is not None:
            texts = tuple(texts[edge] for edge in edges.tolist())
        return Annotations(root, tuple(names), texts, self.root_length)


#: The annotations of most trees.
NONE = Annotations()


def check_annotations(
    n_points: int,
    n_nodes: int,
    root: int | None,
    clade_names: Mapping[int, str] | None,
    root_length: float | None,
) -> Annotations:
    """Validate the root, the names of clades and the length above the root that a user gives."""
    if root is not None and not 0 <= whole_number(root, "root") < n_nodes:
        raise ValueError(f"root must be a node from 0 to {n_nodes - 1}, not {root}")
    names = dict(clade_names or {})
    for node, name in names.items():
        if not n_points <= whole_number(node, "a key of clade_names") < n_nodes:
            raise ValueError(
                f"clade_names has the key {node}, which is not a Steiner node: "
                f"use nodes from {n_points} to {n_nodes - 1}"
            )
        if not isinstance(name, str) or not name:
            raise ValueError(f"clade_names[{node}] is {name!r}: give a text that is not empty")
    if root_length is not None:
        if root is None:
            raise ValueError("root_length is the length of the edge above a root: pass root= too")
        if not 0 <= root_length < math.inf:
            raise ValueError(f"root_length must be a finite length of at least 0, not {root_length!r}")
    return Annotations(
        None if root is None else int(root),
        tuple(sorted((int(node), name) for node, name in names.items())),
        # A length of 0 says nothing: programs without root edges write it.
        root_length=float(root_length) if root_length else None,
    )
