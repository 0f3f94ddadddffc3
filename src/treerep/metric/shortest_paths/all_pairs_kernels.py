"""Hop counts between all vertices of a small graph, from 512 vertices at a time.

Bit s of a row tells whether a vertex was reached from source s. One operation on two rows
continues 512 breadth-first searches (Then et al., PVLDB 8, 2014).
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel
from ._row_union_kernels import WORDS, unite_rows

_SOURCES = 64 * WORDS  # searches in one row
_DIGITS = 6  # binary digits of a hop count


@kernel
def all_hops(starts: Any, neighbors: Any, most: int, spread: Any, hops: Any) -> bool:
    """Write the hop counts of a connected graph; return False if a hop count exceeds `most`.

    Parameters
    ----------
    starts, neighbors : the graph in compressed rows
    most : at most 63
    spread : (256,) uint64: each of the eight bits of a byte as a byte
    hops : (n, words) uint64, written; eight bytes per number, and `words` is a multiple of 8
    """
    n = len(starts) - 1
    seen = np.empty((n, WORDS), np.uint64)
    front = np.empty((n, WORDS), np.uint64)
    new = np.empty((n, WORDS), np.uint64)
    digits = np.empty((_DIGITS, n, WORDS), np.uint64)
    for base in range(0, n, _SOURCES):
        longest = _search(starts, neighbors, base, most, seen, front, new, digits)
        if longest > most:
            return False
        _write_counts(digits, 0, spread, hops, base // 8)
        if longest > 7:
            _write_counts(digits, 3, spread, hops, base // 8)
    return True


@helper
def _search(
    starts: Any,
    neighbors: Any,
    base: int,
    most: int,
    seen: Any,
    front: Any,
    new: Any,
    digits: Any,
) -> int:
    """Write the binary digits of the hop counts from the sources base, base + 1, ...

    Returns the largest hop count, or most + 1 if it is larger than `most`.
    """
    n = len(starts) - 1
    sources = np.zeros(WORDS, np.uint64)
    for v in range(n):
        for word in range(WORDS):
            seen[v, word] = front[v, word] = 0
            for digit in range(_DIGITS):
                digits[digit, v, word] = 0
    for s in range(min(_SOURCES, n - base)):
        bit = np.uint64(1) << np.uint64(s & 63)
        seen[base + s, s >> 6] = front[base + s, s >> 6] = bit
        sources[s >> 6] |= bit
    for level in range(1, most + 2):
        unfinished = False
        for v in range(n):
            missing = np.uint64(0)
            for word in range(WORDS):
                missing |= sources[word] & ~seen[v, word]
            if missing:
                unfinished = True
                unite_rows(front, neighbors, starts[v], starts[v + 1], new, v)
                for word in range(WORDS):
                    new[v, word] &= ~seen[v, word]
            else:
                for word in range(WORDS):
                    new[v, word] = 0
        if not unfinished:
            return level - 1
        for v in range(n):
            for word in range(WORDS):
                seen[v, word] |= new[v, word]
        for digit in range(_DIGITS):
            if level >> digit & 1:
                for v in range(n):
                    for word in range(WORDS):
                        digits[digit, v, word] |= new[v, word]
        front, new = new, front
    return most + 1


@helper
def _write_counts(digits: Any, first: int, spread: Any, hops: Any, at: int) -> None:
    """Write three digits of the hop counts: one byte per count, eight bytes per word of `hops`."""
    byte = np.uint64(255)
    for v in range(len(hops)):
        for word in range(min(WORDS, (hops.shape[1] - at) // 8)):
            low = digits[first, v, word]
            middle = digits[first + 1, v, word]
            high = digits[first + 2, v, word]
            for k in range(8):
                shift = np.uint64(8 * k)
                counts = (
                    spread[low >> shift & byte]
                    | spread[middle >> shift & byte] << np.uint64(1)
                    | spread[high >> shift & byte] << np.uint64(2)
                )
                if first == 0:
                    hops[v, at + 8 * word + k] = counts
                else:
                    hops[v, at + 8 * word + k] |= counts << np.uint64(first)
