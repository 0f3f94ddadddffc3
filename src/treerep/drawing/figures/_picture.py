"""The geometry of a picture, before colors and labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from ...tree.structure.rooted import Preorder
from .._arrays import FloatArray, IntArray

#: A polyline (k, 2) for each edge.
Lines: TypeAlias = FloatArray | Sequence[FloatArray]

#: Layouts in which x is the distance from the root, and each leaf has a row.
ROWS = ("rectangular", "slanted")
#: Layouts that are drawn from the root of a tree, if it has one.
ROOTED = (*ROWS, "circular")


class Triangle(NamedTuple):
    """A collapsed clade."""

    corners: FloatArray  # (3, 2): the apex first
    apex: int  # node of the picture
    members: IntArray  # points of the tree
    text: str


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Positions of nodes and lines of edges.

    Nodes have the numbers of the picture. They differ from the nodes of the tree if clades are
    collapsed.
    """

    spots: FloatArray  # (N, 2)
    edges: IntArray  # (E, 2)
    lines: Lines
    n_points: int  # of the tree
    n_nodes: int  # of the tree
    labels: Sequence[str] | None
    layout: str
    kept: IntArray  # node of the tree, by node of the picture
    parent: IntArray | None = None  # by node of the picture; -1 at the root
    view: Preorder | None = None  # of the tree
    unit: float = 0.0  # the length that 1 in the picture stands for; 0 if it has no meaning
    opening: float = 0.0  # empty angle of a circular layout
    triangles: Sequence[Triangle] = ()
    hidden: frozenset[int] = frozenset()  # nodes of the picture that are not drawn as points

    @property
    def shown(self) -> IntArray:
        """Nodes of the picture that are drawn as points."""
        nodes = np.arange(len(self.spots))
        return np.setdiff1d(nodes, list(self.hidden))

    @property
    def leaves(self) -> IntArray:
        """Nodes of the picture without children, with those behind triangles."""
        nodes = np.arange(len(self.spots))
        return np.setdiff1d(nodes, np.asarray(self.parent))


def label_anchors(picture: Picture) -> FloatArray:
    """Return the positions next to which labels are written. A clade has its label at its base."""
    anchors = picture.spots.copy()
    for triangle in picture.triangles:
        base = triangle.corners[1:]
        anchors[triangle.apex] = base.mean(axis=0)
        if picture.layout in ROWS:
            anchors[triangle.apex, 0] = base[:, 0].max()
    return anchors
