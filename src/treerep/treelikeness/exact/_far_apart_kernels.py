"""Far-apart pairs, and the search for the least tree-like quadruple among them.

Borassi, Coudert, Crescenzi and Marino, On computing the hyperbolicity of real-world graphs (ESA
2015). Throughout, h = 2 delta, d(a, b) + d(c, d) is the largest of the three sums of four
points, and (a, b) is the closer of its two pairs.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel

_TILE = 64
# Bytes of eight marks are tested at once; VALUABLE has its bit set in each.
_VALUABLE = np.uint8(3)
_ANY_VALUABLE = np.uint64(0x0202020202020202)


@kernel
def mark_far(
    starts: Any, neighbors: Any, lengths: Any, distances: Any, first: int, last: int, far: Any
) -> None:
    """Set far[a, b] to d(a, b), or to 0 if a neighbor w has d(w, b) = d(w, a) + d(a, b).

    Such a pair can be skipped, because replacing a by w does not lower the four-point value.
    `lengths` is None if every edge has length 1; then "behind" is the same as "farther". If an edge
    is so short that it vanishes in the sum, neither end is behind the other, because one of the two
    pairs must remain.
    """
    n = len(distances)
    behind = np.empty(n, np.uint8)
    for a in range(first, last):
        behind[:] = 0
        for edge in range(starts[a], starts[a + 1]):
            w = neighbors[edge]
            if lengths is None:
                for b in range(n):
                    behind[b] |= np.uint8(distances[w, b] > distances[a, b])
            else:
                for b in range(n):
                    farther = distances[w, b] > distances[a, b]
                    behind[b] |= np.uint8(farther & (distances[w, b] == distances[a, b] + lengths[edge]))
        for b in range(n):
            far[a, b] = 0 if behind[b] else distances[a, b]


@kernel
def keep_mutual(far: Any, first: int, last: int) -> None:
    """Set far[a, b] to 0 if far[b, a] is 0, for a < b. Uses tiles, because columns are read."""
    n = len(far)
    for left in range(first, n, _TILE):
        for a in range(first, min(last, left + _TILE)):
            for b in range(max(left, a + 1), min(left + _TILE, n)):
                # Select a value instead of branching: the outcome is unpredictable.
                kept = far[a, b]
                far[a, b] = kept if far[b, a] != 0 else far.dtype.type(0)


@helper
def _key(distance: Any, scale: float) -> Any:
    """Return 0 for 0, and k for distances above (k - 1) / scale and up to k / scale."""
    return np.int64(np.ceil(distance * scale))


@kernel
def count_by_key(far: Any, scale: float, first: int, last: int, counts: Any) -> None:
    """Add 1 to counts[key of far[a, b]] for the pairs a < b in the given rows."""
    n = len(far)
    for a in range(first, last):
        for b in range(a + 1, n):
            counts[_key(far[a, b], scale)] += 1


@kernel
def list_by_key(
    far: Any, scale: float, low: int, high: int, first: int, last: int, places: Any, pairs: Any
) -> None:
    """Write the pairs a < b with key in low ... high to pairs[places[key - low]], and advance."""
    n = len(far)
    for a in range(first, last):
        for b in range(a + 1, n):
            key = _key(far[a, b], scale)
            if low <= key <= high:
                place = places[key - low]
                pairs[place, 0] = a
                pairs[place, 1] = b
                places[key - low] = place + 1


@kernel
def append_mates(starts: Any, mates: Any, pairs: Any) -> Any:
    """Append pairs to the lists of mates; the mates of c are mates[starts[c]:starts[c + 1]]."""
    n = len(starts) - 1
    counts = np.zeros(n, np.int64)
    for k in range(len(pairs)):
        counts[pairs[k, 0]] += 1
        counts[pairs[k, 1]] += 1
    begins = np.empty(n + 1, np.int64)
    begins[0] = 0
    free = np.empty(n, np.int64)
    for c in range(n):
        own = starts[c + 1] - starts[c]
        free[c] = begins[c] + own
        begins[c + 1] = free[c] + counts[c]
    longer = np.empty(begins[n], np.int32)
    for c in range(n):
        for k in range(starts[c + 1] - starts[c]):
            longer[begins[c] + k] = mates[starts[c] + k]
    for k in range(len(pairs)):
        a = pairs[k, 0]
        b = pairs[k, 1]
        longer[free[a]] = b
        longer[free[b]] = a
        free[a] += 1
        free[b] += 1
    return begins, longer


@kernel
def reveal_mates(distances: Any, starts: Any, mates: Any, pairs: Any, ends: Any, top: Any) -> None:
    """Reveal the mates of these pairs: advance ends[c], and set top[c] = 2 d(c, farthest mate)."""
    for k in range(len(pairs)):
        for side in range(2):
            c = pairs[k, side]
            if ends[c] == starts[c]:
                top[c] = 2 * distances[c, mates[starts[c]]]
            ends[c] += 1


@helper
def _mark(
    row_a: Any, row_b: Any, top: Any, center: Any, near: Any, goal: Any, slack: Any, marks: Any
) -> None:
    """Mark every c that can be part of d(a, b) + d(c, d) - max(...) >= goal; d(a, b) is `near`.

    Let f = d(a, c), g = d(b, c), and let e be the distance from c to its farthest mate. Then c
    is acceptable if

        2 f, 2 g >= goal,
        2 (e - f), 2 (e - g) >= 3 goal - 2 d(a, b) and
        2 e >= 2 goal - d(a, b) + f + g.

    An acceptable c is valuable if 2 d(c, center) >= goal - d(a, b) + f + g, which holds for c or
    for d. All conditions follow from the triangle inequality. `slack` bounds the violation of this
    inequality.
    """
    wide = top.dtype.type
    closest = wide(goal - 2 * slack)
    beyond = wide(3 * goal - 2 * near - 2 * slack)
    across = wide(2 * goal - near - slack)
    aside = wide(goal - near - slack)
    for c in range(len(top)):
        f = wide(row_a[c])
        g = wide(row_b[c])
        twice_f = wide(f + f)
        twice_g = wide(g + g)
        both = wide(f + g)
        fits = (twice_f >= closest) & (twice_g >= closest)
        fits &= (wide(twice_f + beyond) <= top[c]) & (wide(twice_g + beyond) <= top[c])
        fits &= wide(both + across) <= top[c]
        leads = fits & (wide(both + aside) <= center[c])
        marks[c] = np.uint8(fits) | np.uint8(np.uint8(leads) << 1)


@kernel
def search_pairs(
    distances: Any,
    top: Any,
    center: Any,
    starts: Any,
    ends: Any,
    mates: Any,
    pairs: Any,
    h: Any,
    step: Any,
    slack: Any,
) -> Any:
    """Return (h, witness, work): the largest four-point value above h of pairs with mates.

    A better value is at least h + step, where step is 1 for whole numbers and 0 otherwise.
    """
    n = len(distances)
    wide = top.dtype.type
    marks = np.zeros((n + 7) // 8 * 8, np.uint8)
    words = marks.view(np.uint64)
    witness = np.full(4, -1, np.int64)
    work = 0
    for k in range(len(pairs)):
        a = pairs[k, 0]
        b = pairs[k, 1]
        row_a = distances[a]
        row_b = distances[b]
        near = wide(row_a[b])
        if wide(near + slack) <= h:
            continue
        _mark(row_a, row_b, top, center, near, wide(h + step), slack, marks)
        work += n >> 4
        for word in range(len(words)):
            if not words[word] & _ANY_VALUABLE:
                continue
            for c in range(8 * word, 8 * word + 8):
                if marks[c] < _VALUABLE:
                    continue
                f = wide(row_a[c])
                g = wide(row_b[c])
                row_c = distances[c]
                for m in range(starts[c], ends[c]):
                    d = mates[m]
                    apart = wide(row_c[d])
                    # d(a, d) + d(b, d) >= d(a, b), so closer mates cannot reach the goal.
                    if 2 * apart < 2 * (h + step) - near - slack + f + g:
                        work += m - starts[c]
                        break
                    if marks[d]:
                        value = wide(near + apart - max(f + row_b[d], g + row_a[d]))
                        if value > h:
                            h = value
                            witness[0] = a
                            witness[1] = b
                            witness[2] = c
                            witness[3] = d
                else:
                    work += ends[c] - starts[c]
    return h, witness, work
