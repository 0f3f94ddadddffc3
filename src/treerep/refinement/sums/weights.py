"""Edge lengths of all trees of a sum together.

The lengths minimize the squared errors or the distortion of the sum, as `lengths.weights` does for
one tree. No tree is fitted alone: an error that one tree cannot avoid is left to the others.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..._core.parallel import Workers
from ...metric.base import Metric
from ...tree.tree import Tree
from ..lengths._pairs import Optimum
from ..lengths._splits import distribute, find_tree_splits, gather
from ..lengths.least_distortion import Balance, Plan, least_distortion
from ..lengths.least_squares import least_squares
from ._sum_pairs import SumNeighborhoods, SumPairs

# Residual to reach: see `lengths.weights.fit_weights`.
_TOL = 1e-9


class SumWeights(NamedTuple):
    """Trees with fitted lengths, and the quality of the fit."""

    trees: list[Tree]
    value: float  # objective of the sum
    residual: float  # largest violation of the optimality conditions, dimensionless


def fit_sum_weights(
    trees: Sequence[Tree],
    metric: Metric,
    workers: Workers,
    *,
    objective: Literal["l1", "l2"] = "l1",
    power: float = 0.0,
    share: float = 0.0,
    neighbors: csr_array | None = None,
    sample: NDArray[np.int64] | None = None,
    plan: Plan | None = None,
    deadline: float = math.inf,
) -> SumWeights:
    """Fit the lengths of all trees together. The topologies do not change.

    Parameters
    ----------
    trees : sequence of Tree on the points of `metric`, in the same order
        The search starts from their lengths.
    objective, power
        As in `lengths.weights.fit_weights`.
    share : float from 0 to 1
        Weight of the neighborhoods `neighbors` relative to distances.
    sample : array of points, optional
        Use the distances from these points to all points instead of all pairs.
    plan : Plan, optional
        The stages of the search for "l1".

    Notes
    -----
    A pass over the pairs takes O(n N) for N nodes in all trees, or O(rows N), and O(n + N) memory
    beyond the distances that are kept. The result is bitwise identical for every number of threads.
    """
    splits = [find_tree_splits(tree) for tree in trees]
    pairs = SumPairs(splits, metric, sample, 2.0 if objective == "l1" else power, workers)
    lengths = [gather(own, tree.weights) for own, tree in zip(splits, trees, strict=True)]
    given = np.concatenate(lengths) / pairs.unit
    best: Optimum
    if objective == "l2":
        best = least_squares(pairs, given, _TOL, deadline)
    else:
        balance = None
        if share > 0 and neighbors is not None:
            balance = Balance(share, SumNeighborhoods(neighbors, pairs))
        best = least_distortion(pairs, given, _TOL, deadline, balance, squares_first=False, plan=plan)
    found = pairs.parts(best.length * pairs.unit)
    fitted = []
    for tree, own, old, new in zip(trees, splits, lengths, found, strict=True):
        weights = distribute(own, tree.weights, new, old)
        fitted.append(tree.with_weights(weights))
    return SumWeights(fitted, best.value, best.residual)
