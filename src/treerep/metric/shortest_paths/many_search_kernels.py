"""Breadth-first searches from 512 vertices at a time.

Bit s of a row tells whether a vertex was reached from source s. One operation on two rows
continues all searches (Then et al., PVLDB 8, 2014). See also `all_pairs_kernels`.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel
from ._row_union_kernels import WORDS, unite_rows

#: Number of searches that run together.
TOGETHER = 64 * WORDS


@kernel
def search_together(starts: Any, neighbors: Any, sources: Any, targets: Any, out: Any) -> None:
    """Write out[a, b] = d(sources[a], targets[b]) in a connected graph, for any number of sources."""
    n = len(starts) - 1
    seen = np.empty((n, WORDS), np.uint64)
    front = np.empty((n, WORDS), np.uint64)
    new = np.empty((n, WORDS), np.uint64)
    for begin in range(0, len(sources), TOGETHER):
        end = min(begin + TOGETHER, len(sources))
        _search(
            starts,
            neighbors,
            sources[begin:end],
            targets,
            seen,
            front,
            new,
            out[begin:end],
        )


@helper
def _search(
    starts: Any,
    neighbors: Any,
    sources: Any,
    targets: Any,
    seen: Any,
    front: Any,
    new: Any,
    out: Any,
) -> None:
    n = len(starts) - 1
    everyone = np.zeros(WORDS, np.uint64)
    seen.fill(0)
    front.fill(0)
    for s in range(len(sources)):
        bit = np.uint64(1) << np.uint64(s & 63)
        seen[sources[s], s >> 6] |= bit
        front[sources[s], s >> 6] |= bit
        everyone[s >> 6] |= bit
    left = len(sources) * len(targets) - _write(front, targets, 0, out)
    level = 0
    while left > 0:
        level += 1
        for v in range(n):
            missing = np.uint64(0)
            for word in range(WORDS):
                missing |= everyone[word] & ~seen[v, word]
            if missing:
                unite_rows(front, neighbors, starts[v], starts[v + 1], new, v)
                for word in range(WORDS):
                    new[v, word] &= ~seen[v, word]
            else:
                for word in range(WORDS):
                    new[v, word] = 0
        for v in range(n):
            for word in range(WORDS):
                seen[v, word] |= new[v, word]
        left -= _write(new, targets, level, out)
        front, new = new, front


@helper
def _write(reached: Any, targets: Any, level: int, out: Any) -> int:
    """Write a distance for every bit of the rows of the targets; return the number of bits."""
    count = 0
    for b in range(len(targets)):
        for word in range(WORDS):
            bits = reached[targets[b], word]
            while bits:
                lowest = bits & (~bits + np.uint64(1))
                out[64 * word + _position(lowest), b] = level
                bits ^= lowest
                count += 1
    return count


@helper
def _position(bit: Any) -> int:
    """Return the position of the only bit of a number."""
    position = 0
    for k in range(6):
        step = 32 >> k
        if bit >> np.uint64(position + step):
            position += step
    return position
