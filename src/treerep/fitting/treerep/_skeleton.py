"""Output of TreeRep's split phase: zones, names of nodes, and final edges. Shared by all backends."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _zone_kernels as kernels
from ._zone_kernels import BINS, Arms, Growth


class Zone(NamedTuple):
    """Points lo:hi that belong to one node or edge of the tree."""

    # 1: the points belong to node a; 2: to the edge (a, b); 0: they are duplicates of a
    kind: int
    lo: int
    hi: int
    a: int
    b: int
    length: float  # length of the edge

    @property
    def size(self) -> int:
        """Number of points."""
        return self.hi - self.lo


class Skeleton:
    """The tree on the points that the split phase has placed.

    Attributes
    ----------
    nodes : (n,) int32 array
        The node of each point in the tree. Points placed here have the numbers n - 1, n - 2,
        ...
    named : list of int
        The points placed here, in this order.
    edges, weights : lists of arrays
        Final edges and their lengths. The Steiner node of a step is n + the number of its z.
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
        name = self.n - len(self.named)
        self.nodes[point] = name
        return name

    def add(self, edges: NDArray[np.int32], weights: NDArray[np.float64]) -> None:
        """Add final edges."""
        self.edges.append(edges)
        self.weights.append(weights)

    def grow(
        self,
        zone: Zone,
        fresh: list[int],
        arms: Arms,
        new_r: int,
        starts: NDArray[np.int64],
    ) -> list[Zone]:
        """Add the final edges of a step and return its new zones.

        `fresh` are the points that become pivots: y and z, or only z. `new_r` is the point that
        becomes r, or -1. Bin k has the points starts[k]:starts[k+1].
        """
        names = [self.name(point) for point in fresh]
        y, z = names if zone.kind == 1 else (zone.b, names[0])
        r = self.n + z
        if arms.contracted:
            r = (zone.a, y, z)[arms.contracted - 1]
        elif new_r >= 0:
            r = self.name(new_r)
        growth = Growth(
            np.empty((BINS, 5), np.int64),
            np.empty(BINS),
            np.empty((3, 2), np.int32),
            np.empty(3),
        )
        n_zones, n_edges = kernels.grow(zone.a, y, z, r, arms, starts, growth)
        self.add(growth.edges[:n_edges], growth.weights[:n_edges])
        return [Zone._make([*growth.zones[k].tolist(), float(growth.lengths[k])]) for k in range(n_zones)]

    def all_edges(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return edges (m, 2) and their lengths.

        Point i is node nodes[i]. Steiner nodes are numbered from n on, with gaps.
        """
        return np.concatenate(self.edges), np.concatenate(self.weights)
