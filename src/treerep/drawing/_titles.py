"""Titles of panels: the share of each tree or plane of the mean distance."""

import numpy as np

from ..embedding.product import ProductEmbedding
from ..metric.base import Metric
from ..tree.operations.distance_sums import subtree_sums
from ..tree.structure.rooted import preorder
from ..tree.tree import Tree
from ..tree.tree_sum import TreeSum

_PAIRS = 10_000  # pairs that measure the share of a plane


def panel_titles(what: TreeSum | ProductEmbedding) -> list[str]:
    """Return the number of each panel, and its share of the mean distance."""
    if isinstance(what, TreeSum):
        noun = "tree"
        sums = np.array([distance_sum(tree) for tree in what.trees])
    else:
        noun = "plane"
        sums = np.array([_sampled_sum(part) for part in what.components])
    total = sums.sum()
    titles = [f"{noun} {k}" for k in range(1, len(sums) + 1)]
    if not 0 < total < np.inf:
        return titles
    return [
        f"{title}: {'under 1%' if share < 0.005 else f'{share:.0%}'} of the distance"
        for title, share in zip(titles, sums / total, strict=True)
    ]


def distance_sum(tree: Tree) -> float:
    """Return the sum of the distances of all pairs of points, in O(N)."""
    view = preorder(tree.edges, tree.weights, 0)
    is_point = view.order < tree.n_points
    below = subtree_sums(view, is_point.astype(np.float64))
    # An edge of length l with b points below it is on b (n - b) paths.
    paths = below * (tree.n_points - below)
    return float((view.length * paths).sum())


def _sampled_sum(metric: Metric) -> float:
    """Return the sum of the distances of some pairs, which depend only on the number of points."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(len(metric), size=(2, _PAIRS))
    return float(metric.pairs(first, second).sum())
