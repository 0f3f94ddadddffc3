"""Trees as other libraries have them: nodes with or without names, and edges between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .newick import number_points
from .rooted import Rooted

if TYPE_CHECKING:
    from .tree import Tree


class Fields(NamedTuple):
    """The arguments of Tree."""

    n_points: int
    edges: NDArray[np.int64]
    weights: ArrayLike
    labels: tuple[str, ...] | None
    support: NDArray[np.float64] | None


def number_nodes(
    names: Sequence[str | None], ends: ArrayLike, weights: ArrayLike, support: Sequence[float] | None = None
) -> Fields:
    """Number the nodes of a tree whose data points have names and whose Steiner nodes have None.

    `ends` holds pairs of positions in `names`. Points keep their order; names that are exactly 0 ... n-1 are point
    numbers and no labels, as in Newick. Support that is nowhere known becomes None.

    >>> number_nodes([None, "a", "b"], [[0, 1], [0, 2]], [1.0, 2.0]).edges
    array([[2, 0],
           [2, 1]])
    """
    numbers, labels = number_points(tuple(name for name in names if name is not None))
    steiner = np.array([name is None for name in names], dtype=bool)
    ids = np.empty(len(names), np.int64)
    ids[~steiner] = numbers
    ids[steiner] = len(numbers) + np.arange(np.count_nonzero(steiner))
    shares = None if support is None else np.array(support, dtype=np.float64)
    if shares is not None and np.isnan(shares).all():
        shares = None
    return Fields(len(numbers), ids[np.asarray(ends, np.int64).reshape(-1, 2)], weights, labels, shares)


def lower_ends(tree: "Tree", rooted: Rooted) -> NDArray[np.int64]:
    """Return the node below each edge, in the order of `tree.edges`."""
    first, second = tree.edges.T
    return np.where(rooted.parent[first] == second, first, second)


def support_by_node(tree: "Tree", rooted: Rooted) -> NDArray[np.float64]:
    """Return the support of the edge above each node; NaN where there is none."""
    shares = np.full(tree.n_nodes, np.nan)
    if tree.support is not None:
        shares[lower_ends(tree, rooted)] = tree.support
    return shares
