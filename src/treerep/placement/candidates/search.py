"""Candidate places of new points, by least squares: see `_candidate_kernels`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...fitting._distances import checked_block
from ...metric.base import read_only
from ...metric.oracle.classes import MatrixOracle
from ...tree.tree import Tree
from .._locate import Indices, Numbers, Places, Tolerances
from .._new_distances import NewDistances
from .._separators import find_separators

# Number of walks per point. Each walk reads distances to different points.
_WALKS = 4
#: Number of nearest points that choose the edge.
NEAREST = 8
#: Squared errors are divided by this power of the distance, as Fitch and Margoliash do.
POWER = 2.0
# Distances below this fraction of the largest distance do not get larger weights.
_SMALLEST = 1e-4
# Number of points placed per task.
_CHUNK = 256


class Weighting(NamedTuple):
    """Which distances choose the edge, and how errors are weighted."""

    nearest: int | None = NEAREST  # None: all distances that are read
    power: float = POWER


class Candidates(NamedTuple):
    """The best places of each new point, (m, k) arrays, with increasing errors."""

    edge: Indices  # lower end of the edge, a node; -1 if there are fewer places
    above: Numbers  # distance from the lower end
    height: Numbers  # distance from the tree
    # weighted squared errors of the points that choose the edge; lengths are divided by the unit
    error: Numbers
    used: Indices  # (m,): number of these points
    exact: NDArray[np.bool_]  # (m,): whether the first place reproduces all distances read


def find_candidates(
    tree: Tree,
    new: NewDistances,
    m: int,
    tolerances: Tolerances,
    weighting: Weighting,
    k: int,
    workers: Workers,
) -> Candidates:
    """Return up to k places of each of m new points, in a tree with at least one edge.

    Memory: O(n log n + m k). The places do not depend on the number of threads.
    """
    from ._candidate_kernels import Rule
    from ._candidate_kernels import find_candidates as find_positions

    separators = find_separators(tree, _WALKS, tolerances.ties, np.random.default_rng(0))
    neighborhood = _neighborhood(tree)
    nearest = len(tree) if weighting.nearest is None else weighting.nearest
    rule = Rule(weighting.power, nearest, _SMALLEST, tolerances.unit, new.whole)
    width = min(k, len(tree.edges))
    exact = np.zeros(m, np.bool_)
    used = np.zeros(m, np.int64)
    edge = np.full((m, width), -1)
    numbers = [np.full((m, width), start) for start in (np.inf, 0.0, 0.0)]

    def find(start: int) -> int:
        workers.check()
        stop = min(start + _CHUNK, m)
        oracle, shift = _part(new, start, stop)
        facts = oracle, shift, separators, *neighborhood, tolerances, rule
        find_positions(*facts, start, stop, exact, used, edge, *numbers)
        return stop - start

    with progress_bar(m, "placing", "points") as bar:
        for done in workers.map(find, range(0, m, _CHUNK)):
            bar.update(done)
    workers.check()
    error, above, height = numbers
    node = np.where(edge < 0, -1, tree._view.order[edge]).astype(np.int64)
    # The kernel divides lengths by the unit.
    above *= tolerances.unit
    height *= tolerances.unit
    return Candidates(node, above, height, error, used, exact)


def _neighborhood(tree: Tree) -> tuple[Indices, Indices, Indices]:
    """Return the nearest points below and above each node, and the positions of all points."""
    from ._nearest_point_kernels import find_nearest_points

    view = tree._view
    below = np.empty(tree.n_nodes, np.int64)
    above = np.empty(tree.n_nodes, np.int64)
    find_nearest_points(view, len(tree), below, above)
    points = np.sort(view.position[: len(tree)]).astype(np.int64)
    return read_only(below), read_only(above), read_only(points)


def _part(new: NewDistances, start: int, stop: int) -> tuple[object, int]:
    """Return an oracle for the new points start ... stop-1, and its shift."""
    if new.oracle is not None:
        return new.oracle, new.shift
    assert new.metric is not None
    rows = checked_block(new.metric, new.shift + np.arange(start, stop), np.arange(new.shift))
    return MatrixOracle(read_only(rows)), -start


def best_places(tree: Tree, candidates: Candidates, tol: float) -> Places:
    """Return the first place of each point."""
    first = candidates.edge[:, 0], candidates.above[:, 0], candidates.height[:, 0]
    return snapped(tree, *first, tol)


def snapped(tree: Tree, node: Indices, above: Numbers, height: Numbers, tol: float) -> Places:
    """Return places on the edges above nodes. Parts of edges up to `tol` count as zero."""
    rooted = tree.rooted()
    at_node = above <= tol
    at_parent = ~at_node & (rooted.length[node] - above <= tol)
    at = np.where(at_parent, rooted.parent[node], node).astype(np.int64)
    return Places(at, np.where(at_node | at_parent, 0.0, above), height)
