"""Hop counts between all vertices of a small graph, from 64 vertices at a time.

Bit s of a 64-bit number tells whether a vertex was reached from source s. One operation on two
numbers continues 64 breadth-first searches (Then et al., PVLDB 8, 2014).
"""

from typing import Any

import numpy as np

from ..._core.kernel import kernel

_BITS = 64
_BYTES = 8  # a number of `hops` contains the counts of eight sources


@kernel
def all_hops(starts: Any, neighbors: Any, most: int, spread: Any, hops: Any) -> bool:
    """Write the hop counts of a connected graph; return False if a hop count exceeds `most`.

    Parameters
    ----------
    starts, neighbors : the graph in compressed rows
    most : at most 254
    spread : (256,) uint64: each of the eight bits of a byte as a byte
    hops : (n, words) uint64, zeros; eight bytes per number, and at least n bytes per row
    """
    n = len(starts) - 1
    one = np.uint64(1)
    seen = np.empty(n, np.uint64)
    front = np.empty(n, np.uint64)
    new = np.empty(n, np.uint64)
    for base in range(0, n, _BITS):
        here = min(_BITS, n - base)
        for v in range(n):
            seen[v] = front[v] = new[v] = 0
        for s in range(here):
            seen[base + s] = front[base + s] = one << np.uint64(s)
        sources = ~np.uint64(0) >> np.uint64(_BITS - here)
        unfinished = True
        level = 0
        while unfinished:
            if level > most:
                return False
            level += 1
            unfinished = False
            for v in range(n):
                missing = sources & ~seen[v]
                if missing == 0:
                    new[v] = 0
                    continue
                unfinished = True
                # The sources that have not reached v yet are one hop farther away.
                rest = missing
                for word in range(_BYTES):
                    hops[v, base // _BYTES + word] += spread[rest & np.uint64(255)]
                    rest >>= np.uint64(8)
                reached = np.uint64(0)
                for k in range(starts[v], starts[v + 1]):
                    reached |= front[neighbors[k]]
                new[v] = reached & missing
            for v in range(n):
                front[v] = new[v]
                seen[v] |= new[v]
    return True
