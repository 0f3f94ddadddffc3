"""The exact search: pairs in order of decreasing distance, each combined with all earlier pairs.

Borassi, Coudert, Crescenzi and Marino, On computing the hyperbolicity of real-world graphs (ESA
2015). This implementation adds three things. Lists of mates are sorted by distance, which gives
a bound for mates. Distances may violate the triangle inequality. Pairs are searched in parallel
batches whose sizes depend only on the work, so results do not depend on the number of threads.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._pace import Best, Bound, LimitReached, Pace
from .._spaces import Space

_KEYS = 4096  # number of bins into which real distances are divided before they are sorted
# pairs in the first band; each later band has as many as all earlier bands ...
_FIRST_BAND = 1 << 16
_LARGEST_BAND = 1 << 22  # ... up to what is sorted in a second, so that a time limit is kept
_FIRST_BATCH = 64
_LARGEST_BATCH = 1 << 14
_PARTS = 8
_BATCH_WORK = 4e7  # steps per batch: hundredths of a second
_INLINE = 1e6  # fewer steps are not worth waking a thread
_ROWS = 256  # rows per task

# Types in which sums of three distances fit.
_WIDE: dict[str, Any] = {"u1": np.int16, "u2": np.int32, "f8": np.float64}


def search_far_apart(space: Space, slack: float, step: float, best: Best, pace: Pace) -> Bound:
    """Search all far-apart pairs; better quadruples are passed to `best`.

    After a complete search the bound is exact. The search takes O(n^2) memory and at worst O(n^4)
    time. In practice, few pairs are searched, each together with few other pairs. `slack` bounds
    the violation of the triangle inequality, and a better h is larger by at least `step`.
    """
    high = float(space.distances.max()) + slack
    if high <= best.h:
        return Bound(best.h, complete=True)
    try:
        search = _Search(space, slack, step, best)
        for pairs in _bands(space, _far_apart(space, pace), slack, best, pace):
            search.add(pairs)
            for batch in search.batches(pairs):
                high = max(best.h, search.distance(batch[0]) + slack)
                best.show(high)
                if high <= best.h:
                    return Bound(best.h, complete=True)
                search.run(batch, pace)
    except LimitReached:
        return Bound(max(high, best.h), complete=False)
    return Bound(best.h, complete=True)


class _Search:
    """The growing lists of mates, and the other arguments of the kernel."""

    def __init__(self, space: Space, slack: float, step: float, best: Best) -> None:
        d = self.distances = space.distances
        n = len(d)
        self.points = space.points
        self.best = best
        self.wide = _WIDE[d.dtype.str[1:]]
        self.slack, self.step = self.wide(slack), self.wide(step)
        self.starts = np.zeros(n + 1, np.int64)
        self.mates = np.empty(0, np.int32)
        self.ends = np.zeros(n, np.int64)
        self.top = np.full(n, np.iinfo(np.int16).min // 2 if space.whole else -np.inf, self.wide)
        self.center = 2 * d[_center(d)].astype(self.wide)
        self.size = _FIRST_BATCH
        self.work = 0

    def distance(self, pair: NDArray[np.int32]) -> float:
        return float(self.distances[pair[0], pair[1]])

    def add(self, pairs: NDArray[np.int32]) -> None:
        """Add pairs to the lists of mates. `run` reveals them to the search."""
        from ._far_apart_kernels import append_mates

        seen = self.ends - self.starts[:-1]
        self.starts, self.mates = append_mates(self.starts, self.mates, pairs)
        self.ends = self.starts[:-1] + seen

    def batches(self, pairs: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
        done = 0
        while done < len(pairs):
            batch = pairs[done : done + self.size]
            yield batch
            done += len(batch)
            fitting = int(len(batch) * _BATCH_WORK / max(self.work, 1))
            self.size = max(_PARTS, min(2 * self.size, fitting, _LARGEST_BATCH))

    def run(self, batch: NDArray[np.int32], pace: Pace) -> None:
        from ._far_apart_kernels import reveal_mates, search_pairs

        reveal_mates(self.distances, self.starts, self.mates, batch, self.ends, self.top)
        h = self.wide(self.best.h)

        def work(part: NDArray[np.int32]) -> tuple[float, NDArray[np.int64], int]:
            return search_pairs(
                self.distances,
                self.top,
                self.center,
                self.starts,
                self.ends,
                self.mates,
                part,
                h,
                self.step,
                self.slack,
            )

        length = -(-len(batch) // _PARTS)
        parts = [batch[k : k + length] for k in range(0, len(batch), length)]
        small = len(batch) * len(self.distances) < _INLINE and self.work < _INLINE
        self.work = 0
        for found, witness, steps in pace.map(work, parts, inline=small):
            if found > h:
                self.best.offer(float(found), self.points[witness])
            self.work += steps
        pace.spend(self.work)


def _center(distances: NDArray[Any]) -> int:
    """Return a point of least eccentricity. With this point as center, few points need a search."""
    reach = distances.max(axis=1)
    middle = np.flatnonzero(reach == reach.min())[:64]
    return int(middle[np.argmin(distances[middle].sum(axis=1, dtype=np.float64))])


def _far_apart(space: Space, pace: Pace) -> NDArray[Any]:
    """Return the distances of far-apart pairs (above the diagonal), and 0 for all other pairs."""
    from ._far_apart_kernels import keep_mutual, mark_far

    # without edges the test would take O(n^3), and real distances hardly ever add up
    if space.graph is None:
        return space.distances
    starts, neighbors, lengths = space.graph
    far = np.empty_like(space.distances)
    n = len(far)
    chunks = [(k, min(k + _ROWS, n)) for k in range(0, n, _ROWS)]
    pace.run(lambda rows: mark_far(starts, neighbors, lengths, space.distances, *rows, far), chunks)
    pace.run(lambda rows: keep_mutual(far, *rows), [(k, min(k + 64, n)) for k in range(0, n, 64)])
    return far


def _bands(
    space: Space, far: NDArray[Any], slack: float, best: Best, pace: Pace
) -> Iterator[NDArray[np.int32]]:
    """Yield bands of pairs in order of decreasing distance.

    Each band has as many pairs as all earlier bands together, within limits.
    """
    n = len(far)
    largest = float(space.distances.max())
    # Key k stands for the whole number k, or for distances up to k / scale, which must be
    # finite. Key 0 means no pair.
    scale = 1.0 if space.whole else min(_KEYS / largest, float(np.finfo(np.float64).max))
    keyed = _KeyedPairs(far, scale, [(k, min(k + _ROWS, n)) for k in range(0, n, _ROWS)])
    counts = keyed.count_pairs(math.ceil(largest * scale) + 1, pace)
    totals = counts.sum(axis=0)
    high = len(totals) - 1
    listed = 0
    while high > 0 and high / scale + slack > best.h:
        wanted = min(max(_FIRST_BAND, listed), _LARGEST_BAND)
        low = max(1, high - int(np.searchsorted(np.cumsum(totals[high:0:-1]), wanted)))
        pairs = keyed.list_band(low, high, counts[:, low : high + 1], pace)
        if not space.whole:
            distances = space.distances[pairs[:, 0], pairs[:, 1]]
            pairs = pairs[np.argsort(-distances, kind="stable")]
        listed += len(pairs)
        yield pairs
        high = low - 1


class _KeyedPairs(NamedTuple):
    """Far-apart pairs, sorted by the key of their distance in chunks of rows."""

    far: NDArray[Any]
    scale: float
    chunks: list[tuple[int, int]]

    def count_pairs(self, n_keys: int, pace: Pace) -> NDArray[np.int64]:
        """Return the number of pairs by chunk and key."""
        from ._far_apart_kernels import count_by_key

        def work(rows: tuple[int, int]) -> NDArray[np.int64]:
            counts = np.zeros(n_keys, np.int64)
            count_by_key(self.far, self.scale, *rows, counts)
            return counts

        return np.array(list(pace.map(work, self.chunks)))

    def list_band(self, low: int, high: int, counts: NDArray[np.int64], pace: Pace) -> NDArray[np.int32]:
        """Return the pairs with keys low ... high; `counts` has their number by chunk and key."""
        from ._far_apart_kernels import list_by_key

        band = counts.sum(axis=0)
        # Farthest key first, and within a key in the order of the rows.
        begins = np.cumsum(band[::-1])[::-1] - band
        places = begins + np.cumsum(counts, axis=0) - counts
        pairs = np.empty((int(band.sum()), 2), np.int32)

        def work(k: int) -> None:
            rows = self.chunks[k]
            list_by_key(self.far, self.scale, low, high, *rows, places[k].copy(), pairs)

        pace.run(work, range(len(self.chunks)))
        return pairs
