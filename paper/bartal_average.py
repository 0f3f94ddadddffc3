"""The column "Bartal" of the paper: the mean of random trees, which is a metric but not a tree.

The paper compares this mean with trees. `fit(method="bartal")` returns the best tree instead.
"""

from collections.abc import Sequence

import numpy as np

import treerep as tr


def tree_average(trees: Sequence[tr.Tree]) -> tr.TreeSum:
    """Return the metric whose distances are the means of those in several trees.

    >>> near = tr.Tree(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> far = tr.Tree(3, [[0, 1], [0, 2]], [3.0, 3.0])
    >>> tree_average([near, far]).pairs([0, 0, 1], [1, 2, 2])
    array([2. , 2.5, 3.5])
    """
    return tr.TreeSum([tree.with_weights(tree.weights / len(trees)) for tree in trees])


def bartal_average(metric: tr.Metric, *, trees: int = 200, rng: int = 0) -> tr.TreeSum:
    """Return the mean of the trees that `fit(metric, method="bartal", draws=trees)` draws with the same seed."""
    points = np.arange(len(metric))
    shared = tr.MatrixMetric(metric.block(points, points), labels=metric.labels)
    generator = np.random.default_rng(rng)  # each fit continues where the one before has ended
    return tree_average([tr.fit(shared, method="bartal", draws=1, rng=generator) for _ in range(trees)])
