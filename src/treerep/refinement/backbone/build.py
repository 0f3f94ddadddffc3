"""Backbone trees: a refined tree of a sample settles distances, and branches around it settle neighborhoods.

1. *Sample* m points and learn their tree (`small_tree`). That tree is the backbone.
2. *Place* every other point where its distances to the m points fit best, over all edges of the
   backbone.
3. *Join* the points at one node or edge that are close to each other into branches.
4. *Weigh*: fit the lengths of all edges to some rows of distances.

Steps 2 and 3 are independent for every point or zone: n m distances and O(n + m^2) memory. Few
points are all sampled, so that the first step gives the whole tree.
"""

from typing import Any, Literal, Protocol

import numpy as np

from ..._core.checks import positive_number
from ..._core.parallel import Workers, run
from ...fitting._distances import checked_block, finished_tree, rounding_of
from ...fitting.joining.relaxed_neighbor_joining import relaxed_neighbor_joining
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep.algorithm import treerep
from ...metric.base import Metric, read_only
from ...metric.matrix import MatrixMetric
from ...metric.points import PointMetric
from ...placement._attach import attach
from ...placement._least_squares_places import best_places, place_rows, rooted_backbone
from ...placement._locate import Indices, Numbers, Places
from ...scores._streaming import row_slices
from ...scores.distortion import average_distortion
from ...tree.structure.canonical import canonical_edges
from ...tree.tree import Tree
from ..lengths.weights import fit_weights
from ..refine import EXACT, check_arguments
from ._branches import grow
from ._small_tree import Weighting, is_graph, kind_of, small_tree, weighting

#: Points in the sample, if the user does not say how many ...
SIZE = 2000
#: ... and vertices of a graph up to which its whole tree is learned.
GRAPH_SIZE = 5000
_LEAST = 3
# Trees by joining neighbors, of which the best is improved: a bad one cannot be mended by
# moves.
_STARTS = 4
_WHOLE_STARTS = 2
# The same for a graph whose points do not move: its topology is that of the best start. The
# more promising half gets lengths by least squares before they are compared: the lengths that
# neighbor joining gives say less about a topology.
_GRAPH_STARTS = 20
_PROMISING = 10
# points that are worth a second round of moves and lengths in the tree of the sample
_MANY = 10_000
_ROUGHLY = 1e-6  # residual of lengths by which topologies are compared
_LARGEST = 1e60  # distance that is weighted by its powers
# Points outside the sample by whose distances the weighting is chosen.
_TRIED = 128
_READ = 16  # of them at once
CHECKED_ROWS = 64  # by which a tree of all points is compared with the data
_BLOCK = 256  # rows and columns of a table that are looked at together
# Rows to which the lengths of all edges are fitted: as many as this number of pairs allows,
# within bounds; and the number of points up to which that pays.
_WEIGHED_PAIRS = 25_600_000
_FEWEST_ROWS = 256
_MOST_ROWS = 1024
_WEIGHED = 200_000
# Up to here the neighborhoods of a graph count in that.
_NEIGHBORHOODS = 10_000


def auto(
    metric: Metric,
    *,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Learn a good tree of any number of points. The default of `fit`.

    Exact on tree metrics. Otherwise it is a tree by `backbone`, in which all points are up to
    2,000 points, or 5,000 vertices of a graph.

    Parameters
    ----------
    balance, time_limit
        See `backbone`.

    Notes
    -----
    O(n) time for each point of the backbone, O(n) memory and the table of the backbone.
    Neighbors are joined as by Evans, Sheneman and Foster (2006), and points and subtrees moved
    as by Bryant and Waddell (1998).
    """
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
    """Learn a tree of many points around the refined tree of some of them.

    Distances between points come from the refined tree: every other point is placed where its
    distances to the sample have the least squared error, over all edges. Points that land at
    the same node or edge and are close to each other then share a branch, which settles
    neighborhoods. Exact on tree metrics: if the tree of the sample is exact, TreeRep learns the
    tree of all points, and is checked against the data.

    Parameters
    ----------
    size : int, optional
        Number m of points in the sample, at least 3; all points if there are no more. By
        default 2,000; a quarter of the points, but at most 4,000, if distances were given as
        such; and all of a graph of up to 5,000 vertices.
    balance : float from 0 to 1, optional
        How much near distances count: squared errors are weighted by 1 / d^(4 balance). 0 is
        best for long distances, 1 for neighbors and groups. By default 0 for graphs, 1 for
        distances that were given as such, and for points 3/4 in a whole tree and 1/4 in a
        sample.
    time_limit : float, optional
        Seconds for moves in the tree of the sample, and as many for its lengths and for the
        lengths at the end. Without it, the seed alone decides the result.

    Notes
    -----
    O(n m) time and n m distances, beside the tree of m points; O(n + m^2) memory. For a graph
    of up to 2,000 vertices, the best of 20 trees by joining neighbors is kept, and its lengths
    are fitted to all distances.

    Up to 200,000 points, the lengths of all edges are fitted to 256 to 1,024 rows of distances
    at the end; for graphs of up to 10,000 vertices neighborhoods count as well. If `balance` is
    not given, points are placed with the best of three powers, by which some points outside the
    sample get the best distances to each other, or with 1 / d^4 if distances were given as
    such: far pairs of species say little about the order of their branches.

    Placement by least squares over all edges is the move of `refine` (Fitch and Margoliash
    1967, Bryant and Waddell 1998); branches are Gromov's tree of each zone (Gromov 1987).
    """
    check_arguments(True, 0.0 if balance is None else balance, time_limit)
    choice = weighting(kind_of(metric), balance)
    return backbone_tree(
        _Here(metric, n_jobs), choice, rng=rng, n_jobs=n_jobs, size=size, time_limit=time_limit
    )


class Engine(Protocol):
    """Reads distances, places points and joins them: threads of this process, a cluster or a device."""

    @property
    def space(self) -> Any:
        """What is known of the points: their number, labels and precision, as of a `Metric`."""

    def table(self, points: Indices) -> Numbers:
        """Return the distances among some points."""

    def places(
        self, tree: Tree, sample: Indices, points: Indices, powers: tuple[float, ...]
    ) -> list[Places]:
        """Return the best places of a few points in the tree of the sample, for each power of the weights."""

    def whole(self, rng: np.random.Generator) -> Tree | None:
        """Return the tree that TreeRep learns of all points, if it is exact."""

    def grown(self, tree: Tree, sample: Indices, power: float, short: float) -> Tree:
        """Place all other points around the tree of the sample, and join those that are close to each other."""

    def weighed(
        self, tree: Tree, choice: Weighting, rng: np.random.Generator, time_limit: float | None
    ) -> Tree:
        """Return the tree with lengths of least distortion on some rows of distances."""


def backbone_tree(
    engine: Engine,
    choice: Weighting,
    *,
    rng: np.random.Generator,
    n_jobs: int | None,
    size: int | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Learn a backbone tree with an engine; see `backbone`.

    The tree of the sample is learned by threads here.
    """
    n = len(engine.space)
    m = _sample_size(engine.space, size, choice)
    sample, table = _sampled(
        engine, np.arange(n) if n <= m else np.sort(Priorities(n, rng).points_at(np.arange(m)))
    )
    kept = n <= m and choice.keep and is_graph(engine.space)
    starts = _joined(
        table, _GRAPH_STARTS if kept else _STARTS if n > m else _WHOLE_STARTS, rng, n_jobs
    )
    joined, error = _best_topology(starts, table, n_jobs) if kept else starts[0]
    if error <= rounding(table):
        whole = engine.whole(rng)
        if whole is not None:
            return whole
    all_of = engine.space if n == len(sample) else None
    tree = joined
    for _ in range(2 if n > _MANY else 1):
        tree = small_tree(
            tree, table, choice, all_of=all_of, rng=rng, time_limit=time_limit, n_jobs=n_jobs
        )
    if n == len(sample):
        return finished_tree(engine.space, tree.edges, tree.weights)
    largest = float(table.distances.max())
    short = rounding_of(engine.space, largest)
    # The fourth power of anything larger would overflow, and 0 has none.
    powers = choice.places if 1 / _LARGEST < largest < _LARGEST else (0.0,)
    power = _best_power(engine, tree, sample, powers)
    grown = engine.grown(tree, sample, power, short)
    return grown if n > _WEIGHED else engine.weighed(grown, choice, rng, time_limit)


def _joined(
    table: MatrixMetric, starts: int, rng: np.random.Generator, n_jobs: int | None
) -> list[tuple[Tree, float]]:
    """Return some trees by relaxed neighbor joining with their average distortion, best first; one if it is exact."""

    def joined(generator: np.random.Generator, jobs: int | None = 1) -> tuple[Tree, float]:
        tree = relaxed_neighbor_joining(table, rng=generator)
        return tree, float(average_distortion(tree, table, n_jobs=jobs))

    first = joined(rng, n_jobs)
    if first[1] <= rounding(table) or len(table) > SIZE:
        return [first]
    return sorted([first, *run(joined, rng.spawn(starts - 1), n_jobs)], key=_error)


def _best_topology(
    starts: list[tuple[Tree, float]], table: MatrixMetric, n_jobs: int | None
) -> tuple[Tree, float]:
    """Return the tree that has the least average distortion with lengths by least squares, and its distortion as is."""

    def fitted(start: tuple[Tree, float]) -> float:
        tree = fit_weights(start[0], table, objective="l2", tol=_ROUGHLY, n_jobs=1).tree
        return float(average_distortion(tree, table, n_jobs=1))

    promising = starts[:_PROMISING]
    if len(promising) == 1:
        return promising[0]
    errors = list(run(fitted, promising, n_jobs))
    return promising[int(np.argmin(errors))]


def _error(start: tuple[Tree, float]) -> float:
    return start[1]


def _sample_size(space: Any, size: int | None, choice: Weighting) -> int:
    """Return how many points are in the sample, or say what is wrong with the number asked for."""
    n = len(space)
    if size is None and is_graph(space):
        return GRAPH_SIZE if n <= GRAPH_SIZE else SIZE
    if size is None:
        return min(max(SIZE, n // 4), 2 * SIZE) if choice.near else SIZE
    m = positive_number(size, "size")
    if m < _LEAST:
        raise ValueError(
            f"size is the number of points in the backbone, at least {_LEAST}, not {size!r}"
        )
    return m


class _Here:
    """The threads of this process."""

    def __init__(self, metric: Metric, n_jobs: int | None) -> None:
        self.space = metric
        self.n_jobs = n_jobs

    def table(self, points: Indices) -> Numbers:
        table = np.empty((len(points), len(points)))
        # Distances of points are the same both ways, and those of many coordinates take long.
        half = isinstance(self.space, PointMetric)

        def read(rows: slice) -> None:
            start = rows.start if half else 0
            table[rows, start:] = checked_block(self.space, points[rows], points[start:])
            if half:
                table[rows.stop :, rows] = table[rows, rows.stop :].T

        for _ in run(read, row_slices(len(points), len(points)), self.n_jobs):
            pass
        return table

    def places(
        self, tree: Tree, sample: Indices, points: Indices, powers: tuple[float, ...]
    ) -> list[Places]:
        parts = [points[start : start + _READ] for start in range(0, len(points), _READ)]
        read = run(lambda part: checked_block(self.space, part, sample), parts, self.n_jobs)
        distances = read_only(np.concatenate(list(read)))
        found = []
        for power in powers:
            known, scale = rooted_backbone(tree, power)
            places = Places(
                np.empty(len(points), np.int64), np.empty(len(points)), np.empty(len(points))
            )
            place_rows(known, scale, distances, places)
            found.append(places)
        return found

    def whole(self, rng: np.random.Generator) -> Tree | None:
        tree = treerep(self.space, rng=rng, n_jobs=self.n_jobs)
        return tree if is_exact(tree, self.space, self.n_jobs) else None

    def grown(self, tree: Tree, sample: Indices, power: float, short: float) -> Tree:
        rest = other_points(len(self.space), sample)
        with Workers(self.n_jobs) as workers:
            places = best_places(tree, self.space, sample, rest, power, workers)
            edges, weights = grow(tree, self.space, sample, rest, places, short, workers)
        del places, rest  # the memory is used again
        return finished_tree(self.space, edges, weights)

    def weighed(
        self, tree: Tree, choice: Weighting, rng: np.random.Generator, time_limit: float | None
    ) -> Tree:
        return weighed(tree, self.space, choice, rng, time_limit, self.n_jobs)


def other_points(n: int, sample: Indices) -> Indices:
    """Return the points that are not in the sample."""
    return np.delete(np.arange(n), sample)


def is_exact(tree: Tree, metric: Metric, n_jobs: int | None) -> bool:
    """Whether a tree of all points has the distances of the metric, up to rounding, on some rows."""
    error = average_distortion(
        tree, metric, rows=min(len(metric), CHECKED_ROWS), rng=0, n_jobs=n_jobs
    )
    return bool(error <= rounding(metric))


def weighed(
    tree: Tree,
    metric: Metric,
    choice: Weighting,
    rng: np.random.Generator,
    time_limit: float | None,
    n_jobs: int | None,
) -> Tree:
    """Return the tree with lengths of least distortion on some rows of distances."""
    n = len(metric)
    share = choice.share if n <= _NEIGHBORHOODS else 0.0
    most = _FEWEST_ROWS if share else min(_MOST_ROWS, max(_FEWEST_ROWS, _WEIGHED_PAIRS // n))
    rows: Literal["all"] | int = "all" if n <= 2 * _FEWEST_ROWS else most
    fitted = fit_weights(
        tree,
        metric,
        objective="l1",
        balance=share,
        rows=rows,
        squares_first=False,
        rng=rng,
        max_seconds=time_limit,
        n_jobs=n_jobs,
    )
    return fitted.tree.contracted(0.0)


def _sampled(engine: Engine, sample: Indices) -> tuple[Indices, MatrixMetric]:
    """Return the sample without duplicates, which are placed later, and its distances."""
    table = np.require(engine.table(sample), requirements="W")
    first = np.flatnonzero(~(np.tril(table == 0, -1)).any(axis=1))
    if _LEAST <= len(first) < len(sample):
        sample = sample[first]
        table = table[np.ix_(first, first)]
    make_symmetric(table)
    return sample, MatrixMetric(table)


def make_symmetric(table: Numbers) -> None:
    """Replace d(i, j) and d(j, i) by their mean, in place: by blocks, because columns of a large table are slow."""
    n = len(table)
    for low in range(0, n, _BLOCK):
        for left in range(0, low + 1, _BLOCK):
            block = table[low : low + _BLOCK, left : left + _BLOCK]
            mirror = table[left : left + _BLOCK, low : low + _BLOCK]
            mean = 0.5 * block + 0.5 * mirror.T
            block[:] = mean
            mirror[:] = mean.T


def rounding(metric: Any) -> float:
    """Return the distortion up to which a tree counts as exact."""
    return max(EXACT, metric.eps, metric.input_eps)


def _best_power(
    engine: Engine, tree: Tree, sample: Indices, powers: tuple[float, ...]
) -> float:
    """Return the p of the weights 1 / d^p for which the distances among points that were placed are least wrong."""
    if len(powers) == 1:
        return powers[0]
    others = len(engine.space) - len(sample)
    ranks = np.linspace(0, others - 1, min(_TRIED, others)).astype(np.int64)
    # The point of rank r among the others comes after r of them and the points of the sample in
    # between.
    tried = ranks + np.searchsorted(sample - np.arange(len(sample)), ranks, side="right")
    truth = MatrixMetric(engine.table(tried), symmetrize="mean")
    n = len(sample) + len(tried)
    m = len(sample)
    errors = []
    with Workers(1) as workers:
        for places in engine.places(tree, sample, tried, powers):
            edges, weights = attach(tree, places, None, 0.0, workers)
            grown = Tree._trusted(n, *canonical_edges(n, edges, weights))
            errors.append(float(average_distortion(grown.restrict(np.arange(m, n)), truth)))
    return min(zip(powers, errors, strict=True), key=lambda pair: pair[1])[0]
