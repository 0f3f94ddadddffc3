"""Edge lengths of the tree in the units of the distances: refitted, scaled, or as given.

A place is found by comparing distances with the lengths of paths. A tree with other lengths (twice
as long, in millions of years, or from another model) therefore gives wrong places.
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core.checks import check_choice
from .._core.lazy import load
from .._core.parallel import Workers
from ..metric._reordered import ReorderedMetric
from ..metric.base import Metric
from ..metric.matrix import MatrixMetric
from ..tree.tree import Tree
from ._new_distances import NewDistances, read_distances, tolerances_of
from ._new_points import NewPoints
from .candidates.search import Weighting, find_candidates

#: The values of `lengths` in `place`.
LENGTHS = ("refit", "scale", "given")
Lengths = Literal["refit", "scale", "given"]

# Up to this many points, all distances among them are read to refit the lengths, which takes seconds.
# Above this many points, four digits of the lengths are enough, in a third of the time.
_ALL_PAIRS = 2000
_ALL_DIGITS = 500
_FOUR_DIGITS = 1e-4
# Up to this many points, this many sampled rows are read. Fewer rows would make places worse, and
# for more points they would take longer than the places. Larger trees get one factor.
_SAMPLED_ROWS = 50_000
_ROWS = 256
# Sizes of the samples from which one factor is estimated.
_FACTOR_ROWS = 32
_FACTOR_POINTS = 1000
# A factor this close to 1 counts as 1. Smaller deviations cost few right places, and estimates from
# noisy distances are not more precise.
_SAME = 1.25
# The best factor replaces 1 only if it reduces squared errors by this factor, plus this share of
# their mean. A few noisy distances fit many factors about equally well.
_BETTER = 1.25
_CHANCE = 10.0
# Two estimates of the factor agree up to this ratio.
_AGREE = 1.5
# Squared errors are divided by this power of the distance. In simulated phylogenies with noisy
# distances, powers of 0 and 2 and a choice of near points gave factors further from 1.
_POWER = 1.0
# Number of distances that determine a place.
_FEWEST = 3
# Relative errors below this value are rounding errors.
_EXACT = 1e-6
# Factors are searched within this ratio of the first estimate, until the interval is this fraction of
# the errors, but not below the rounding errors of squared errors.
_REACH = 16
_PRECISION = 0.1
_SMALLEST_INTERVAL = 1e-7


def read_in_units(
    tree: Tree,
    given: NewPoints,
    lengths: Lengths | None,
    *,
    missing: bool,
    mutual: bool = True,
    n_jobs: int | None = None,
) -> tuple[Tree, NewDistances]:
    """Read the distances of new points, and adapt the lengths of the tree to them."""
    new = read_distances(tree, given, missing, mutual=mutual)
    adapted = _adapted(tree, given, chosen_lengths(lengths, given), lengths, n_jobs)
    if adapted is not tree and given.has_rows:  # their rounding is judged with the tree
        new = read_distances(adapted, given, missing, mutual=mutual)
    return adapted, new


def chosen_lengths(lengths: Lengths | None, given: NewPoints) -> Lengths:
    """Validate `lengths`. By default, refit them if distances within the tree are known."""
    if lengths is None:
        return "scale" if given.old is None else "refit"
    check_choice("lengths", lengths, LENGTHS)
    if lengths == "refit" and given.old is None:
        raise ValueError(
            "lengths='refit' needs the distances between the points of the tree: add them as "
            "data, or use lengths='scale'"
        )
    return lengths


def _adapted(
    tree: Tree,
    given: NewPoints,
    lengths: Lengths,
    asked: Lengths | None,
    n_jobs: int | None,
) -> Tree:
    # Without edges or with lengths of 0 alone, nothing can be scaled.
    if not tree.weights.any() and lengths != "refit":
        return tree
    if given.old is None:
        factor = _factor_of_rows(tree, given)
    else:
        old = _in_order(given, tree)
        factor = _factor_of_pairs(tree, old)
        if lengths == "refit":
            return _refitted(_scaled(tree, factor), old, n_jobs)
    if lengths == "scale":
        if factor != 1 and asked is None:
            _warn(
                "the lengths of the tree do not fit the distances, so they were multiplied by "
                f"{factor:.3g}: add the distances between the points of the tree to refit each "
                "length, or pass lengths='given' to keep them"
            )
        return _scaled(tree, factor)
    if factor != 1:
        _warn(
            f"the lengths of the tree do not fit the distances, which are about {factor:.3g} "
            "times as large, so places may be wrong: pass lengths='scale', or lengths='refit' "
            "with the distances between the points of the tree"
        )
    return tree


def _warn(text: str) -> None:
    # Levels: this function, _adapted, read_in_units, place or placements, and its caller.
    warnings.warn(text, UserWarning, stacklevel=5)


def _in_order(given: NewPoints, tree: Tree) -> Metric:
    """Return the distances between the points of the tree, in the order of the tree."""
    assert given.old is not None
    assert given.order is not None
    if given.old.has_missing:  # a view does not validate these
        block = given.old.block(given.order, given.order)
        return MatrixMetric(block, labels=tree.labels, missing=True)
    return ReorderedMetric(given.old, given.order, tree.labels, tree.order_known)


def _scaled(tree: Tree, factor: float) -> Tree:
    return tree if factor == 1 else tree.with_weights(tree.weights * factor)


def _refitted(tree: Tree, old: Metric, n_jobs: int | None) -> Tree:
    """Return the tree with the lengths that minimize the squared relative errors.

    Exact lengths do not change. Edges that the distances do not determine keep their lengths.
    """
    n = len(tree)
    if n > _SAMPLED_ROWS and not old.has_missing:
        return tree
    fit_weights = load("treerep.refinement.lengths.weights:fit_weights")
    rows = "all" if n <= _ALL_PAIRS or old.has_missing else _ROWS
    tol = _FOUR_DIGITS if n > _ALL_DIGITS else 1e-9
    fitted: Tree = fit_weights(tree, old, power=2.0, rows=rows, tol=tol, n_jobs=n_jobs).tree
    return fitted


def _factor_of_pairs(tree: Tree, old: Metric) -> float:
    """Return the median ratio of a distance to the length of the path."""
    n = len(tree)
    rng = np.random.default_rng(0)
    rows = _sample(rng, n, _FACTOR_ROWS)
    columns = _sample(rng, n, _FACTOR_POINTS)
    path = tree.block(rows, columns)
    distance = old.block(rows, columns)
    used = (path > 0) & (distance > 0)  # missing distances are not
    with np.errstate(over="ignore", under="ignore"):
        return _rounded(float(np.median(distance[used] / path[used]))) if used.any() else 1.0


def _factor_of_rows(tree: Tree, given: NewPoints) -> float:
    """Estimate the factor from the distances of a sample of new points.

    There are two estimates. The ratio of the distances of a new point to the paths of its nearest
    point is wrong if the edges of new points are long. The factor with the smallest errors
    is too small if the distances are not close to those of a tree. Both have to differ from 1.
    """
    rng = np.random.default_rng(0)
    rows = given.rows[_sample(rng, len(given.rows), _FACTOR_ROWS)]
    points = _sample(rng, len(tree), _FACTOR_POINTS)
    # A distance of 0 fits every factor, but its relative error does not.
    block = np.where(rows[:, points] > 0, rows[:, points], np.nan)
    known = block[np.isfinite(block).sum(axis=1) >= _FEWEST]
    if not len(known):
        return 1.0
    part = tree.restrict(points)
    ratio = _rounded(_ratio(part, known))
    if ratio == 1:
        return 1.0
    errors = _errors(part, known)
    plain = errors(1.0)
    if plain < _EXACT or plain <= min(map(errors, (_SAME, 1 / _SAME, ratio))):
        return 1.0
    factor, least = _minimum(errors, ratio)
    # Two lengths of each place and the factor are free.
    free = max(int(np.isfinite(known).sum()) - 2 * len(known) - 1, 1)
    if plain**2 <= (_BETTER + _CHANCE / free) * least**2 or (factor > 1) != (ratio > 1):
        return 1.0
    apart = max(factor / ratio, ratio / factor)
    return _rounded(factor if apart < _AGREE or abs(math.log(factor)) < abs(math.log(ratio)) else ratio)


def _ratio(tree: Tree, rows: NDArray[Any]) -> float:
    """Return the median ratio of distances to the paths of the nearest points."""
    path = tree.block(np.nanargmin(rows, axis=1), np.arange(len(tree)))
    used = (path > 0) & np.isfinite(rows)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.median(rows[used] / path[used])) if used.any() else 1.0


def _errors(tree: Tree, rows: NDArray[Any]) -> Callable[[float], float]:
    """Return the mean error of the best places, relative to distances, as a function of the factor."""
    new = read_distances(tree, NewPoints(rows, None), missing=True, mutual=False)
    everything = Weighting(nearest=None, power=_POWER)

    def errors(factor: float) -> float:
        if not np.isfinite(factor * tree.weights.max()):
            return math.inf
        scaled = _scaled(tree, factor)
        tolerances = tolerances_of(scaled, new, None)
        with Workers(1) as workers:
            found = find_candidates(scaled, new, len(rows), tolerances, everything, 1, workers)
        each = found.error[:, 0] / np.maximum(found.used, 1)
        return float(np.sqrt(np.where(found.exact, 0.0, np.maximum(each, 0.0))).mean())

    return errors


def _minimum(errors: Callable[[float], float], start: float) -> tuple[float, float]:
    """Return the best factor and its error, by a grid of factors and golden section."""
    grid = [start * ratio for ratio in np.geomspace(1 / _REACH, _REACH, 9).tolist()]
    best = grid[int(np.argmin([errors(factor) for factor in grid]))]
    golden = (math.sqrt(5) - 1) / 2
    # Logarithms of factors, relative to `best`.
    low, high = -math.log(2), math.log(2)
    inner = [low + (1 - golden) * (high - low), low + golden * (high - low)]
    values = [errors(best * math.exp(x)) for x in inner]
    while high - low > max(_PRECISION * min(values), _SMALLEST_INTERVAL):
        if values[0] <= values[1]:
            high = inner[1]
            inner = [low + (1 - golden) * (high - low), inner[0]]
            values = [errors(best * math.exp(inner[0])), values[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + golden * (high - low)]
            values = [values[1], errors(best * math.exp(inner[1]))]
    least = min(values)
    return best * math.exp(inner[values.index(least)]), least


def _rounded(factor: float) -> float:
    """Return 1 for factors close to 1, so that good lengths do not change at all."""
    usable = 0 < factor < math.inf
    return 1.0 if not usable or 1 / _SAME <= factor <= _SAME else factor


def _sample(rng: np.random.Generator, n: int, size: int) -> NDArray[np.int64]:
    if n <= size:
        return np.arange(n)
    return np.sort(rng.choice(n, size, replace=False)).astype(np.int64)
