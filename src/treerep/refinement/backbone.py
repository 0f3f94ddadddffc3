"""Backbone trees: a refined tree of a sample settles distances, and branches around it settle neighborhoods.

1. *Sample* m points, learn their tree and refine it. That tree is the backbone.
2. *Place* every other point where its distances to the m points fit best, over all edges of the backbone.
3. *Join* the points at one node or edge that are close to each other into branches.
4. *Weigh*: fit the lengths of all edges to some rows of distances.

Steps 2 and 3 are independent for every point or zone: n m distances and O(n + m^2) memory.
"""

from typing import Literal

import numpy as np

from ..common.numbers import positive_number
from ..common.parallel import Workers
from ..fitting.attach import attach
from ..fitting.locate import Indices
from ..fitting.priorities import Priorities
from ..fitting.relaxed_neighbor_joining import relaxed_neighbor_joining
from ..fitting.result import checked_block, finished_tree, rounding_of
from ..fitting.treerep import treerep
from ..metric.base import Metric
from ..metric.graph import GraphMetric
from ..metric.matrix import MatrixMetric
from ..scoring.distortion import average_distortion
from ..tree.canonical import canonical_edges
from ..tree.tree import Tree
from .branches import grow
from .placement import best_places
from .refine import EXACT, check_arguments, refined_tree
from .refined import RefinedTree
from .weights import fit_weights

_SIZE = 1000
_LEAST = 3
# Points outside the sample by whose distances the weighting is chosen, and the powers to choose from.
_TRIED = 128
_POWERS = (0.0, 1.0, 2.0)
_ROWS = 64  # by which a tree of all points is compared with the data
# Rows to which the lengths of all edges are fitted: as many as this number of pairs allows, within bounds; and the
# number of points up to which that pays.
_WEIGHED_PAIRS, _FEWEST_ROWS, _MOST_ROWS = 25_600_000, 256, 1024
_WEIGHED = 200_000
# Up to here the neighborhoods of a graph count in that, with this share.
_NEIGHBORHOODS, _SHARE = 10_000, 0.4


def backbone(
    metric: Metric,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    size: int = _SIZE,
    balance: float = 0.0,
    time_limit: float | None = None,
) -> Tree:
    """Learn a tree of many points around the refined tree of some of them.

    Distances between points come from the refined tree: every other point is placed where its distances to the sample
    have the least squared error, over all edges. Points that land at the same node or edge and are close to each other
    then share a branch, which settles neighborhoods. Exact on tree metrics: if the tree of the sample is exact, TreeRep
    learns the tree of all points, and is checked against the data.

    Parameters
    ----------
    size : int
        Number m of points in the sample, at least 3; 1,000 by default. All points if there are no more.
    balance : float from 0 to 1
        As in `refine`, for the tree of the sample; 0 by default.
    time_limit : float, optional
        Seconds for refining the tree of the sample, and as many for the lengths at the end. Without it, the seed alone
        decides the result.

    Notes
    -----
    O(n m) time and n m distances, beside the refinement of m points; O(n + m^2) memory. Up to 200,000 points, the
    lengths of all edges are fitted to 256 to 1,024 rows of distances at the end; for graphs of up to 10,000 vertices
    neighborhoods count as well. Squared errors are weighted by
    1 / d^p, where p is 0, 1 or 2: the one by which points outside the sample get the best distances to each other.
    Placement by least squares over all edges is the move of `refine` (Fitch and Margoliash 1967, Bryant and Waddell
    1998); branches are Gromov's tree of each zone (Gromov 1987).
    """
    n, m = len(metric), positive_number(size, "size")
    if m < _LEAST:
        raise ValueError(f"size is the number of points in the backbone, at least {_LEAST}, not {size!r}")
    check_arguments(True, balance, time_limit)
    priorities = Priorities(n, rng)
    sample, table = _sampled(metric, np.arange(n) if n <= m else np.sort(priorities.points_at(np.arange(m))))
    tree = refined_tree(
        relaxed_neighbor_joining(table, rng=rng), table, "l1", True, balance, time_limit, rng, n_jobs,
        other_start=n <= m,
    )  # fmt: skip
    if _is_exact(tree, table):
        whole = treerep(metric, rng=rng, n_jobs=n_jobs)
        error = average_distortion(whole, metric, rows=min(n, _ROWS), rng=0, n_jobs=n_jobs)
        if error <= _rounding(metric):
            return whole
    rest = np.setdiff1d(np.arange(n), sample)
    if not len(rest):
        return finished_tree(metric, tree.edges, tree.weights)
    short = rounding_of(metric, float(table.distances.max()))
    with Workers(n_jobs) as workers:
        tried = rest[np.linspace(0, len(rest) - 1, min(_TRIED, len(rest))).astype(np.int64)]
        power = _best_power(tree, metric, sample, tried, workers)
        places = best_places(tree, metric, sample, rest, power, workers)
        edges, weights = grow(tree, metric, sample, rest, places, short, workers)
    del places, rest, priorities  # the memory is used again
    grown = finished_tree(metric, edges, weights)
    return grown if n > _WEIGHED else _weighed(grown, metric, rng, time_limit, n_jobs)


def _weighed(
    tree: Tree, metric: Metric, rng: np.random.Generator, time_limit: float | None, n_jobs: int | None
) -> Tree:
    """Return the tree with lengths of least distortion on some rows of distances."""
    n, graph = len(metric), isinstance(metric, GraphMetric) and len(metric) <= _NEIGHBORHOODS
    most = _FEWEST_ROWS if graph else min(_MOST_ROWS, max(_FEWEST_ROWS, _WEIGHED_PAIRS // n))
    rows: Literal["all"] | int = "all" if n <= 2 * _FEWEST_ROWS else most
    fitted = fit_weights(
        tree, metric, objective="l1", balance=_SHARE if graph else 0.0, rows=rows, squares_first=False, rng=rng,
        max_seconds=time_limit, n_jobs=n_jobs,
    )  # fmt: skip
    return fitted.tree.contracted(0.0)


def _sampled(metric: Metric, sample: Indices) -> tuple[Indices, MatrixMetric]:
    """Return the sample without duplicates, which are placed later, and its distances."""
    table = checked_block(metric, sample, sample)
    first = np.flatnonzero(~(np.tril(table == 0, -1)).any(axis=1))
    kept = first if len(first) >= _LEAST else np.arange(len(sample))
    return sample[kept], MatrixMetric(table[np.ix_(kept, kept)], symmetrize="mean")


def _rounding(metric: Metric) -> float:
    return max(EXACT, metric.eps, metric.input_eps)


def _is_exact(tree: RefinedTree, table: Metric) -> bool:
    return tree.refinement.distortion <= _rounding(table)


def _best_power(tree: Tree, metric: Metric, sample: Indices, tried: Indices, workers: Workers) -> float:
    """Return the p of the weights 1 / d^p for which the distances among points that were placed are least wrong."""
    truth = MatrixMetric(checked_block(metric, tried, tried), symmetrize="mean")
    n, m = len(sample) + len(tried), len(sample)

    def error(power: float) -> float:
        edges, weights = attach(tree, best_places(tree, metric, sample, tried, power, workers), None, 0.0, workers)
        grown = Tree._trusted(n, *canonical_edges(n, edges, weights))
        return float(average_distortion(grown.restrict(np.arange(m, n)), truth))

    return min(_POWERS, key=error)
