"""The column "Bartal" of the paper: the mean of random trees, which is a metric but not a tree.

The paper compares this mean with trees. `fit(method="bartal")` returns the best tree instead.
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treerep.fitting.random.bartal import draw_trees, table_of
from treerep.metric._matching import matched
from treerep.metric.base import Metric, check_indices
from treerep.tree.tree import Tree


class TreeAverage(Metric):
    """The metric whose distances are the means of those in several trees.

    Parameters
    ----------
    trees : one or more trees on the same points
        Matched by label if they have labels, otherwise by position.

    A mean of trees is not a tree: it has one length per pair, not one per edge, and no Newick text. Nothing but the
    trees is stored; a block of distances costs one block of every tree.

    >>> near = Tree(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> far = Tree(3, [[0, 1], [0, 2]], [3.0, 3.0])
    >>> TreeAverage([near, far])
    TreeAverage(3 points, 2 trees)
    >>> TreeAverage([near, far]).pairs([0, 0, 1], [1, 2, 2])
    array([2. , 2.5, 3.5])
    """

    def __init__(self, trees: Iterable[Tree]) -> None:
        self.trees = tuple(trees)
        if not self.trees:
            raise ValueError("there are no trees to average: give at least one")
        for k, tree in enumerate(self.trees):
            if not isinstance(tree, Tree):
                raise TypeError(f"trees[{k}] is a {type(tree).__name__}, not a Tree: give trees")
        self.trees = tuple(
            matched(tree, self.trees[0], (f"trees[{k}]", "trees[0]")) for k, tree in enumerate(self.trees)
        )
        self.labels, self.order_known = self.trees[0].labels, self.trees[0].order_known

    def __len__(self) -> int:
        return len(self.trees[0])

    def __repr__(self) -> str:
        n, count = len(self), len(self.trees)
        return f"TreeAverage({n:,} point{'s' * (n != 1)}, {count:,} tree{'s' * (count != 1)})"

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances between all row points and all column points, as a float64 array."""
        first, second = (check_indices(x, len(self)).reshape(-1) for x in (rows, cols))
        return self._mean(lambda tree: tree.block(first, second))

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Return the distances of the pairs (i[k], j[k]), as a float64 array of the same shape."""
        first, second = (check_indices(x, len(self)) for x in (i, j))
        return self._mean(lambda tree: tree.pairs(first, second))

    def _mean(self, ask: Callable[[Tree], NDArray[np.float64]]) -> NDArray[np.float64]:
        total = ask(self.trees[0])
        for tree in self.trees[1:]:
            total += ask(tree)
        total /= len(self.trees)
        return total


def bartal_average(
    metric: Metric, *, trees: int = 200, rng: int = 0, n_jobs: int | None = None
) -> TreeAverage:
    """Return the mean of the trees that `fit(metric, method="bartal")` draws with the same seed."""
    generator = np.random.default_rng(rng)
    return TreeAverage(draw_trees(table_of(metric), lambda tree: tree, trees, generator, n_jobs))
