"""What the split phase of TreeRep leaves behind, wherever its points are: zones, names of nodes, and final edges."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _zone_kernels as kernels
from ._zone_kernels import BINS, Arms, Growth


class Zone(NamedTuple):
    """Points lo:hi that hang off node a (kind 1), off the edge (a, b) of this length (kind 2), or equal a (kind 0)."""

    kind: int
    lo: int
    hi: int
    a: int
    b: int
    length: float

    @property
    def size(self) -> int:
        """Number of points."""
        return self.hi - self.lo


class Skeleton:
    """The tree on the points that the split phase has placed.

    Attributes
    ----------
    nodes : (n,) int32 array
        Which node of the tree each point is. Those placed here are called n - 1, n - 2, ...
    named : list of int
        The points placed here, in this order.
    edges, weights : lists of arrays
        Edges that are final, and their lengths. The Steiner node of a step is n + the name of
        its z.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.nodes = np.empty(n, np.int32)
        self.edges: list[NDArray[np.int32]] = []
        self.weights: list[NDArray[np.float64]] = []
        self.named: list[int] = []

    def name(self, point: int) -> int:
        """Give a point its number in the tree."""
        self.named.append(point)
        self.nodes[point] = name = self.n - len(self.named)
        return name

    def add(self, edges: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        """Keep edges that are final."""
        self.edges.append(edges)
        self.weights.append(weights)

    def grow(
        self,
        zone: Zone,
        fresh: list[int],
        arms: Arms,
        becomes_r: int,
        starts: NDArray[np.int64],
    ) -> list[Zone]:
        """Add the edges of a step that are final and return its new zones: the bins starts[k]:starts[k+1] with points.

        `fresh` are the points that become pivots: y and z, or z alone; `becomes_r` is the point
        that becomes r, or -1.
        """
        names = [self.name(point) for point in fresh]
        y, z = names if zone.kind == 1 else (zone.b, names[0])
        r = self.n + z
        if arms.contracted:
            r = (zone.a, y, z)[arms.contracted - 1]
        elif becomes_r >= 0:
            r = self.name(becomes_r)
        growth = Growth(
            np.empty((BINS, 5), np.int64),
            np.empty(BINS),
            np.empty((3, 2), np.int32),
            np.empty(3),
        )
        n_zones, n_edges = kernels.grow(zone.a, y, z, r, arms, starts, growth)
        self.add(growth.edges[:n_edges], growth.weights[:n_edges])
        return [
            Zone._make([*growth.zones[k].tolist(), float(growth.lengths[k])])
            for k in range(n_zones)
        ]

    def all_edges(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Edges (m, 2) and their lengths: point i is node nodes[i], Steiner nodes are n and up, with gaps."""
        return np.concatenate(self.edges), np.concatenate(self.weights)
