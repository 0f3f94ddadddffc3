"""Distances between aligned sequences, from counts of bits.

A word holds one bit of the codes of 64 sites (see `sequences/packing.py`). `ctpop` counts the
bits of a word in one instruction, and the compiler counts several words at a time. Counts are
whole numbers, so every CPU gives the same counts.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from ..._core.kernel import helper
from ..sequences.undefined import UndefinedDistanceError

# Positions in the row of constants, as written by `sequences/models.py`.
_KIND = 0
_PLANES = 1
_GAMMA = 2
_FLOOR = 3
_SQUARE = 4
_WEIGHTS = 5
_SLOPES = 8
_TERMS = 3
_LINEAR = 0
_LOGDET = 2

# Planes of a base and of a residue, the unit of a protein.
_OF_BASE = 3
_OF_RESIDUE = 6
# Smaller arguments of a logarithm are 0 apart from rounding.
_ROUNDING = 1e-12


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """Count the bits of a word that are 1."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), build


@helper
def sequence_distance(planes: Any, constants: Any, origin: Any, i: Any, j: Any) -> Any:
    """Return the distance of sequences i and j."""
    if i == j:
        return 0.0
    floor = constants[i, _FLOOR]
    if constants[i, _KIND] == _LOGDET:
        value = _logdet(planes, constants, i, j)
    else:
        value = _formula(planes, constants, i, j)
    if value < 0.0:  # undefined
        if floor < 0.0:
            common, p1, p2, q = _count(planes, constants, i, j)
            raise UndefinedDistanceError(
                origin[i, 0], origin[i, 1], origin[j, 1], common, p1 + p2 + q
            )
        return np.nan
    return value


@helper
def _count(planes: Any, constants: Any, i: Any, j: Any) -> Any:
    if constants[i, _PLANES] == _OF_RESIDUE:
        return _count_residues(planes, planes.shape[1] // _OF_RESIDUE, i, j)
    return _count_bases(planes, planes.shape[1] // _OF_BASE, i, j)


@helper
def _count_bases(planes: Any, words: Any, i: Any, j: Any) -> Any:
    """Count common sites, A-G differences, C-T differences and transversions."""
    common = 0
    transitions = 0
    pyrimidines = 0
    transversions = 0
    for w in range(words):
        known = planes[i, w] & planes[j, w]
        pyrimidine = planes[i, words + w]
        across = (pyrimidine ^ planes[j, words + w]) & known
        within = (planes[i, 2 * words + w] ^ planes[j, 2 * words + w]) & known & ~across
        common += _popcount(known)
        transitions += _popcount(within)
        pyrimidines += _popcount(within & pyrimidine)
        transversions += _popcount(across)
    return common, transitions - pyrimidines, pyrimidines, transversions


@helper
def _count_residues(planes: Any, words: Any, i: Any, j: Any) -> Any:
    """Count common sites and differences of proteins. The latter are returned as transversions."""
    common = 0
    different = 0
    for w in range(words):
        known = planes[i, w] & planes[j, w]
        unlike = planes[i, words + w] ^ planes[j, words + w]
        unlike |= planes[i, 2 * words + w] ^ planes[j, 2 * words + w]
        unlike |= planes[i, 3 * words + w] ^ planes[j, 3 * words + w]
        unlike |= planes[i, 4 * words + w] ^ planes[j, 4 * words + w]
        unlike |= planes[i, 5 * words + w] ^ planes[j, 5 * words + w]
        common += _popcount(known)
        different += _popcount(unlike & known)
    return common, 0, 0, different


@helper
def _formula(planes: Any, constants: Any, i: Any, j: Any) -> Any:
    """Return sum over m of weight[m] g(1 - slope[m] . (P1, P2, Q) - square Q^2), or -1."""
    common, p1, p2, q = _count(planes, constants, i, j)
    floor = constants[i, _FLOOR]
    if common == 0 and not floor >= 0.0:
        return -1.0
    sites = max(1, common)
    least = floor if floor > _ROUNDING else _ROUNDING
    total = 0.0
    for m in range(_TERMS):
        weight = constants[i, _WEIGHTS + m]
        if weight == 0.0:
            break
        slope = _SLOPES + 3 * m
        # The terms are not negative, so no digits cancel.
        loss = constants[i, slope] * p1
        loss += constants[i, slope + 1] * p2
        loss += constants[i, slope + 2] * q
        loss /= sites
        loss += constants[i, _SQUARE] * (q / sites) * (q / sites)
        if common == 0:
            loss = 1.0
        if constants[i, _KIND] == _LINEAR:
            total += weight * loss
            continue
        if 1.0 - loss < least:
            if not floor >= 0.0:
                return -1.0
            loss = 1.0 - floor
        total += weight * _growth(loss, constants[i, _GAMMA])
    return total


@helper
def _growth(loss: Any, gamma: Any) -> Any:
    # g(w) = -ln w, or a (w^(-1/a) - 1) for gamma rates of shape a, with w = 1 - loss. Both keep
    # all digits if the loss is small.
    rise = -math.log1p(-loss)
    return rise if gamma == 0.0 else gamma * math.expm1(rise / gamma)


@helper
def _logdet(planes: Any, constants: Any, i: Any, j: Any) -> Any:
    # d = -1/4 ln(det F / sqrt(product of row sums and column sums of F)), where F counts the
    # pairs of bases (Lockhart et al. 1994, Lake 1994).
    counts = _count_pairs(planes, planes.shape[1] // _OF_BASE, i, j)
    rows = 1.0
    columns = 1.0
    different = 0.0
    for a in range(4):
        rows *= counts[a].sum()
        columns *= counts[:, a].sum()
        different += counts[a].sum() - counts[a, a]
    floor = constants[i, _FLOOR]
    scale = math.sqrt(rows) * math.sqrt(columns)
    if different == 0.0 and counts.sum() > 0.0:
        return 0.0
    share = _determinant(_canonical(counts)) / scale if scale > 0.0 else 0.0
    if share < (floor if floor > _ROUNDING else _ROUNDING):
        if not floor >= 0.0:
            return -1.0
        share = floor
    return max(0.0, -constants[i, _WEIGHTS] * math.log(share))


@helper
def _count_pairs(planes: Any, words: Any, i: Any, j: Any) -> Any:
    """Count how often base a of sequence i is at the site of base b of sequence j."""
    counts = np.zeros((4, 4))
    for a in range(4):
        for b in range(4):
            # Masks of all ones or zeros select the bases whose bits are those of a and b.
            a1 = np.uint64(0) - np.uint64(1 - (a >> 1))
            a2 = np.uint64(0) - np.uint64(1 - (a & 1))
            b1 = np.uint64(0) - np.uint64(1 - (b >> 1))
            b2 = np.uint64(0) - np.uint64(1 - (b & 1))
            found = 0
            for w in range(words):
                first = (planes[i, words + w] ^ a1) & (planes[i, 2 * words + w] ^ a2)
                second = (planes[j, words + w] ^ b1) & (planes[j, 2 * words + w] ^ b2)
                found += _popcount(first & second & planes[i, w] & planes[j, w])
            counts[a, b] = found
    return counts


@helper
def _canonical(counts: Any) -> Any:
    """Return the counts or their transpose, so that d(i, j) and d(j, i) have the same bits."""
    for a in range(4):
        for b in range(a):
            if counts[a, b] != counts[b, a]:
                return counts if counts[a, b] < counts[b, a] else counts.T.copy()
    return counts


@helper
def _determinant(m: Any) -> Any:
    # Laplace expansion along the first two rows.
    s0 = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    s1 = m[0, 0] * m[1, 2] - m[0, 2] * m[1, 0]
    s2 = m[0, 0] * m[1, 3] - m[0, 3] * m[1, 0]
    s3 = m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]
    s4 = m[0, 1] * m[1, 3] - m[0, 3] * m[1, 1]
    s5 = m[0, 2] * m[1, 3] - m[0, 3] * m[1, 2]
    c5 = m[2, 2] * m[3, 3] - m[2, 3] * m[3, 2]
    c4 = m[2, 1] * m[3, 3] - m[2, 3] * m[3, 1]
    c3 = m[2, 1] * m[3, 2] - m[2, 2] * m[3, 1]
    c2 = m[2, 0] * m[3, 3] - m[2, 3] * m[3, 0]
    c1 = m[2, 0] * m[3, 2] - m[2, 2] * m[3, 0]
    c0 = m[2, 0] * m[3, 1] - m[2, 1] * m[3, 0]
    return s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0
