"""Ultrametric trees as SciPy linkage matrices."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..operations.rerooting import midpoint_root

if TYPE_CHECKING:
    from ..structure.rooted import Rooted
    from ..tree import Tree


def linkage_matrix(tree: "Tree", rtol: float) -> NDArray[np.float64]:
    """Return the merges of an ultrametric tree, sorted by height: see `Tree.to_linkage`. O(N log N)."""
    whole, root = midpoint_root(tree)
    rooted = whole.rooted(root)
    depth = rooted.depth[: len(tree)]
    top = float(depth.max())
    low = int(depth.argmin())
    if depth[low] < top * (1 - rtol):
        name = low if tree.labels is None else repr(tree.labels[low])
        raise ValueError(
            f"the tree is not ultrametric (point {name} is at distance {depth[low]:.6g} "
            f"from the midpoint of the longest path, another point at {top:.6g}): fit "
            "with method='upgma', or pass a larger rtol"
        )
    return _merges(rooted, len(tree), np.maximum(top - rooted.depth, 0.0))


def _merges(rooted: "Rooted", n_points: int, height: NDArray[np.float64]) -> NDArray[np.float64]:
    """Merge the clusters below each node, from low nodes to high nodes."""
    below = rooted.order[:0:-1]
    above = rooted.parent[below]
    # among equal heights, later preorder positions come earlier
    steps = np.argsort(height[above], kind="stable")
    cluster = [node if node < n_points else -1 for node in range(len(height))]
    size = [1] * n_points
    rows = []
    for node, parent in zip(below[steps].tolist(), above[steps].tolist(), strict=True):
        first, second = sorted((cluster[node], cluster[parent]))
        if first >= 0:
            rows.append((first, second, 2 * height[parent], size[first] + size[second]))
            cluster[parent] = len(size)
            size.append(size[first] + size[second])
        else:
            # Steiner nodes without points below them contribute nothing
            cluster[parent] = second
    return np.array(rows, dtype=np.float64).reshape(-1, 4)
