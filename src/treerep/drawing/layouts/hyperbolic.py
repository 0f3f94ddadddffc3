"""The hyperbolic layout: Sarkar's construction at a scale suited to pictures."""

import math

import numpy as np

from ...embedding.sarkar.construction import sarkar
from ...embedding.tree_embedding import TreeEmbedding
from ...tree.tree import Tree
from .._arrays import FloatArray
from ._passes import path_sums, rooted_view

# Limits of the hyperbolic distance from the root to the median point. More points need more
# space.
_LEAST_RADIUS = 2.5
_MOST_RADIUS = 5.0
_FARTHEST = 9.0  # limit for all nodes; beyond it, nodes merge with the edge of the disk


def hyperbolic(tree: Tree, *, root: int | str | None = None) -> FloatArray:
    """Return positions (N, 2) in the Poincaré disk, with the root at its center.

    The scale is chosen for pictures: half of the points are within 2.5 to 5 hyperbolic units of
    the root, depending on their number, and no node is farther than 9. The default root is the
    center of the tree. To preserve distances, use `embed` instead.

    >>> hyperbolic(Tree(2, [[0, 1]], [3.0]), root=0).round(3).tolist()
    [[0.0, 0.0], [-0.848, 0.0]]
    """
    return disk_embedding(tree, root).poincare


def disk_embedding(tree: Tree, root: int | str | None = None) -> TreeEmbedding:
    """Embed a tree at the scale for pictures."""
    view = rooted_view(tree, root)
    depth = path_sums(view.up, view.length)
    points = depth[view.position[: tree.n_points]]
    radius = min(max(0.5 + 0.45 * math.log(tree.n_points), _LEAST_RADIUS), _MOST_RADIUS)
    unit = float(depth.max()) / _FARTHEST
    if points.any():
        unit = max(unit, float(np.median(points[points > 0])) / radius)
    return sarkar(tree, scale=1.0 / unit if unit > 0 else 1.0, root=root)
