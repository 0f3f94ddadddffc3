"""Places of new points in an existing tree, found by the rule of TreeRep.

Let c be a node of the tree, and p a point in one of its arms. If the new point w belongs to
another arm, or to c itself, then d(w, p) - d(c, p) = d(w, c). If w belongs to the arm of p,
this difference is smaller, by 2 (w, p)_c. (Half the sum of two differences is a Gromov product
of TreeRep: the largest product omits the smallest difference.) So w moves to the arm with the
smallest difference, or stays at c if two arms tie. The next c is a separator of that arm.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import Workers
from .._core.progress import progress_bar
from ..tree.tree import Tree
from ._separators import find_separators

#: Number of walks per point. Each walk uses distances to different points, and the best of several
#: places is better than a single place.
WALKS = 4
# Number of points placed per task.
_CHUNK = 2048
# Number of arms that the points of a task may meet together. A node may have many neighbors.
_ARMS = 1 << 22

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


def locate(
    tree: Tree, oracle: object, shift: int, m: int, tolerances: Tolerances, workers: Workers
) -> Places:
    """Return the places of m new points.

    The places are exact if the new points and the points of the tree have the distances of a
    tree. Otherwise each point walks WALKS times. The candidates are the ends of the walks and
    the place of the nearest point met. The result is the candidate with the smallest mean
    squared relative error to all points met. New point i is point shift + i of the oracle.
    """
    from ._locate_kernels import find_places

    separators = find_separators(tree, WALKS, tolerances.ties, np.random.default_rng(0))
    places = Places(np.empty(m, np.int64), np.empty(m), np.empty(m))
    size = max(1, min(_CHUNK, _ARMS // separators.most))

    def find(start: int) -> int:
        workers.check()
        stop = min(start + size, m)
        find_places(oracle, shift, separators, start, stop, tolerances, *places)
        return stop - start

    with progress_bar(m, "placing", "points") as bar:
        for done in workers.map(find, range(0, m, size)):
            bar.update(done)
    workers.check()
    return places
