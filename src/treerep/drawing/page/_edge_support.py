"""The support of edges and the names of clades, as the page stores them."""

import math

import numpy as np
from numpy.typing import NDArray

from ...tree.tree import Tree


def edge_support(tree: Tree, position: NDArray[np.integer]) -> NDArray[np.float64] | None:
    """Return the support of the edge above each position, NaN if unknown; None if no edge has any.

    `position` has the preorder position of each node.
    """
    if tree.support is None or np.isnan(tree.support).all():
        return None
    above = np.full(tree.n_nodes, math.nan)
    above[_lower_ends(tree, position)] = np.abs(tree.support)  # no negative zeros
    return above


def support_words(tree: Tree, position: NDArray[np.integer]) -> list[str] | None:
    """Return support as written in the file that the tree is from, by position; None if not kept."""
    given = tree._annotations.support_text
    if given is None:
        return None
    words = [""] * tree.n_nodes
    for k, text in zip(_lower_ends(tree, position).tolist(), given, strict=True):
        words[k] = text
    return words


def _lower_ends(tree: Tree, position: NDArray[np.integer]) -> NDArray[np.integer]:
    return position[tree.edges].max(axis=1, initial=0)
