"""`TreeSum`: the sum of a few trees on the same points, as a metric."""

import os
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metric._matching import matched
from ..metric.base import Metric
from .exchange.sum_files import load_trees, save_trees
from .structure.walks import symmetric_matrix
from .tree import Tree


class TreeSum(Metric):
    """A sum of trees on the same points: d(i, j) = d_1(i, j) + ... + d_k(i, j).

    `fit(data, trees=5)` returns sums of trees. A sum is a `Metric` on its points, and
    `len(trees)` is the number of points. Sums are immutable.

    Parameters
    ----------
    trees : sequence of Tree
        At least one tree. Points are in the order of the first tree with labels, or of the first
        tree if no tree has labels. Trees with labels are matched by label, the others by position.

    Attributes
    ----------
    trees : tuple of Tree
        The trees. Their points are in the same order, with the same labels.
    labels : tuple of str, or None
        Labels of the points.
    order_known : bool
        Whether the numbers of the points are those of the data.

    See Also
    --------
    fit : Fit a tree, or a sum of trees, to data.
    refine : Improve a tree or a sum of trees.
    embed : Embed a sum of trees in a product of hyperbolic planes.
    draw : Draw a sum, one panel per tree.

    Notes
    -----
    A distance takes O(k) time, and a row of distances O(N) for N nodes in all trees. A sum of trees
    is an L1 metric: its distances are those of points in R^m, in the L1 norm.

    Examples
    --------
    >>> first = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0])
    >>> second = Tree(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> both = TreeSum([first, second])
    >>> both
    TreeSum(3 points, 2 trees)
    >>> both.pairs([0, 0], [1, 2])
    array([4., 6.])
    """

    trees: tuple[Tree, ...]
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, trees: Iterable[Tree]) -> None:
        given = tuple(trees)
        for tree in given:
            if not isinstance(tree, Tree):
                raise TypeError(f"a TreeSum consists of trees, not of {type(tree).__name__}")
        if not given:
            raise ValueError("a TreeSum needs at least one tree")
        place, first = _first_labeled(given)
        alike = []
        for k, tree in enumerate(given):
            own = matched(tree, first, (f"trees[{k}]", f"trees[{place}]"))
            points = own.labels, own.order_known
            if points != (first.labels, first.order_known):
                own = own._replace(labels=first.labels, order_known=first.order_known)
            alike.append(own)
        self.__dict__.update(trees=tuple(alike), labels=first.labels, order_known=first.order_known)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"sums of trees are immutable: create a new one with another {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"sums of trees are immutable: {name} cannot be deleted")

    def __len__(self) -> int:
        return len(self.trees[0])

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __repr__(self) -> str:
        points = f"{len(self):,} point{'s' * (len(self) != 1)}"
        return f"TreeSum({points}, {len(self.trees)} tree{'s' * (len(self.trees) != 1)})"

    def __eq__(self, other: object) -> bool:
        return self.trees == other.trees if isinstance(other, TreeSum) else NotImplemented

    @property
    def n_nodes(self) -> int:
        """Number of nodes in all trees, including Steiner nodes."""
        return sum(tree.n_nodes for tree in self.trees)

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:
        """Return the distances from each row point to each column point, as a float64 array."""
        total = self.trees[0].block(rows, cols)
        for tree in self.trees[1:]:
            total += tree.block(rows, cols)
        return total

    def pairs(self, i: ArrayLike, j: ArrayLike) -> NDArray[np.float64]:
        """Return the distances of the pairs (i[k], j[k]), as a float64 array of the same shape."""
        total = self.trees[0].pairs(i, j)
        for tree in self.trees[1:]:
            total = total + tree.pairs(i, j)
        return total

    def distances(self, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the distance matrix of the points. O(n N).

        Parameters
        ----------
        n_jobs : int, optional
            Number of threads; None uses all cores.
        """
        return symmetric_matrix(self.block, np.arange(len(self)), n_jobs)

    def restrict(self, points: Iterable[int | str]) -> "TreeSum":
        """Return the sum of the subtrees spanned by some points: see `Tree.restrict`."""
        chosen = list(points)
        return TreeSum(tree.restrict(chosen) for tree in self.trees)

    def _in_order(
        self, order: NDArray[np.int64], labels: tuple[str, ...] | None, order_known: bool
    ) -> "TreeSum":
        return TreeSum(tree._in_order(order, labels, order_known) for tree in self.trees)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sum to a .npz file. The file is never left incomplete."""
        save_trees(self.trees, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "TreeSum":
        """Read a sum written by `TreeSum.save`.

        Examples
        --------
        >>> import tempfile
        >>> both = TreeSum([Tree(2, [[0, 1]], [1.0]), Tree(2, [[0, 1]], [2.0])])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     both.save(f"{folder}/both.npz")
        ...     TreeSum.load(f"{folder}/both.npz") == both
        True
        """
        return TreeSum(load_trees(path))

    def __reduce__(self) -> tuple[type["TreeSum"], tuple[tuple[Tree, ...]]]:
        return TreeSum, (self.trees,)

    def _with_points(self, labels: tuple[str, ...] | None, order_known: bool) -> "TreeSum":
        """Return the same sum with other labels."""
        return TreeSum(tree._replace(labels=labels, order_known=order_known) for tree in self.trees)


def _first_labeled(trees: tuple[Tree, ...]) -> tuple[int, Tree]:
    """Return the first tree with labels and its position, or the first tree."""
    labeled = ((k, tree) for k, tree in enumerate(trees) if tree.labels is not None)
    return next(labeled, (0, trees[0]))
