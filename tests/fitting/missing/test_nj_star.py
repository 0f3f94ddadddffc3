"""NJ*: neighbor joining on the measured distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.fitting.missing.patterns import random_binary_tree, without_pairs
from treerep.fitting.missing.nj_star import nj_star
from treerep.metric.matrix import MatrixMetric


def plain_joins(square):
    """Join by the definition; return the sets of points that are joined, one pair per step."""
    clusters = {frozenset([k]): k for k in range(len(square))}
    d = {
        (a, b): square[i, j]
        for a, i in clusters.items()
        for b, j in clusters.items()
        if i != j and not np.isnan(square[i, j])
    }
    left = list(clusters)
    joined = []
    while len(left) > 2:
        scores = []
        for a in left:
            for b in left:
                if (a, b) not in d:
                    continue
                both = [c for c in left if (a, c) in d and (b, c) in d]
                total = sum(d[a, c] + d[b, c] for c in both) + 2 * d[a, b]
                value = d[a, b] - total / len(both) if both else np.inf
                scores.append((value, -len(both), d[a, b], a, b, both))
        value, _, _, a, b, both = min(scores, key=lambda row: row[:3])
        tied = {frozenset(row[3:5]) for row in scores if row[0] <= value + 1e-9 * abs(value)}
        joined.append((a | b, {frozenset([*pair]) for pair in tied}))
        difference = np.mean([d[a, c] - d[b, c] for c in both]) if both else 0.0
        to_a = (d[a, b] + difference) / 2
        to_b = d[a, b] - to_a
        new = a | b
        left = [c for c in left if c not in (a, b)]
        for c in left:
            known = [d[side, c] - length for side, length in ((a, to_a), (b, to_b)) if (side, c) in d]
            if known:
                d[new, c] = d[c, new] = float(np.mean(known))
        left.append(new)
    return joined


def splits_of(tree):
    """The splits of a tree, as the sides without point 0."""
    n = len(tree)
    found = set()
    for k in range(len(tree.edges)):
        neighbors: dict[int, list[int]] = {}
        for other, (a, b) in enumerate(tree.edges.tolist()):
            if other != k:
                neighbors.setdefault(a, []).append(b)
                neighbors.setdefault(b, []).append(a)
        side = {int(tree.edges[k, 0])}
        stack = list(side)
        while stack:
            new = [x for x in neighbors.get(stack.pop(), []) if x not in side]
            side.update(new)
            stack += new
        points = frozenset(x for x in side if x < n)
        found.add(frozenset(range(n)) - points if 0 in points else points)
    return found


@given(st.integers(4, 12), st.sampled_from([0.0, 0.2, 0.5]), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_every_join_is_that_of_the_definition(n, share, seed):
    rng = np.random.default_rng(seed)
    noise = np.triu(rng.uniform(0.8, 1.2, (n, n)), 1)
    distances = random_binary_tree(n, rng).distances() * (noise + noise.T)
    square = without_pairs(distances, share, rng)
    if square is None:
        return
    joins = plain_joins(square)
    if any(len(tied) > 1 for _, tied in joins):
        return  # several trees are right
    found = splits_of(nj_star(MatrixMetric(square, missing=True), square))
    everything = frozenset(range(n))
    for cluster, _ in joins:
        assert (everything - cluster if 0 in cluster else cluster) in found


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 30])
def test_complete_distances_give_neighbor_joining(n):
    rng = np.random.default_rng(n)
    # Little noise, because equal pairs and negative lengths depend on the order of the joins.
    noise = np.triu(rng.uniform(0.99, 1.01, (n, n)), 1)
    distances = random_binary_tree(max(n, 3), rng).distances()[:n, :n] * (noise + noise.T)
    metric = MatrixMetric(distances)
    assert nj_star(metric, distances).isclose(tr.fit(metric, method="neighbor_joining"))
