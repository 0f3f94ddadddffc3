"""`placements`: several places of each new point in a tree, with their weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._core.checks import positive_number, tolerance_or_none
from .._core.parallel import Workers
from .._core.typing import MetricLike
from ..metric.base import check_labels, read_only
from ..tree.structure.canonical import canonical_edges
from ..tree.tree import Tree
from ._attach import attach
from ._lengths import Lengths, read_in_units
from ._locate import Indices, Numbers
from ._new_distances import tolerances_of
from ._new_points import matched_rows
from .candidates.search import NEAREST, POWER, Candidates, find_candidates, snapped
from .place import check_weighting, joined_labels, require_tree

#: Number of places that are returned for each point.
PLACES = 7
# Errors below this fraction of the squared distances are rounding errors.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False, repr=False)
class Placements:
    """The most likely places of new points in a tree, from `placements`.

    Row i of each (m, k) array belongs to new point i, with the best place first. The arrays are
    read-only. If a point has fewer than k places, its row ends with -1 in `nodes` and with weight
    0.

    Attributes
    ----------
    tree : Tree
        The tree without the new points. It has the topology, labels and root of the tree that was
        passed to `placements`, with the lengths chosen by `lengths`. All lengths are in the units
        of the distances.
    labels : tuple of str, or None
        Labels of the new points.
    nodes : (m, k) array of int
        The edge of each place, given by its lower end: the end away from the root of the tree, or
        away from point 0 if the tree has no root.
    distal : (m, k) array
        Distance along the edge from its lower end to the place.
    pendant : (m, k) array
        Distance from the place to the new point.
    errors : (m, k) array
        Sum of the weighted squared errors of the distances that choose the edge. NaN if unknown.
    log_likelihoods : (m, k) array
        Logarithm of the likelihood, up to a constant for each point.
    weights : (m, k) array
        Likelihood of the place divided by the sum of the likelihoods of the k places.
    multiplicities : (m,) array, or None
        How often each new point was observed, such as the number of identical reads, from the `nm`
        of a jplace file. None if the file has none. They do not change the other results.

    See Also
    --------
    placements : Find places.
    place : Add points to a tree at their best places.
    formats.write_placements : Write a jplace file.
    formats.read_placements : Read a jplace file.
    """

    tree: Tree
    labels: tuple[str, ...] | None
    nodes: Indices
    distal: Numbers
    pendant: Numbers
    errors: Numbers
    log_likelihoods: Numbers
    weights: Numbers
    tol: float = 0.0  # shorter parts of edges count as zero in `attached`
    multiplicities: Numbers | None = None

    def __post_init__(self) -> None:
        for name in (*_ARRAYS, "multiplicities"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        points = f"{len(self):,} point{'s' * (len(self) != 1)}"
        k = self.nodes.shape[1]
        return f"Placements({points} in {self.tree!r}, up to {k} place{'s' * (k != 1)} each)"

    @property
    def proximal(self) -> Numbers:
        """Distance along the edge from the place to the upper end, (m, k)."""
        length = self.tree.rooted(self._root()).length
        return np.where(self.nodes < 0, 0.0, length[self.nodes] - self.distal)

    @property
    def best(self) -> "Placements":
        """The best place of each point. Its weight does not change."""
        return replace(self, **{name: getattr(self, name)[:, :1] for name in _ARRAYS})

    @property
    def uncertainty(self) -> Numbers:
        """Expected distance between placement locations (EDPL) of each point, an (m,) array.

        This is the sum of w_i w_j d(i, j) over pairs of places, with distances along the tree. It
        is 0 if there is only one place. A small value means that the candidates are close together.
        """
        places = np.where(self.nodes < 0, self.nodes[:, :1], self.nodes)
        rooted = self.tree.rooted(self._root())
        upper = rooted.parent[places]
        rest = rooted.length[places] - self.distal
        total = np.zeros(len(self))
        for i in range(places.shape[1]):
            for j in range(i):
                apart = np.full(len(self), np.inf)
                for first, to_first in ((places, self.distal), (upper, rest)):
                    for second, to_second in ((places, self.distal), (upper, rest)):
                        between = self.tree.pairs(first[:, i], second[:, j])
                        apart = np.minimum(apart, between + to_first[:, i] + to_second[:, j])
                same = places[:, i] == places[:, j]
                along = np.abs(self.distal[:, i] - self.distal[:, j])
                apart = np.where(same, along, apart)
                total += 2 * self.weights[:, i] * self.weights[:, j] * apart
        return total

    def attached(self) -> Tree:
        """Return the tree with each new point attached at its best place.

        Nodes 0 ... n-1 are the points of the tree, and nodes n ... n+m-1 are the new points. Their
        labels must all be different. Each new point is one leaf, whatever its multiplicity is.
        """
        n = len(self.tree) + len(self)
        labels = joined_labels(self.tree, self.labels, len(self))
        if not len(self):
            return self.tree
        node, above = _turned(self.tree, self._root(), None, self.nodes, self.distal)
        first = node[:, 0]
        on_edge = above[:, 0]
        away = self.pendant[:, 0]
        places = snapped(self.tree, first, on_edge, away, self.tol)
        with Workers(1) as workers:
            edges, weights = attach(self.tree, places, None, self.tol, workers)
        grown = canonical_edges(n, edges, weights)
        return Tree._trusted(n, *grown, labels, None, self.tree.order_known)

    def _root(self) -> int:
        return 0 if self.tree.root is None else self.tree.root


_ARRAYS = ("nodes", "distal", "pendant", "errors", "log_likelihoods", "weights")


def placements(
    tree: Tree,
    rows: MetricLike,
    *,
    data: MetricLike = None,
    metric: str | None = None,
    labels: Sequence[object] | None = None,
    lengths: Lengths | None = None,
    candidates: int = PLACES,
    nearest: int | None = NEAREST,
    power: float = POWER,
    missing: bool = False,
    tol: float | str = "auto",
    n_jobs: int | None = None,
) -> Placements:
    """Find the most likely places of new points in a tree, by least squares.

    Parameters
    ----------
    tree : Tree
        A tree of n points.
    rows : (m, n) array, (m, k) coordinates, or labels
        The new points, as in `place`. Distances among the new points are not used.
    data, metric, labels, lengths
        As in `place`.
    candidates : int
        Largest number of places for each point.
    nearest : int or None
        Number of nearest points that choose the edge. A few points near that edge are added.
        None uses all distances.
    power : float
        Squared errors are divided by distance**power. 2 is the criterion of Fitch and Margoliash.
    missing : bool
        Whether NaN in `rows` means a missing distance.
    tol : float or "auto"
        Lengths below this value count as zero, as in `place`.
    n_jobs : int, optional
        Number of threads; None uses all cores. The number does not change the result.

    Returns
    -------
    Placements
        Places, errors, likelihood weights and uncertainty.

    See Also
    --------
    place : Add the points to the tree.
    formats.write_placements : Write a jplace file.

    Notes
    -----
    The error e of an edge is the least sum of (d(q, i) - path(q, i))^2 / d(q, i)^power over the
    points i that choose the edge. `distal` and `pendant` are then fitted to all distances that are
    read. The weight of a place is proportional to exp(-(e - e_1) / (2 s^2)). Here e_1 is the error
    of the best edge, and s^2 = e_1 / (c - 2) estimates the variance from c points. In simulated
    phylogenies with the default `nearest`, 94% of the edges with weights above 0.9 are right, but
    weights from 0.5 to 0.9 are too large. If all distances are used, all weights are too
    confident, because the errors of distances are correlated.

    Time and memory are those of `place`, plus O(m k) for k places.

    References
    ----------
    M. Balaban, S. Sarmashghi and S. Mirarab, "APPLES: scalable distance-based phylogenetic
    placement with or without alignments", Systematic Biology 69 (2020), 566-578.

    F. A. Matsen, N. G. Hoffman, A. Gallagher and A. Stamatakis, "A format for phylogenetic
    placements", PLoS ONE 7 (2012), e31009.

    Examples
    --------
    >>> star = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels="abc")
    >>> found = placements(star, [[3.5, 4.5, 1.5]], labels=["new"])
    >>> found
    Placements(1 point in Tree(3 points, 1 Steiner node), up to 3 places each)
    >>> print(found.nodes[0, 0], found.distal[0, 0].round(6), found.pendant[0, 0].round(6))
    2 1.0 0.5
    >>> found.attached().labels
    ('a', 'b', 'c', 'new')
    """
    require_tree(tree)
    count = positive_number(candidates, "candidates")
    weighting = check_weighting(nearest, power, missing)
    if not len(tree.edges):
        raise ValueError("a tree of one point has no edges: use place")
    given = matched_rows(tree, rows, data, metric)
    names = given.names if labels is None else labels
    joined_labels(tree, names, given.m)  # refuses labels that occur twice
    chosen = check_labels(names, given.m)
    if not given.m:
        none = np.empty((0, 1))
        return Placements(tree, chosen, none.astype(np.int64), none, none, none, none, none)
    short = tolerance_or_none(tol)
    tree, new = read_in_units(tree, given, lengths, missing=missing, mutual=False, n_jobs=n_jobs)
    tolerances = tolerances_of(tree, new, short)
    with Workers(n_jobs) as workers:
        found = find_candidates(tree, new, given.m, tolerances, weighting, count, workers)
    log_likelihoods, weights = _likelihoods(found)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        errors = found.error * np.float64(tolerances.unit) ** (2 - weighting.power)
    root = 0 if tree.root is None else tree.root
    nodes, distal = _turned(tree, None, root, found.edge, found.above)
    arrays = nodes, distal, found.height, errors, log_likelihoods, weights
    return Placements(tree, chosen, *arrays, tolerances.tol)


def _likelihoods(found: Candidates) -> tuple[Numbers, Numbers]:
    """Return the logarithms of likelihoods, and the shares of the likelihoods."""
    # No points were needed for an exact place if it is the only one.
    used = np.maximum(found.used, 1)[:, None]
    least = np.maximum(found.error[:, :1], _ROUNDING * used)
    # s^2 = e_1 / (c - 2)
    variance = least / np.maximum(used - 2, 1)
    logarithms = -found.error / (2 * variance)
    ratios = np.exp(logarithms - logarithms[:, :1])
    return logarithms, ratios / ratios.sum(axis=1, keepdims=True)


def _turned(
    tree: Tree, before: int | None, after: int | None, nodes: Indices, distal: Numbers
) -> tuple[Indices, Numbers]:
    """Return edges of a tree with another root: their lower ends, and distances from them."""
    old = tree.rooted(before)
    new = tree.rooted(after)
    parent = old.parent[nodes].astype(np.int64)
    same = (nodes < 0) | (new.parent[nodes] == parent)
    lower = np.where(same, nodes, parent)
    return lower, np.where(same, distal, np.maximum(old.length[nodes] - distal, 0.0))
