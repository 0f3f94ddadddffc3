"""Backbone trees computed by the threads of this process."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers, run
from ...fitting._distances import checked_block
from ...fitting._finished_tree import finished_tree
from ...fitting.treerep.algorithm import treerep
from ...metric._reordered import ReorderedMetric
from ...metric.base import Metric, read_only
from ...metric.points import PointMetric
from ...placement._least_squares_places import best_places, place_rows, rooted_backbone
from ...placement._locate import Indices, Numbers, Places
from ...scores._streaming import row_slices
from ...scores.distortion import average_distortion
from ...tree.tree import Tree
from .._candidates import exact_distortion
from ..lengths.weights import fit_weights
from ._branches import grow
from ._limits import LIMITS
from ._near_relations import coordinates, first_copies, with_near_relations
from ._small_tree import Weighting, is_graph

#: Number of rows on which a tree of all points is compared with the data.
CHECKED_ROWS = 64
# Near relations may raise the distortion by this factor. On the sets of `benchmarks near`, they raise it
# by at most 1.14.
_MOST_DISTORTION = 1.25
# Number of points whose distances to the sample are read by one task.
_READ_TOGETHER = 16


class ThreadsEngine:
    """The engine that runs in this process. See `Engine`."""

    def __init__(self, metric: Metric, n_jobs: int | None) -> None:
        self.space = metric
        self.graph = metric if is_graph(metric) else None
        self.n_jobs = n_jobs

    def table(self, points: Indices) -> Numbers:
        """Return the distances among some points."""
        table = np.empty((len(points), len(points)))
        # Distances between points are symmetric and slow in high dimensions, so only half of the
        # distances are computed.
        half = isinstance(self.space, PointMetric)

        def read(rows: slice) -> None:
            start = rows.start if half else 0
            table[rows, start:] = checked_block(self.space, points[rows], points[start:])
            if half:
                table[rows.stop :, rows] = table[rows, rows.stop :].T

        for _ in run(read, row_slices(len(points), len(points)), self.n_jobs):
            pass
        return table

    def coordinates(self, points: Indices) -> NDArray[Any] | None:
        """Return coordinates of some points, if their Euclidean distances are known."""
        every = coordinates(self.space)
        return None if every is None else every[points]

    def places(self, tree: Tree, sample: Indices, points: Indices, powers: tuple[float, ...]) -> list[Places]:
        """Return the best positions of a few points, for each power."""
        n = len(points)
        parts = [points[start : start + _READ_TOGETHER] for start in range(0, n, _READ_TOGETHER)]
        read = run(lambda part: checked_block(self.space, part, sample), parts, self.n_jobs)
        distances = read_only(np.concatenate(list(read)))
        found = []
        for power in powers:
            known, scale = rooted_backbone(tree, power)
            places = Places(np.empty(n, np.int64), np.empty(n), np.empty(n))
            place_rows(known, scale, distances, places)
            found.append(places)
        return found

    def whole(self, rng: np.random.Generator) -> Tree | None:
        """Return TreeRep's tree of all points if it is exact."""
        tree = treerep(self.space, rng=rng, n_jobs=self.n_jobs)
        return tree if is_exact(tree, self.space, self.n_jobs) else None

    def grown(self, tree: Tree, sample: Indices, power: float, short: float) -> Tree:
        """Return the tree of all points around the tree of the sample."""
        rest = other_points(len(self.space), sample)
        with Workers(self.n_jobs) as workers:
            places = best_places(tree, self.space, sample, rest, power, workers)
            edges, weights = grow(tree, self.space, sample, rest, places, short, workers)
        del places, rest  # frees memory
        return finished_tree(self.space, edges, weights)

    def weighed(
        self, tree: Tree, choice: Weighting, rng: np.random.Generator, time_limit: float | None
    ) -> Tree:
        """Return the tree with the lengths that minimize the distortion on some rows of distances."""
        return weighed(tree, self.space, choice, rng, time_limit, self.n_jobs)


def other_points(n: int, sample: Indices) -> Indices:
    """Return the points that are not in the sample."""
    return np.delete(np.arange(n), sample)


def is_exact(tree: Tree, metric: Metric, n_jobs: int | None) -> bool:
    """Return whether a tree reproduces the metric on some rows, up to rounding."""
    rows = min(len(metric), CHECKED_ROWS)
    error = average_distortion(tree, metric, rows=rows, rng=0, n_jobs=n_jobs)
    return bool(error <= exact_distortion(metric))


def weighed(
    tree: Tree,
    metric: Metric,
    choice: Weighting,
    rng: np.random.Generator,
    time_limit: float | None,
    n_jobs: int | None,
) -> Tree:
    """Return the tree with lengths fitted to some rows of distances.

    For points, near relations are improved first.
    """
    n = len(metric)
    if choice.nearby:
        return _with_neighbors(tree, metric, choice.share, rng, time_limit, n_jobs)
    share = choice.share if n <= LIMITS.neighborhoods else 0.0
    fitted = fit_weights(
        tree,
        metric,
        objective="l1",
        balance=share,
        rows=_fitted_rows(n, share),
        squares_first=False,
        rng=rng,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )
    return fitted.tree.contracted(0.0)


def _with_neighbors(
    tree: Tree,
    metric: Metric,
    share: float,
    rng: np.random.Generator,
    time_limit: float | None,
    n_jobs: int | None,
) -> Tree:
    """Return the tree with better near relations. Copies stay at distance 0 from their originals."""
    n = len(metric)
    points = coordinates(metric)
    if points is None:
        return with_neighbors(tree, metric, None, share, rng, time_limit, n_jobs)
    originals = first_copies(points)
    kept = np.flatnonzero(originals == np.arange(n))
    if len(kept) < LIMITS.least_sample:
        return tree
    if len(kept) == n:
        return with_neighbors(tree, metric, points, share, rng, time_limit, n_jobs)
    distinct = ReorderedMetric(metric, kept, None, True)
    tree = with_neighbors(tree.restrict(kept), distinct, points[kept], share, rng, time_limit, n_jobs)
    copies = np.flatnonzero(originals != np.arange(n))
    return with_copies(metric, tree, kept, np.column_stack([copies, originals[copies]]))


def with_copies(space: Any, tree: Tree, points: Indices, copies: Indices) -> Tree:
    """Return the tree of all points from that of some, and rows (copy, original) of the others."""
    n = len(space)
    names = np.concatenate([points, n + np.arange(tree.n_nodes - len(points))])
    edges = np.concatenate([names[tree.edges], copies])
    return finished_tree(space, edges, np.append(tree.weights, np.zeros(len(copies))))


def with_neighbors(
    tree: Tree,
    metric: Metric,
    points: NDArray[Any] | None,
    share: float,
    rng: np.random.Generator,
    time_limit: float | None,
    n_jobs: int | None,
) -> Tree:
    """Return the tree with better near relations, and lengths that fit some rows of distances too.

    `points` are the coordinates of the points of the metric, if their Euclidean distances are known.
    """
    n = len(metric)
    given = tree
    if points is not None:
        tree = with_near_relations(tree, points, time_limit, n_jobs)
    affordable = min(LIMITS.most_rows, max(LIMITS.fewest_rows, LIMITS.nearby_pairs // n))
    fitted = fit_weights(
        tree,
        metric,
        objective="l1",
        balance=share,
        nearby=True,
        rows="all" if n <= LIMITS.sample else affordable,
        rng=rng,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )
    if time_limit is not None and tree is not given:
        # The search for lengths may have ended before they were good for far distances.
        before, after = (
            float(average_distortion(one, metric, rows=min(n, CHECKED_ROWS), rng=0, n_jobs=n_jobs))
            for one in (given, fitted.tree)
        )
        if after > _MOST_DISTORTION * before:
            return given
    return fitted.tree.contracted(0.0)


def _fitted_rows(n: int, share: float) -> Literal["all"] | int:
    """Return the number of rows to which lengths are fitted."""
    if n <= 2 * LIMITS.fewest_rows:
        return "all"
    if share:
        return LIMITS.fewest_rows
    affordable = LIMITS.fitted_pairs // n
    return min(LIMITS.most_rows, max(LIMITS.fewest_rows, affordable))
