"""The graph of nearest neighbors, compared with brute force."""

from itertools import combinations

import networkx as nx
import numpy as np

import treerep as tr
from paper.neighbors import nearest_neighbors


def test_groups_far_apart_are_joined_by_the_shortest_edges() -> None:
    rng = np.random.default_rng(0)
    groups = [rng.normal(size=(size, 2)) + far for size, far in ((7, 0), (6, 40), (5, -90))]
    points = np.concatenate(groups)
    d = np.linalg.norm(points[:, None] - points, axis=2)
    n = len(d)
    expected = nx.Graph()
    expected.add_nodes_from(range(n))
    for i in range(n):
        nearest = sorted((d[i, j], j) for j in range(n) if j != i)[:3]
        expected.add_weighted_edges_from((i, j, length) for length, j in nearest)
    for length, i, j in sorted((d[i, j], i, j) for i, j in combinations(range(n), 2)):
        if not nx.has_path(expected, i, j):
            expected.add_edge(i, j, weight=length)
    found = nearest_neighbors(tr.MatrixMetric(d), 3).adjacency
    assert {frozenset(pair) for pair in zip(*found.nonzero(), strict=True)} == set(
        map(frozenset, expected.edges)
    )
    assert found.data.tolist() == d[found.nonzero()].tolist()
