"""Clusters of a tree, by cutting edges."""

import heapq

import numpy as np
from numpy.typing import NDArray

from ..structure.rooted import Preorder


def cut_clusters(view: Preorder, n_points: int, k: int) -> NDArray[np.int64]:
    """Cut k-1 edges by Ward's objective; return the cluster of each node.

    Clusters are numbered by first appearance, points first. Every cluster contains a point.

    The objective is the sum over clusters C of (1/|C|) times the sum of path lengths over the pairs
    in C. A tree metric is a squared Euclidean distance, so this is the within-cluster sum of
    squares (Ward, JASA 58, 1963). The search is greedy: each cut lowers the objective as much as
    possible, so the final clusters need not be optimal. The time per cut is linear in the size of
    the part that is cut.
    """
    from .cluster_kernels import best_cut

    n = len(view.order)
    is_point = (view.order < n_points).astype(np.float64)
    scratch = tuple(np.empty(n) for _ in range(4))
    whole: list[NDArray[np.int32]] = []  # parts that cannot be cut
    heap: list[tuple[float, int, NDArray[np.int32]]] = []

    def offer(part: NDArray[np.int32]) -> None:
        fall, where = best_cut(part, view.up, view.length, is_point, *scratch)
        if where < 0:
            whole.append(part)
        else:
            heapq.heappush(heap, (-fall, where, part))

    offer(np.arange(n, dtype=np.int32))
    for _ in range(k - 1):
        _, where, part = heapq.heappop(heap)
        first, last = _subtree(view, part, where)
        offer(np.concatenate([part[:first], part[last:]]))
        offer(part[first:last].copy())
    cluster = np.empty(n, np.int64)
    for c, part in enumerate([*whole, *(entry[2] for entry in heap)]):
        cluster[view.order[part]] = c
    return _by_first_appearance(cluster)


def cluster_centers(view: Preorder, n_points: int, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the node of each cluster with the smallest sum of distances to its points.

    No branch of this node within the cluster has more than half of the points. From the top of
    the cluster down, nodes with at least half of the points below them form a chain. The last
    node of the chain is the center.
    """
    points = view.order < n_points
    below = points.astype(int).tolist()
    at = clusters[view.order].tolist()
    up = view.up.tolist()
    sizes = np.bincount(clusters[:n_points]).tolist()
    centers = [-1] * len(sizes)
    for k in range(len(at) - 1, -1, -1):
        c = at[k]
        if centers[c] < 0 and 2 * below[k] >= sizes[c]:
            centers[c] = k
        if k and at[up[k]] == c:
            below[up[k]] += below[k]
    return view.order[centers].astype(np.int64)


def _subtree(view: Preorder, part: NDArray[np.int32], where: int) -> tuple[int, int]:
    """Return the start and stop of the subtree of position `where` in the part."""
    first = int(np.searchsorted(part, where))
    outside = view.up[part[first + 1 :]] < where
    return first, first + 1 + int(outside.argmax()) if outside.any() else len(part)


def _by_first_appearance(cluster: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber clusters 0, 1, ... in the order of the nodes."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
