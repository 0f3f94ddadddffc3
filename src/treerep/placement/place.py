"""`place`: attach new points to an existing tree."""

from collections.abc import Sequence

import numpy as np

from .._core.checks import check_flag, positive_number, tolerance_or_none
from .._core.parallel import Workers
from .._core.typing import MetricLike
from ..metric.base import check_labels
from ..metric.oracle.blocks import write_block
from ..tree.structure.canonical import canonical_edges
from ..tree.tree import Tree
from ._attach import attach
from ._lengths import Lengths, read_in_units
from ._locate import Places, Tolerances
from ._new_distances import NewDistances, read_distances, tolerances_of
from ._new_points import matched_rows
from .candidates.search import NEAREST, POWER, Weighting, best_places, find_candidates

# Number of points that determine a place on an edge, and whether there is a branch.
_FEWEST = 3
_LARGEST_POWER = 8


def place(
    tree: Tree,
    rows: MetricLike,
    *,
    data: MetricLike = None,
    metric: str | None = None,
    labels: Sequence[object] | None = None,
    lengths: Lengths | None = None,
    nearest: int | None = NEAREST,
    power: float = POWER,
    missing: bool = False,
    tol: float | str = "auto",
    n_jobs: int | None = None,
) -> Tree:
    """Add new points to a tree.

    Parameters
    ----------
    tree : Tree
        A tree of n points.
    rows : (m, n) or (m, n + m) array, (m, k) coordinates, or labels
        Distances from m new points to the n points of the tree, optionally followed by the
        distances among the new points. With `data`, coordinates of the new points. The columns
        of an array are in the order of the tree. A DataFrame of distances has the labels of the
        tree as columns, in any order, and the labels of the new points as index.
    data : points or Metric, optional
        The (n, k) points of the tree, with `metric`, or their `PointMetric`. Distances are then
        computed only when they are needed. Points with labels are matched to the tree by label.
        Alternatively, a metric on the old and the new points, for example sequences; `rows` then
        lists the labels (or the indices) of the new points. Or the (n, n) distances between the
        points of the tree; `rows` then has the distances of the new points.
    metric : str, optional
        The metric between the points of `data`, as in `fit`.
    labels : sequence, optional
        Labels of the new points. The default is the index of `rows`. If `rows` has no index and
        the tree has labels, the new points get the labels n, n+1, ...
    lengths : {"refit", "scale", "given"}, optional
        How the edge lengths of the tree are adapted to the distances. Places in a tree whose
        lengths are in other units are wrong.

        - "refit": fit all lengths to the distances between the points of the tree (squared
          relative errors). This is the default if `data` is given, and needs `data`. The lengths of
          an exact tree do not change.
        - "scale": multiply all lengths by one factor. This is the default without `data`. Factors
          between 1/1.25 and 1.25 count as 1. By default, a warning tells the factor if it is not 1.
        - "given": use the lengths as they are. A warning tells if they do not fit the distances.
    nearest : int or None
        Number of nearest points that choose the edge. A few points near that edge are added. None
        uses all distances.
    power : float
        Squared errors are divided by distance**power. 2 is the criterion of Fitch and Margoliash.
    missing : bool
        Whether NaN in `rows` means a missing distance.
    tol : float or "auto"
        Lengths below this value count as zero. "auto" is 0.1 if the distances are whole numbers and
        the lengths of the tree are multiples of 1/4. Otherwise, "auto" is the size of rounding
        errors.
    n_jobs : int, optional
        Number of threads; None uses all cores. The number does not change the result.

    Returns
    -------
    Tree
        Nodes 0 ... n-1 are the points of `tree`. Nodes n ... n+m-1 are the new points. Without the
        new points, the result has the topology of `tree`, with the lengths chosen by `lengths`:
        all lengths are in the units of the distances.

    See Also
    --------
    placements : Return several places for each new point, with their weights.
    fit : Fit a tree.
    refine : Improve a tree.
    Tree.restrict : Remove points from a tree.

    Notes
    -----
    If all distances come from one tree, the distances between new and old points are exact, and
    `lengths` does not change the lengths of this tree. The
    distances among new points are then also exact if `rows` contains them. In that case, new
    points at the same node or edge are joined by TreeRep. Otherwise each new point gets a
    separate edge.

    Lengths: Up to 2,000 points, "refit" reads all distances between the points of the tree, and up
    to 50,000 points 256 sampled rows. Larger trees get one factor instead: to refit their lengths,
    use `refine` first. "scale" uses the median ratio of distances to paths if `data` is given.
    Otherwise, it minimizes the errors of the best places of up to 32 new points, with distances to
    up to 1,000 points. One factor corrects the unit, but not the proportions: for a dated tree or a
    tree of another model, pass `data`.

    Labels that do not match raise an error. An array raises an error if the tree was read from
    a text file, because the order of its points is unknown.

    Least squares: The nearest points choose the edge, because small distances have small errors.
    The place on the edge is then fitted to all distances. Rows of distances take O(n) time per
    point. With `data`, about 12 log2(n) + 200 distances are computed per point.

    On an exact tree, about 3 log2(n) distances per point are needed, plus one distance for each
    neighbor of a node with many neighbors.

    References
    ----------
    M. Balaban, S. Sarmashghi and S. Mirarab, "APPLES: scalable distance-based phylogenetic
    placement with or without alignments", Systematic Biology 69 (2020), 566-578.

    Examples
    --------
    Place a point in the middle between two others, and a second point beside it:

    >>> line = Tree(2, [[0, 1]], [4.0])
    >>> place(line, [[2, 2], [3, 3]]).newick(2)
    '(0:2.0,1:2.0,2:0.0,3:1.0);'
    """
    require_tree(tree)
    weighting = check_weighting(nearest, power, missing)
    given = matched_rows(tree, rows, data, metric)
    m = given.m
    all_labels = joined_labels(tree, given.names if labels is None else labels, m)
    if not m:
        return tree
    short = tolerance_or_none(tol)
    tree, new = read_in_units(tree, given, lengths, missing=missing, n_jobs=n_jobs)
    tolerances = tolerances_of(tree, new, short)
    with Workers(n_jobs) as workers:
        places = _find(tree, new, m, tolerances, weighting, workers)
        edges, weights = attach(tree, places, new.mutual, tolerances.tol, workers)
    grown = canonical_edges(len(tree) + m, edges, weights)
    return Tree._trusted(len(tree) + m, *grown, all_labels, None, tree.order_known)


def find_places(
    tree: Tree,
    rows: MetricLike,
    *,
    data: MetricLike = None,
    tol: float | str = "auto",
    n_jobs: int | None = None,
) -> Places:
    """Return the place of each new point in a tree with fitting lengths, without attaching it.

    The parameters are those of `place`, with `lengths="given"` and no warning.
    """
    given = matched_rows(tree, rows, data, None)
    new = read_distances(tree, given, missing=False, mutual=False)
    tolerances = tolerances_of(tree, new, tolerance_or_none(tol))
    with Workers(n_jobs) as workers:
        return _find(tree, new, given.m, tolerances, Weighting(), workers)


def require_tree(tree: object) -> None:
    """Raise a TypeError unless a tree is given."""
    if not isinstance(tree, Tree):
        raise TypeError(
            f"expected a Tree to place new points in, not {type(tree).__name__}: fit a tree first"
        )


def check_weighting(nearest: int | None, power: float, missing: bool) -> Weighting:
    """Validate the options of the choice of an edge."""
    check_flag("missing", missing)
    weighting = Weighting(None if nearest is None else positive_number(nearest, "nearest"), float(power))
    if weighting.nearest is not None and weighting.nearest < _FEWEST:
        raise ValueError(f"nearest must be at least {_FEWEST}, not {nearest}")
    if not 0 <= weighting.power <= _LARGEST_POWER:
        raise ValueError(f"power must be between 0 and {_LARGEST_POWER}, not {power!r}")
    return weighting


def _find(
    tree: Tree,
    new: NewDistances,
    m: int,
    tolerances: Tolerances,
    weighting: Weighting,
    workers: Workers,
) -> Places:
    if len(tree.edges):
        found = find_candidates(tree, new, m, tolerances, weighting, 1, workers)
        return best_places(tree, found, tolerances.tol)
    # A tree of one point has no edges, and the only place is that point.
    height = np.empty((m, 1))
    write_block(new.oracle, new.shift + np.arange(m), np.zeros(1, np.int64), height)
    return Places(np.zeros(m, np.int64), np.zeros(m), height[:, 0])


def joined_labels(tree: Tree, labels: Sequence[object] | None, m: int) -> tuple[str, ...] | None:
    """Return the labels of old and new points, or numbers if there are no labels, as in Newick."""
    if tree.labels is None and labels is None:
        return None
    n = len(tree)
    if labels is not None and len(labels) != m:
        raise ValueError(f"{len(labels)} labels were given for {m} new points: give one label per point")
    old = range(n) if tree.labels is None else tree.labels
    new = range(n, n + m) if labels is None else labels
    return check_labels([*old, *new], n + m)
