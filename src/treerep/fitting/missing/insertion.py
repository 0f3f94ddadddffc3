"""Completion of a tree metric with missing distances, by inserting one point after another.

Let T be the tree of the points inserted so far, whose distances are all known. A new point x has
measured distances to some of these points. They determine the position p at which x leaves the
part of T that these points span, and the distance t of x from p:

    t = min over b of (d(x, a) + d(x, b) - d(a, b)) / 2  for any one measured point a

If no other branch of T begins at p, all distances from x follow: d(x, s) = t + d(p, s). Otherwise
x may lie on one of these branches, because no distance from x to them was measured. Such points
wait until no other point can be inserted. Then one of them is placed halfway along the branch,
and later points may show that this choice was wrong. In that case it is made again.

No choice is exact in general: the measured pairs do not determine the tree. For example, let x and
y be siblings whose distance is missing. Their common edge then has any length. Finding some tree
for given pairs is NP-hard (Farach, Kannan and Warnow, Algorithmica 13, 1995). A few dozen orders
of insertion suffice for random patterns of missing pairs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.progress import progress_bar

# Share of the branch, or of the distance to it, that a point of unknown position moves along it.
_HALFWAY = 0.5
# Number of orders of insertion to try, by the largest number of points. Few points with few
# distances need more orders, and their orders are fast.
_TRIES = ((20, 100), (60, 20), (1 << 30, 3))
# How often placed points may be taken out again, per point and order.
_REMOVALS = 4
# Number of quadruples on which the four-point condition is tested first.
_QUADRUPLES = 20_000

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]


class _Place(NamedTuple):
    """A position for a new point in the tree of the points inserted so far."""

    row: Matrix  # distances to the points inserted so far
    free: int  # number of points on branches to which no distance was measured
    error: float  # largest error of a measured distance


class _NoTreeError(Exception):
    """The measured distances are not those of any tree."""


def complete_tree_metric(distances: Matrix, tol: float) -> Matrix | None:
    """Return the distances of a tree with all measured distances, or None if none is found.

    Parameters
    ----------
    distances : (n, n) float64
        Distances with NaN for missing pairs. The measured pairs connect all points.
    tol : float
        Distances that differ by less are equal.

    Notes
    -----
    O(n^2) time if most points can be inserted at once.

    >>> nan = np.nan
    >>> square = np.array([[0, 2, 3, 4.0], [2, 0, nan, 4], [3, nan, 0, 3], [4, 4, 3, 0]])
    >>> complete_tree_metric(square, 1e-12)[1, 2]
    np.float64(3.0)
    """
    if not _may_be_tree(distances, tol):
        return None
    n = len(distances)
    tries = next(count for most, count in _TRIES if n <= most)
    for seed in range(tries):
        generator = np.random.default_rng(seed) if seed else None
        try:
            found = _Insertion(distances, tol, generator).run()
        except _NoTreeError:
            return None
        if found is not None:
            return found
    return None


def _may_be_tree(distances: Matrix, tol: float) -> bool:
    """Test the four-point condition: the two largest of three sums are equal."""
    n = len(distances)
    i, j, k, m = np.random.default_rng(0).integers(n, size=(4, _QUADRUPLES))
    sums = np.stack(
        [
            distances[i, j] + distances[k, m],
            distances[i, k] + distances[j, m],
            distances[i, m] + distances[j, k],
        ]
    )
    sums.sort(axis=0)
    gap = sums[2] - sums[1]
    return not np.nanmax(gap, initial=0.0) > 4 * tol


class _Insertion:
    """One order of insertion. Without a generator, the order is deterministic."""

    def __init__(self, distances: Matrix, tol: float, generator: np.random.Generator | None) -> None:
        n = len(distances)
        self.distances = distances
        self.tol = tol
        self.generator = generator
        self.measured = ~np.isnan(distances)
        np.fill_diagonal(self.measured, False)
        self.known = np.zeros((n, n))
        self.inside = np.zeros(n, bool)
        #: Points whose position is a choice, and points that were inserted after a choice.
        self.uncertain = np.zeros(n, bool)
        self.removals = _REMOVALS * n
        self.bounds: dict[int, Matrix] = {}

    def run(self) -> Matrix | None:
        """Insert all points; return all distances, or None if choices contradict each other."""
        self._insert_first_two()
        with progress_bar(len(self.known), "missing: insert", "points") as bar:
            while not self.inside.all():
                before = int(self.inside.sum())
                waiting = self._insert_certain()
                if waiting is not None:
                    x, place = waiting
                    self._insert(x, place.row, uncertain=True)
                if self.removals < 0:
                    return None
                bar.update(int(self.inside.sum()) - before)
        return self.known

    def _insert_first_two(self) -> None:
        """Insert two points that share many measured points."""
        first = int(np.argmax(self.measured.sum(axis=1)))
        if self.generator is not None:
            first = int(self.generator.integers(len(self.known)))
        others = np.flatnonzero(self.measured[first])
        shared = (self.measured[first] & self.measured[others]).sum(axis=1)
        second = int(others[np.argmax(shared)])
        if self.generator is not None:
            second = int(self.generator.choice(others))
        self.inside[first] = True
        self._insert(second, self.distances[second, [first]], uncertain=False)

    def _insert(self, x: int, row: Matrix, *, uncertain: bool) -> None:
        points = np.flatnonzero(self.inside)
        self.known[x, points] = row
        self.known[points, x] = row
        self.inside[x] = True
        self.uncertain[x] = uncertain

    def _insert_certain(self) -> tuple[int, _Place] | None:
        """Insert all points with a unique position.

        If there are none, return the point with the fewest points on free branches.
        """
        best: tuple[float, int, _Place] | None = None
        progress = False
        for x in self._waiting():
            place = self._place(x)
            if place.error > self.tol:
                self._correct(x)
                return None
            if place.free == 0:
                self._insert(x, place.row, uncertain=bool(self.uncertain.any()))
                progress = True
                continue
            rank = float(place.free)
            if self.generator is not None:
                rank += self.generator.integers(3)
            if best is None or rank < best[0]:
                best = rank, x, place
        if progress or best is None:
            return None
        return best[1:]

    def _waiting(self) -> list[int]:
        """Return the points outside that have a measured point inside, most measured first."""
        outside = np.flatnonzero(~self.inside)
        count = self.measured[np.ix_(outside, self.inside)].sum(axis=1)
        order = np.argsort(-count, kind="stable")
        if self.generator is not None:
            order = self.generator.permutation(len(outside))
        return [int(x) for x in outside[order[count[order] > 0]]]

    def _correct(self, x: int) -> None:
        """Take out the uncertain points to which x has a measured distance, and insert x."""
        wrong = self.measured[x] & self.inside & self.uncertain
        if not wrong.any():
            raise _NoTreeError
        if self.generator is not None:
            # Other orders take out some of these points only.
            kept = self.generator.choice(np.flatnonzero(wrong), int(wrong.sum()) // 2, replace=False)
            wrong[kept] = False
        self.removals -= int(wrong.sum())
        self.inside &= ~wrong
        self.uncertain &= ~wrong
        if not (self.measured[x] & self.inside).any():
            return
        place = self._place(x)
        if place.error <= self.tol:
            uncertain = place.free > 0 or bool(self.uncertain.any())
            self._insert(x, place.row, uncertain=uncertain)

    def _place(self, x: int) -> _Place:
        """Find the position of a point with at least one measured point inside."""
        points = np.flatnonzero(self.inside)
        seen = self.measured[x, points]
        ends = points[seen]
        a = int(ends[np.argmin(self.distances[x, ends])])
        to_a = float(self.distances[x, a])
        from_a = self.known[a, points]
        if len(ends) == 1:
            return self._with_choice(x, points, to_a, from_a, from_a > self.tol)
        # The distance of x from the path between a and b.
        others = ends[ends != a]
        heights = (to_a + self.distances[x, others] - self.known[a, others]) / 2
        b = int(others[np.argmin(heights)])
        height = float(heights.min())
        at = to_a - height
        length = float(self.known[a, b])
        if min(height, at, length - at) < -self.tol:
            return _Place(from_a, 0, np.inf)
        height = max(height, 0.0)
        at = min(max(at, 0.0), length)
        # Every point s leaves the path at foot[s], at distance side[s] from the path.
        side = (from_a + self.known[b, points] - length) / 2
        foot = from_a - side
        away = side + np.abs(foot - at)
        found = height + away[seen]
        error = float(np.abs(found - self.distances[x, ends]).max())
        hanging = (np.abs(foot - at) <= self.tol) & (side > self.tol)
        if height <= self.tol or error > self.tol or not hanging.any():
            return _Place(height + away, 0, error)
        free = self._free(points, away, hanging, seen)
        return self._with_choice(x, points, height, away, free)

    def _free(
        self,
        points: Indices,
        away: Matrix,
        hanging: NDArray[np.bool_],
        seen: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return the points on branches at p that contain no measured point."""
        met = np.flatnonzero(hanging & seen)
        free = hanging.copy()
        free[met] = False
        rest = np.flatnonzero(free)
        # Two points are on the same branch if their paths from p begin together.
        between = self.known[np.ix_(points[met], points[rest])]
        together = (away[met][:, None] + away[rest] - between) / 2
        free[rest] = ~(together > self.tol).any(axis=0)
        return free

    def _with_choice(
        self, x: int, points: Indices, height: float, away: Matrix, free: NDArray[np.bool_]
    ) -> _Place:
        """Place x at height above p, or on one of the free branches at p if there are any."""
        count = int(free.sum())
        if count == 0:
            return _Place(height + away, 0, 0.0)
        # Paths through other points bound the distance: it is too large if x stays at p.
        excess = np.where(free, height + away - self._bounds(x)[points], -np.inf)
        s = int(np.argmax(excess))
        too_far = float(excess[s]) > self.tol
        if not too_far:
            choices = np.flatnonzero(free)
            s = int(choices[0])
            if self.generator is not None:
                s = int(self.generator.choice(choices))
        # Length that the paths from p to s and to every other point have in common.
        together = (away + away[s] - self.known[points[s], points]) / 2
        if too_far:
            depth = float(excess[s]) / 2
        elif self.generator is None:
            stem = float(together[together > self.tol].min())
            depth = _HALFWAY * min(stem, height)
        else:
            depth = min(float(away[s]), height) * self.generator.choice([0.0, 0.5, self.generator.random()])
        depth = min(depth, height)
        row = height - depth + (away - together) + np.abs(together - depth)
        return _Place(row, count, 0.0)

    def _bounds(self, x: int) -> Matrix:
        """Return the lengths of the shortest paths from x along measured pairs."""
        found = self.bounds.get(x)
        if found is None:
            from scipy.sparse import csr_array
            from scipy.sparse.csgraph import dijkstra

            rows, columns = np.nonzero(self.measured)
            shape = self.measured.shape
            graph = csr_array((self.distances[rows, columns], (rows, columns)), shape=shape)
            found = dijkstra(graph, indices=x)
            self.bounds[x] = found
        return found
