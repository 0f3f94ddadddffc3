"""Place points in the tree of a sample by least squares over all of its edges."""

import numpy as np
from numpy.typing import NDArray

from ..common.parallel import Workers
from ..common.progress import progress_bar
from ..fitting.locate import Places
from ..fitting.result import checked_block
from ..metric.base import Metric, frozen
from ..tree.rooted import preorder
from ..tree.tree import Tree

_BLOCK = 256  # points placed in one task
# Distances below this share of the longest edge do not get larger weights.
_NEAREST = 1e-3


def best_places(
    tree: Tree, metric: Metric, sample: NDArray[np.int64], points: NDArray[np.int64], power: float, workers: Workers
) -> Places:
    """Return the places in the tree of `sample` that have the least squared errors, each divided by d^power.

    O(m) time for a point in a tree of m points, after m distances; O(1) memory for each point. The places do not depend
    on the number of threads.
    """
    from .placement_kernels import Backbone, find_best_places

    view = preorder(tree.edges, tree.weights, tree.rooted().root)
    known = Backbone(view.up, view.length, view.order, frozen(view.position[: len(sample)]))
    unit = float(tree.weights.max(initial=0.0))
    short = 64 * np.finfo(np.float64).eps * unit
    places = Places(np.empty(len(points), np.int64), np.empty(len(points)), np.empty(len(points)))

    def place(start: int) -> int:
        workers.check()
        part = slice(start, min(start + _BLOCK, len(points)))
        distances = frozen(checked_block(metric, points[part], sample))
        find_best_places(known, distances, power, _NEAREST * unit, short, *(array[part] for array in places))
        return part.stop - part.start

    with progress_bar(len(points), "placing", "points") as bar:
        for done in workers.map(place, range(0, len(points), _BLOCK)):
            bar.update(done)
    workers.check()
    return places
