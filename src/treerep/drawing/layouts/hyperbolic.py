"""The hyperbolic layout of a tree: Sarkar's construction in the Poincaré disk, at a scale that is good to look at."""

import math

import numpy as np
from numpy.typing import NDArray

from ...embedding.sarkar.construction import sarkar
from ...embedding.tree_embedding import TreeEmbedding
from ...tree.tree import Tree
from ._passes import path_sums, rooted_view

# Hyperbolic distance of the median point from the root: few points need little room, many more
# of it. And the most of any node: beyond, the eye sees the edge of the disk alone.
_LEAST_RADIUS = 2.5
_MOST_RADIUS = 5.0
_FARTHEST = 9.0


def hyperbolic(tree: Tree, *, root: int | str | None = None) -> NDArray[np.float64]:
    """Positions (N, 2) of all nodes in the Poincaré disk; the root, by default the center of the tree, is its center.

    The scale is chosen for the eye: half of the points are nearer to the root than 2.5 to 5
    hyperbolic units, the more the more points there are, and no node is farther than 9. `embed`
    is for scales that keep distances.

    >>> hyperbolic(Tree(2, [[0, 1]], [3.0]), root=0).round(3).tolist()
    [[0.0, 0.0], [-0.848, 0.0]]
    """
    return disk_embedding(tree, root).poincare


def disk_embedding(tree: Tree, root: int | str | None = None) -> TreeEmbedding:
    """Embed a tree at the scale for the eye."""
    view = rooted_view(tree, root)
    depth = path_sums(view.up, view.length)
    points = depth[view.position[: tree.n_points]]
    radius = min(max(0.5 + 0.45 * math.log(tree.n_points), _LEAST_RADIUS), _MOST_RADIUS)
    reach = max(
        float(np.median(points[points > 0])) / radius if points.any() else 0.0,
        float(depth.max()) / _FARTHEST,
    )
    return sarkar(tree, scale=1.0 / reach if reach > 0 else 1.0, root=root)
