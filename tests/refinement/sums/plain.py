"""Sums of trees as plain matrices, shared by the tests."""

import numpy as np

from treerep.refinement.lengths._splits import SplitTree
from treerep.tree.tree import Tree


def random_metric(n: int, seed: int, zeros: float = 0.0) -> np.ndarray:
    """Return symmetric random distances. The largest distance is 1, and so is the unit of the pairs."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(0.3, 0.9, (n, n)) * (rng.random((n, n)) >= zeros)
    d = np.triu(d, 1) + np.triu(d, 1).T
    d[0, -1] = d[-1, 0] = 0.9
    return d


def same_points(given: list[Tree]) -> list[Tree]:
    """Restrict trees to the number of points that all of them have."""
    n = min(len(tree) for tree in given)
    return [tree.restrict(range(n)) if len(tree) > n else tree for tree in given]


def split_matrix(splits: SplitTree, n: int) -> np.ndarray:
    """Return an n x n matrix per split: 1 if the split separates two points."""
    out = np.zeros((len(splits.up), n, n))
    for k in range(1, len(splits.up)):
        inside = np.isin(np.arange(n), splits.points[splits.first[k] : splits.last[k]])
        out[k] = inside[:, None] != inside[None, :]
    return out
