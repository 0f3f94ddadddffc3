"""Places of new points in an existing tree."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tree.tree import Tree

Indices = NDArray[np.int64]
Numbers = NDArray[np.float64]


class Places(NamedTuple):
    """Attachment places of points: at a node, or inside the edge from the node to its parent."""

    node: Indices
    above: Numbers  # distance from the node along the edge; 0 at the node
    height: Numbers  # distance from the tree


def distances_from(tree: Tree, places: Places, nodes: Indices) -> Numbers:
    """Return the distances between points at places and nodes of the tree, one row per point."""
    rooted = tree.rooted()
    parent = rooted.parent[places.node]
    length = rooted.length[places.node]
    over = np.where(parent >= 0, parent, places.node)
    from_below = tree.block(places.node, nodes) + places.above[:, None]
    from_above = tree.block(over, nodes) + np.abs(length - places.above)[:, None]
    return np.minimum(from_below, from_above) + places.height[:, None]


class Tolerances(NamedTuple):
    """Lengths that count as short."""

    ties: float  # differences below this are rounding errors
    tol: float  # lengths below this count as zero
    unit: float  # about the largest distance
