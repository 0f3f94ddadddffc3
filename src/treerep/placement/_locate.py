"""Where in a tree does a point belong? The same question as TreeRep's, asked of a tree that is there already.

Let c be a node of the tree, and p a data point in one of its arms. If the point w hangs off
another arm, or off c itself, then d(w, p) - d(c, p) = d(w, c); if it hangs off the arm of p,
this is less, by 2 (w, p)_c. (Half the sum of two of these numbers is a Gromov product of
TreeRep: the largest product leaves out the smallest number.) So w goes to the arm of the
smallest, or stays at c where two are smallest; and a separator after the other, it is there.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import Workers
from .._core.progress import progress_bar
from ..tree.tree import Tree
from ._separators import signposts

#: How often a point walks down, past other data points each time: what they say together is
#: better than what one says.
WALKS = 4
# Points placed in one task, and arms that they may look at together in a tree with a node of
# many neighbors.
_CHUNK = 2048
_ARMS = 1 << 22

Indices = NDArray[np.int64]
Numbers = NDArray[np.float64]


class Places(NamedTuple):
    """Where points hang: at a node, or above it, inside the edge to its parent; and how far off the tree they are."""

    node: Indices
    above: Numbers  # 0 at a node
    height: Numbers


def distances_from(tree: Tree, places: Places, nodes: Indices) -> Numbers:
    """Distances between points at places and nodes of the tree, a row per point."""
    rooted = tree.rooted()
    parent = rooted.parent[places.node]
    length = rooted.length[places.node]
    over = np.where(parent >= 0, parent, places.node)
    from_below = tree.block(places.node, nodes) + places.above[:, None]
    from_above = tree.block(over, nodes) + np.abs(length - places.above)[:, None]
    return np.minimum(from_below, from_above) + places.height[:, None]


class Scale(NamedTuple):
    """What counts as short."""

    ties: float  # less than this is rounding
    tol: float  # less than this is not worth an edge
    unit: float  # the largest distance, or near it


def locate(
    tree: Tree, oracle: Any, shift: int, m: int, scale: Scale, workers: Workers
) -> Places:
    """Return the places of m new points: exact if they and the tree's points have the distances of a tree.

    Otherwise each walks WALKS times, and of the places where it ends, and that of the nearest
    point it met, the one is kept whose distances to all points met on the way have the smallest
    relative errors in the mean square. The oracle tells distances between shift + a new point
    and an old one.
    """
    from ._locate_kernels import find_places

    signs = signposts(tree, WALKS, scale.ties, np.random.default_rng(0))
    places = Places(np.empty(m, np.int64), np.empty(m), np.empty(m))
    size = max(1, min(_CHUNK, _ARMS // signs.most))

    def find(start: int) -> int:
        workers.check()
        stop = min(start + size, m)
        find_places(oracle, shift, signs, start, stop, scale, *places)
        return stop - start

    with progress_bar(m, "placing", "points") as bar:
        for done in workers.map(find, range(0, m, size)):
            bar.update(done)
    workers.check()
    return places
