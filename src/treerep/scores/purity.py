"""Dendrogram purity: how well a tree separates classes."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core.checks import check_choice
from ..metric._matching import Points, point_order, points_of, values_in_order
from ..tree.tree import Tree
from ._clades import clades_of
from .score import Score

_MEANS = ("points", "pairs")


def dendrogram_purity(tree: Tree, classes: Any, *, mean: Literal["points", "pairs"] = "points") -> Score:
    """Return how well a tree separates classes of points. 1 is perfect.

    Take a random point, and another random point of its class. The purity is the expected share
    of this class in the smallest clade with both points. It is 1 if every class is a clade.

    Parameters
    ----------
    tree : Tree
        The tree. Clades are below its root, or below the midpoint of its longest path if it has
        no root (`Tree.root_at_midpoint`). `Tree.with_root` chooses another root.
    classes : sequence, mapping or pandas Series
        The class of each point, in the order of the points. A mapping or a Series is matched by
        the labels of the tree.
    mean : "points" or "pairs"
        "points" is the definition above. "pairs" takes the mean over all pairs of points of the
        same class, so large classes weigh more.

    Returns
    -------
    Score
        A number from 0 to 1. `Score.pairs` is the number of pairs of points of the same class.
        A class with only one point has no pairs and does not count. Without any pair, the purity
        is 1.

    See Also
    --------
    scores.dasgupta_cost : Cost of a tree as a clustering of a graph.
    scores.neighbors_kept : Share of neighbors that a tree keeps.
    Tree.cut : Cut a tree into clusters.
    Tree.root_at_midpoint : Root a tree.
    Score : The result.

    Notes
    -----
    Exact over all pairs. O(N log N) time and O(N) memory for N nodes and any number of classes.

    A clade consists of the points at or below a node. A point that is an internal node therefore
    belongs to the clade of this node, and this is also its smallest clade with any point below
    it. Edges of length 0 are contracted first: they separate no points.

    A star has the sum of the squared shares of the classes as its purity. Only compare trees of
    the same points.

    The purity is defined in Heller and Ghahramani, Bayesian hierarchical clustering (ICML 2005),
    with mean="points". Kobren et al., A hierarchical algorithm for extreme clustering (KDD 2017)
    use mean="pairs".

    Examples
    --------
    >>> tree = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0] * 5, root=5)
    >>> dendrogram_purity(tree, ["mouse", "mouse", "bird", "bird"])  # birds meet at the root
    0.75 (all 2 pairs in 2 classes)
    """
    check_choice("mean", mean, _MEANS)
    clades = clades_of(tree, "dendrogram purity")
    codes = _codes(classes, tree)
    order = np.lexsort((clades.position, codes))
    position = clades.position[order]
    ends = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    sums = np.zeros(len(ends) - 1)
    from ._clade_kernels import class_shares

    meeting = clades.meetings(position[:-1], position[1:])
    class_shares(position, ends, meeting, clades.below, sums)
    sizes = np.diff(ends)
    several = sizes > 1
    pairs = sizes[several] * (sizes[several] - 1) // 2
    number = int(pairs.sum())
    # The sum over the pairs of a class, divided by their number, is the mean over the points.
    weights = pairs if mean == "pairs" else sizes[several]
    value = math.fsum(weights * sums[several] / pairs) / int(weights.sum()) if number else 1.0
    count = int(several.sum())
    basis = f"all {number:,} pairs in {count:,} class{'es' * (count != 1)}"
    return Score(value, pairs=number, basis=basis)


def _codes(classes: Any, tree: Tree) -> NDArray[np.int64]:
    """Return the number of the class of each point. Classes are numbered by first appearance."""
    names = tuple(range(len(tree))) if tree.labels is None else tree.labels
    if isinstance(classes, Mapping):
        absent = next((name for name in names if name not in classes), None)
        if absent is not None:
            raise ValueError(f"classes has no entry for point {absent!r}: add its class")
        values: Any = [classes[name] for name in names]
    else:
        values = values_in_order(classes, tree.labels)
    # As objects, because NumPy would convert a mixed list to text.
    array = np.asarray(values, None if hasattr(values, "dtype") else object)
    if array.shape != (len(tree),):
        shape = " x ".join(map(str, array.shape))
        raise ValueError(f"classes has shape {shape}: give one class for each of the {len(tree):,} points")
    if values is classes:  # by position
        point_order(points_of(tree), Points(len(tree), None), ("tree", "classes"))
    seen: dict[object, int] = {}
    codes = np.empty(len(tree), np.int64)
    for i, value in enumerate(array.tolist()):
        if _is_missing(value):
            raise ValueError(
                f"point {names[i]!r} has no class: give it a class, or drop it with tree.restrict"
            )
        codes[i] = seen.setdefault(value, len(seen))
    return codes


def _is_missing(value: object) -> bool:
    """Return whether a value is None, NaN or NaT, which differ from themselves, or NA of pandas."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # NA has no truth value
        return True
