"""Backbone trees: a refined tree of a sample, with branches of all other points around it.

1. *Sample* m points and learn their tree (`small_tree`). This tree is the backbone.
2. *Place* every other point at the position in the backbone that best fits its distances to the
m points.
3. *Join* nearby points at the same node or edge into branches.
4. *Fit* the lengths of all edges to some rows of distances.

The backbone determines long distances, and the branches determine neighborhoods. Steps 2 and 3 are
independent for every point or zone. Both steps use n m distances and O(n + m^2) memory. If there
are few points, the sample contains all points, and step 1 yields the whole tree.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_time_limit, positive_number
from ..._core.parallel import Workers, run
from ...fitting._distances import rounding_of
from ...fitting._finished_tree import finished_tree
from ...fitting.evolution._profile_spaces import has_profiles, profile_bytes
from ...fitting.evolution.minimum_evolution import minimum_evolution
from ...fitting.evolution.profiles import rows_of_profiles, shortest_tree
from ...fitting.joining.relaxed_neighbor_joining import relaxed_neighbor_joining
from ...fitting.treerep._priorities import Priorities
from ...metric.base import Metric
from ...metric.matrix import MatrixMetric
from ...placement._attach import attach
from ...placement._locate import Indices, Numbers, Places
from ...scores.distortion import average_distortion
from ...scores.mean_average_precision import mean_average_precision
from ...tree.structure.canonical import canonical_edges
from ...tree.tree import Tree
from .._arguments import check_arguments
from .._candidates import exact_distortion, neighborhoods
from ..lengths.weights import fit_weights
from ._limits import LIMITS
from ._small_tree import Weighting, kind_of, small_tree, weighting
from ._threads import ThreadsEngine, with_copies, with_neighbors

# Fewer points have only one binary tree.
_FEWEST = 3
# Number of rows and columns of a table that are made symmetric together.
_BLOCK = 256


def auto(
    metric: Metric,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Fit a good tree to any number of points. This is the default method of `fit`.

    Exact on tree metrics. For squared Euclidean points, sequences (except by "logdet") and
    characters, the result is that of `minimum_evolution`, unless `balance` is given or profiles
    would take more than 8 GiB. On other data, the result is that of `backbone`. All points are in
    the backbone up to 2,000 points, 4,000 points with given distances, or 5,000 vertices of a
    graph. Then copies of a point do not change the tree.

    Parameters
    ----------
    balance
        As in `backbone`.
    time_limit : float, optional
        As in `backbone`, or the seconds for the search of `minimum_evolution`.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.backbone : The method for many points.
    methods.treerep : The method of the TreeRep paper.

    Notes
    -----
    O(n) time for each point of the backbone, and O(n) memory beyond the distances of the
    backbone. Neighbors are joined as by Evans, Sheneman and Foster (2006). Points and subtrees
    are moved as by Bryant and Waddell (1998).
    """
    n = len(metric)
    if (
        balance is None
        and n > _FEWEST
        and has_profiles(metric)
        and profile_bytes(metric, rows_of_profiles(n)) <= LIMITS.profile_bytes
    ):
        check_time_limit(time_limit)
        with Workers(n_jobs) as workers:
            return finished_tree(metric, *shortest_tree(metric, workers, time_limit))
    return backbone(metric, rng=rng, n_jobs=n_jobs, balance=balance, time_limit=time_limit)


def backbone(
    metric: Metric,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    size: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Fit a tree to many points around the refined tree of a sample.

    The refined tree of the sample is the backbone. Every other point is placed where its
    distances to the sample have the least squared error, over all edges of the backbone. Points
    that are placed at the same node or edge and are close to each other then share a branch.

    If all points are in the sample, copies of a point do not change the tree. They are attached at
    distance 0.

    Exact on tree metrics: if the tree of the sample is exact, TreeRep fits the tree of all
    points, and this tree is validated against the data.

    Parameters
    ----------
    size : int, optional
        Number m of points in the sample, at least 3. With fewer points, all points are in the
        sample. The default is 2,000, or 4,000 if the data consists of distances. If the data is
        a graph of up to 5,000 vertices, all vertices are in the sample.
    balance : float from 0 to 1, optional
        Weight of near distances: squared errors are weighted by 1 / d^(4 balance). 0 is best
        for long distances, and 1 for neighbors and groups. The default is 0 for graphs and 1
        for distances. Up to 10,000 points with coordinates, points move with 1/2, then 3/4, then
        1; for more points the default is 1/4. Above 0, near relations of up to 200,000 points with
        coordinates are improved: see Notes.
    time_limit : float, optional
        Seconds for each of three steps: the moves in the tree of the sample, the edge lengths of
        this tree, and the edge lengths of the final tree. Without a limit, the result depends on
        the seed only.

    See Also
    --------
    fit : Fit a tree by any method.
    refine : Improve a tree.
    methods.auto : The default method.

    Notes
    -----
    O(n m) time and n m distances, besides the tree of m points; O(n + m^2) memory. For a graph
    of up to 2,000 vertices, 20 trees by relaxed neighbor joining and one by minimum evolution are
    compared, and edge lengths are fitted to all distances.

    Up to 200,000 points, the lengths of all edges are fitted to 256 to 1,024 rows of distances
    at the end. For graphs of up to 10,000 vertices, neighborhoods count as well.

    For points with Euclidean distances or angles, the last step follows minimum evolution on
    profiles inside clades of at most 1/8 of the points (see `minimum_evolution`), if the profiles
    take at most 8 GiB. This keeps the coarse order of the tree and brings near points together.
    Lengths are then fitted to the distances and to the ten nearest neighbors of each point, among
    the 100 to 250 points near it in the tree. Other metrics of points have no profiles, so that
    only the lengths change. O(n) time per pass, and O(n k) memory for k coordinates.

    Without `balance`, graphs and more than 10,000 points are placed with the best of three
    exponents, tested on some points outside the sample. Points with given distances are placed with the weight 1 / d^4,
    because the distances of distant species contain little information about the order of their
    branches.

    Placement by least squares over all edges is the move of `refine` (Fitch and Margoliash
    1967, Bryant and Waddell 1998). Branches are Gromov's tree of each zone (Gromov 1987).
    """
    check_arguments(True, 0.0 if balance is None else balance, time_limit)
    choice = weighting(kind_of(metric), balance, len(metric))
    engine = ThreadsEngine(metric, n_jobs)
    return backbone_tree(engine, choice, rng=rng, n_jobs=n_jobs, size=size, time_limit=time_limit)


class Engine(Protocol):
    """Interface for reading distances, placing points and joining them.

    There are implementations for the threads of this process, for a cluster, and for a device.
    """

    @property
    def space(self) -> Any:
        """The number, labels and precision of the points, as in `Metric`."""

    @property
    def graph(self) -> Metric | None:
        """The metric in this process, if it is a graph metric (`is_graph`)."""

    def table(self, points: Indices) -> Numbers:
        """Return the distances among some points."""

    def coordinates(self, points: Indices) -> NDArray[Any] | None:
        """Return coordinates of some points, if their Euclidean distances are known."""

    def places(self, tree: Tree, sample: Indices, points: Indices, powers: tuple[float, ...]) -> list[Places]:
        """Return the best positions of a few points in the sample's tree, for each power."""

    def whole(self, rng: np.random.Generator) -> Tree | None:
        """Return TreeRep's tree of all points if it is exact."""

    def grown(self, tree: Tree, sample: Indices, power: float, short: float) -> Tree:
        """Place all other points around the sample's tree and join nearby points."""

    def weighed(
        self, tree: Tree, choice: Weighting, rng: np.random.Generator, time_limit: float | None
    ) -> Tree:
        """Return the tree with the lengths that minimize the distortion on some rows of distances."""


def backbone_tree(
    engine: Engine,
    choice: Weighting,
    *,
    rng: np.random.Generator,
    n_jobs: int | None,
    size: int | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Learn a backbone tree with an engine. See `backbone`.

    The sample's tree is always learned by threads of this process.
    """
    n = len(engine.space)
    chosen = _choose_sample(engine, size, choice, rng)
    is_whole = len(chosen) == n
    sample, table, copies = _read_sample(engine, chosen)
    graph = engine.graph if is_whole else None
    if graph is not None and len(sample) < n:
        graph = table  # a table of whole numbers may count as a graph, and may have duplicates
    keeps = choice.keep and graph is not None
    if keeps:
        count = LIMITS.graph_starts
    else:
        count = LIMITS.whole_starts if is_whole else LIMITS.starts
    starts = _join_neighbors(table, count, rng, n_jobs)
    if starts[0].error <= exact_distortion(table):
        whole = engine.whole(rng)
        if whole is not None:
            return whole
    powers = choice.moves
    if n > LIMITS.second_round and len(powers) == 1:
        powers *= 2

    def improved(tree: Tree, choice: Weighting) -> Tree:
        for power in powers:
            tree = small_tree(
                tree,
                table,
                choice,
                power=power,
                graph=graph,
                rng=rng,
                time_limit=time_limit,
                n_jobs=n_jobs,
            )
        return tree

    if graph is not None and keeps and len(starts) > 1:
        tree = _best_graph_tree(starts, table, graph, choice, improved, n_jobs)
    else:
        tree = improved(starts[0].tree, choice)
    if is_whole and choice.nearby:
        points = engine.coordinates(sample)
        tree = with_neighbors(tree, table, points, choice.share, rng, time_limit, n_jobs)
    if len(sample) + len(copies) == n:
        return with_copies(engine.space, tree, sample, copies)
    largest = float(table.distances.max())
    power = _best_power(engine, tree, sample, _usable_powers(choice, largest))
    grown = engine.grown(tree, sample, power, rounding_of(engine.space, largest))
    if n > LIMITS.fitted_points:
        return grown
    return engine.weighed(grown, choice, rng, time_limit)


# Sample.


def _choose_sample(engine: Engine, size: int | None, choice: Weighting, rng: np.random.Generator) -> Indices:
    """Return the points of the sample in ascending order."""
    n = len(engine.space)
    m = _sample_size(engine, size, choice)
    if n <= m:
        return np.arange(n)
    return np.sort(Priorities(n, rng).points_at(np.arange(m)))


def _sample_size(engine: Engine, size: int | None, choice: Weighting) -> int:
    """Return the number of points in the sample. Raise a ValueError if it is too small."""
    n = len(engine.space)
    if size is None and engine.graph is not None:
        return LIMITS.whole_graph if n <= LIMITS.whole_graph else LIMITS.sample
    if size is None:
        return LIMITS.distances_sample if choice.near else LIMITS.sample
    m = positive_number(size, "size")
    if m < LIMITS.least_sample:
        raise ValueError(f"size must be a number of points of at least {LIMITS.least_sample}, got {size!r}")
    return m


def _read_sample(engine: Engine, chosen: Indices) -> tuple[Indices, MatrixMetric, Indices]:
    """Return the sample without duplicates, its distances, and the copies among the duplicates.

    A duplicate is at distance 0 from a point of the sample, its original. A copy is also as far
    from all other points as its original. (Two sequences with gaps can be at distance 0, but not
    at the same distance from a third sequence.) Copies are rows (point, original).
    """
    table = np.require(engine.table(chosen), requirements="W")
    # Keep the first of several points at distance 0.
    is_kept = ~(np.tril(table == 0, -1)).any(axis=1)
    copies = np.empty((0, 2), np.int64)
    if LIMITS.least_sample <= is_kept.sum() < len(chosen):
        copies = chosen[_copies(table, is_kept, rounding_of(engine.space, float(table.max())))]
        chosen = chosen[is_kept]
        table = table[np.ix_(is_kept, is_kept)]
    make_symmetric(table)
    return chosen, MatrixMetric(table), copies


def _copies(table: Numbers, is_kept: NDArray[np.bool_], tol: float) -> Indices:
    """Return rows (point, original) of the points that are not kept but are copies of kept ones."""
    found = []
    for k in np.flatnonzero(~is_kept):
        originals = np.flatnonzero(is_kept & (table[k] == 0))
        alike = (np.abs(table[originals] - table[k]) <= tol).all(axis=1)
        found += [(k, original) for original in originals[alike][:1]]
    return np.array(found, np.int64).reshape(-1, 2)


def make_symmetric(table: Numbers) -> None:
    """Replace d(i, j) and d(j, i) by their mean, in place.

    Works in blocks, because reading columns of a large table is slow.
    """
    n = len(table)
    for low in range(0, n, _BLOCK):
        for left in range(0, low + 1, _BLOCK):
            block = table[low : low + _BLOCK, left : left + _BLOCK]
            mirror = table[left : left + _BLOCK, low : low + _BLOCK]
            mean = 0.5 * block + 0.5 * mirror.T
            block[:] = mean
            mirror[:] = mean.T


# Tree of the sample.


class _Start(NamedTuple):
    tree: Tree
    error: float  # average distortion


def _error(start: _Start) -> float:
    return start.error


def _join_neighbors(
    table: MatrixMetric, count: int, rng: np.random.Generator, n_jobs: int | None
) -> list[_Start]:
    """Return relaxed neighbor-joining trees, best first. Return only one if it is exact."""

    def joined(generator: np.random.Generator, jobs: int | None = 1) -> _Start:
        tree = relaxed_neighbor_joining(table, rng=generator)
        return _Start(tree, float(average_distortion(tree, table, n_jobs=jobs)))

    first = joined(rng, n_jobs)
    if first.error <= exact_distortion(table) or len(table) > LIMITS.sample:
        return [first]
    return sorted([first, *run(joined, rng.spawn(count - 1), n_jobs)], key=_error)


def _best_graph_tree(
    starts: list[_Start],
    table: MatrixMetric,
    graph: Metric,
    choice: Weighting,
    improved: Callable[[Tree, Weighting], Tree],
    n_jobs: int | None,
) -> Tree:
    """Return the best tree of all vertices of a graph.

    Least-squares lengths show which start has the best distances. Minimum evolution is another
    start, because it often keeps more neighbors. It is dropped if its distances and its
    neighborhoods are worse. Otherwise, the lengths of both trees are fitted fully. The topology of
    minimum evolution needs less weight on neighborhoods, so half of it is given to distances. The
    result is better only if both of its scores are.
    """
    _, edges = neighborhoods(graph, table)

    def scores(tree: Tree) -> tuple[float, float]:
        error = float(average_distortion(tree, table, n_jobs=1))
        return error, 1.0 - float(mean_average_precision(tree, edges, n_jobs=1))

    def fitted_scores(tree: Tree) -> tuple[float, float]:
        fitted = fit_weights(tree, table, objective="l2", tol=LIMITS.start_tol, n_jobs=1)
        return scores(fitted.tree)

    trees = [start.tree for start in starts[: LIMITS.promising_starts]]
    trees.append(minimum_evolution(table, n_jobs=n_jobs))
    *joined, shortest = run(fitted_scores, trees, n_jobs)
    first = min(range(len(joined)), key=joined.__getitem__)
    tree = improved(trees[first], choice)
    if shortest[0] >= joined[first][0] and shortest[1] >= joined[first][1]:
        return tree
    other = improved(trees[-1], choice._replace(share=choice.share / 2))
    one, two = run(scores, [other, tree], n_jobs)
    return other if one[0] < two[0] and one[1] < two[1] else tree


# Power of the weights for placing points.


def _usable_powers(choice: Weighting, largest: float) -> tuple[float, ...]:
    """Return the powers of the weighting, or 0 if powers of the distances would overflow."""
    if 1 / LIMITS.largest_distance < largest < LIMITS.largest_distance:
        return choice.places
    return (0.0,)


def _best_power(engine: Engine, tree: Tree, sample: Indices, powers: tuple[float, ...]) -> float:
    """Return the p of the weights 1 / d^p that gives placed points the best distances.

    Each power is tested on some points outside the sample.
    """
    if len(powers) == 1:
        return powers[0]
    m = len(sample)
    others = len(engine.space) - m
    ranks = np.linspace(0, others - 1, min(LIMITS.test_points, others)).astype(np.int64)
    # The point of rank r among the other points follows r other points and the sample points
    # before it.
    placed = ranks + np.searchsorted(sample - np.arange(m), ranks, side="right")
    truth = MatrixMetric(engine.table(placed), symmetrize="mean")
    n = m + len(placed)
    errors = []
    with Workers(1) as workers:
        for places in engine.places(tree, sample, placed, powers):
            edges, weights = attach(tree, places, None, 0.0, workers)
            grown = Tree._trusted(n, *canonical_edges(n, edges, weights))
            only_placed = grown.restrict(np.arange(m, n))
            errors.append(float(average_distortion(only_placed, truth)))
    return powers[int(np.argmin(errors))]
