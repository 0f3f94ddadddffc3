"""One random priority per point, which determines every random choice of TreeRep.

Up to half a million points, the priorities are a stored shuffle. For more points, they are a keyed
bijection of 0 ... n-1. A worker or a GPU computes any part of the bijection from a few random
numbers. All backends therefore have the same priorities and give the same tree.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHUFFLED = 1 << 19
_ROUNDS = 4
_CHUNK = 1 << 15  # numbers processed at a time, so that they fit into the cache


class Priorities:
    """The priorities of n points: a random permutation.

    Parameters
    ----------
    n : int
        At most 2^30.
    rng : numpy Generator

    Examples
    --------
    >>> priorities = Priorities(5, np.random.default_rng(0))
    >>> priorities.of_points(0, 5)
    array([2, 4, 3, 0, 1], dtype=int32)
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n = n
        self._stored = rng.permutation(n).astype(np.int32) if n <= _SHUFFLED else None
        bits = max(2, (n - 1).bit_length())
        self._mask = (1 << bits) - 1
        self._shift = (bits + 1) // 2
        if self._stored is None:
            drawn = rng.integers(0, 1 << bits, size=(_ROUNDS, 2)).tolist()
            self._keys = [(factor | 1, term) for factor, term in drawn]

    def of_points(self, start: int, stop: int) -> NDArray[np.int32]:
        """Return the priorities of the points start ... stop-1."""
        if self._stored is not None:
            return self._stored[start:stop]
        out = np.empty(stop - start, np.int32)
        for lo in range(start, stop, _CHUNK):
            hi = min(lo + _CHUNK, stop)
            # The results modulo 2^32 are exact modulo 2^bits.
            points = np.arange(lo, hi, dtype=np.uint32)
            out[lo - start : hi - start] = self._walk(points, self._backward)
        return out

    def part(self, start: int, stop: int) -> Callable[[], NDArray[np.int32]]:
        """Return a function that computes `of_points`, small enough to send to a worker."""
        if self._stored is not None:
            return partial(np.asarray, self._stored[start:stop])
        return partial(self.of_points, start, stop)

    def points_at(self, ranks: Any) -> Any:
        """Return the points with these priorities, as an int64 array of NumPy or torch."""
        if self._stored is not None:
            order = np.empty(self.n, np.int64)
            order[self._stored] = np.arange(self.n)
            return ranks.new_tensor(order)[ranks] if hasattr(ranks, "new_tensor") else order[ranks]
        return self._walk(ranks, self._forward)

    def _walk(self, x: Any, step: Any) -> Any:
        """Apply a bijection of 0 ... 2^bits - 1 until the result is below n.

        The result is a bijection of 0 ... n-1.
        """
        x = step(x)
        beyond = _positions(x >= self.n)
        while len(beyond):
            moved = step(x[beyond])
            x[beyond] = moved
            beyond = beyond[moved >= self.n]
        return x

    def _forward(self, x: Any) -> Any:
        # An odd factor can be inverted, and so can a shift by at least half of the bits.
        for factor, term in self._keys:
            x = (x * factor + term) & self._mask
            x = x ^ (x >> self._shift)
        return x

    def _backward(self, x: Any) -> Any:
        for factor, term in reversed(self._keys):
            x = x ^ (x >> self._shift)
            x = ((x - term) * pow(factor, -1, self._mask + 1)) & self._mask
        return x


def _positions(mask: Any) -> Any:
    """Return where a mask of NumPy or torch is true."""
    found = mask.nonzero()
    return found[0] if isinstance(found, tuple) else found[:, 0]
