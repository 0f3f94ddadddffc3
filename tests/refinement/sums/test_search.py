"""The search for topologies keeps the best trees, and points are placed where they fit all trees together."""

import math
from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests.refinement.sums.plain import random_metric
from treerep._core.parallel import Workers
from treerep.metric.matrix import MatrixMetric
from treerep.placement._locate import distances_from
from treerep.refinement.sums import search as module
from treerep.refinement.sums.many_points import _place_block
from treerep.refinement.sums.search import SumSearch, grow
from treerep.refinement.sums.weights import fit_sum_weights


def test_the_best_trees_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def recorded(trees: Any, *arguments: Any, **options: Any) -> Any:
        result = fit_sum_weights(trees, *arguments, **options)
        # Later results look worse, as after moves that did not help.
        result = result._replace(value=result.value + len(found))
        found.append((len(trees), result.value, list(result.trees)))
        return result

    monkeypatch.setattr(module, "fit_sum_weights", recorded)
    table = MatrixMetric(random_metric(16, 0))
    first = tr.fit(table, method="neighbor_joining")
    with Workers(1) as workers:
        generator = np.random.default_rng(0)
        search = SumSearch(table, [first], 0.0, generator, workers, math.inf)
        grow(search, 3, 2, 2)
    full = [(value, trees) for count, value, trees in found if count == 3]
    assert len(full) > 2
    value, trees = min(full, key=lambda pair: pair[0])
    assert search.error == value
    assert search.best == trees


@pytest.mark.parametrize("seed", range(4))
def test_points_are_placed_in_all_trees_together(seed: int) -> None:
    # The distances are those of two trees. Half of the points are placed in the trees of the other half.
    trees = [tr.datasets.random_tree(60, rng=2 * seed + k) for k in range(2)]
    sample = np.arange(30)
    rest = np.arange(30, 60)
    distances = tr.TreeSum(trees).block(rest, sample)
    parts = tuple(tree.restrict(sample) for tree in trees)
    means = np.array([tree.distances().mean() for tree in parts])
    places = _place_block(parts, means / means.sum(), distances)
    found = sum(distances_from(tree, own, sample) for tree, own in zip(parts, places, strict=True))
    assert float(np.abs(found / distances - 1).mean()) < 0.05
