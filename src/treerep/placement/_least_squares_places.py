"""Places of points in the tree of a sample, by least squares over all edges."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import Workers
from .._core.progress import progress_bar
from ..fitting._distances import checked_block
from ..metric.base import Metric, read_only
from ..tree.structure.rooted import Preorder
from ..tree.tree import Tree
from ._locate import Places

_BLOCK = 256  # points placed per task
# Distances below this fraction of the longest edge do not get larger weights.
_NEAREST = 1e-3


def best_places(
    tree: Tree,
    metric: Metric,
    sample: NDArray[np.int64],
    points: NDArray[np.int64],
    power: float,
    workers: Workers,
) -> Places:
    """Return the places in the tree of `sample` with the least squared errors, divided by d^power.

    O(m) time per point in a tree of m points, after reading m distances; O(1) memory per point.
    The places do not depend on the number of threads.
    """
    known, scale = rooted_backbone(tree, power)
    n = len(points)
    places = Places(np.empty(n, np.int64), np.empty(n), np.empty(n))

    block = max(_BLOCK, metric._read_together)

    def place(start: int) -> int:
        workers.check()
        part = slice(start, min(start + block, n))
        distances = read_only(checked_block(metric, points[part], sample))
        mine = Places(places.node[part], places.above[part], places.height[part])
        place_rows(known, scale, distances, mine)
        return part.stop - part.start

    with progress_bar(n, "placing", "points") as bar:
        for done in workers.map(place, range(0, n, block)):
            bar.update(done)
    workers.check()
    return places


class Scale(NamedTuple):
    """The weights of errors, and the lengths that count as short."""

    power: float  # squared errors are divided by distance ** power
    smallest: float  # smaller distances get the weight of this distance
    short: float  # shorter parts of edges count as zero


def rooted_backbone(tree: Tree, power: float) -> tuple[Preorder, Scale]:
    """Return the tree of a sample in preorder, and its scale."""
    unit = float(tree.weights.max(initial=0.0))
    short = 64 * np.finfo(np.float64).eps * unit
    return tree._view, Scale(power, _NEAREST * unit, short)


def place_rows(
    known: Preorder,
    scale: Scale,
    distances: NDArray[np.float64],
    places: Places,
) -> None:
    """Find the places of points from rows of distances to the sample."""
    from ._placement_kernels import find_best_places

    find_best_places(known, distances, *scale, *places)
