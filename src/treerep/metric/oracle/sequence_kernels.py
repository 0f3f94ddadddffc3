"""Distances between aligned sequences, from counts of bits.

A word holds one bit of the codes of 64 sites (see `sequences/packing.py`). `ctpop` counts the bits
of a word in one instruction. Left to itself, the compiler vectorizes the loop over words in some
callers and not in others. The loops are therefore written in LLVM vectors of eight words, as in
`lane_kernels.py`. Counts are whole numbers, so every CPU gives the same counts.

Functions receive the addresses of rows instead of arrays. With arrays, a function that has branches
counts references, which takes longer than counting the bits of 1,000 sites.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..._core.kernel import helper
from .._undefined_pairs import UndefinedDistanceError

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

_LANES = 8  # a plane is padded to a multiple of eight words
Values = Any  # an llvmlite value: a vector of eight words


def _base_terms(builder: Any, a: list[Values], b: list[Values]) -> list[Values]:
    """Return the common sites, A-G differences, C-T differences and transversions of two words."""
    known = builder.and_(a[0], b[0])
    across = builder.and_(builder.xor(a[1], b[1]), known)
    same_kind = builder.and_(known, builder.not_(across))
    within = builder.and_(builder.xor(a[2], b[2]), same_kind)
    pyrimidines = builder.and_(within, a[1])
    return [known, builder.xor(within, pyrimidines), pyrimidines, across]


def _residue_terms(builder: Any, a: list[Values], b: list[Values]) -> list[Values]:
    """Return the common sites and the differences of two words of proteins."""
    known = builder.and_(a[0], b[0])
    different = builder.xor(a[1], b[1])
    for x, y in zip(a[2:], b[2:], strict=True):
        different = builder.or_(different, builder.xor(x, y))
    return [known, builder.and_(different, known)]


def _pair_terms(builder: Any, a: list[Values], b: list[Values]) -> list[Values]:
    """Return where the first word has base x and the second base y, for the 16 pairs (x, y)."""

    def bases(known: Values, first: Values, second: Values) -> list[Values]:
        return [
            builder.and_(known, builder.and_(one, two))
            for one in (builder.not_(first), first)
            for two in (builder.not_(second), second)
        ]

    return [builder.and_(x, y) for x in bases(*a) for y in bases(*b)]


@intrinsic
def row_address(typing_context: Any, table: Any, i: Any) -> Any:
    """Return the address of row i of a table."""
    if not (isinstance(table, types.Array) and table.ndim == 2 and table.layout == "C"):
        return None

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        width = cgutils.unpack_tuple(builder, array.shape)[1]
        row = builder.gep(array.data, [builder.mul(arguments[1], width)])
        return builder.ptrtoint(row, arguments[1].type)

    return types.intp(table, types.intp), build


def _reader(kind: Any, stored: Any) -> Any:
    """Return an intrinsic f(row, k) that reads entry k of a row of numbers."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        row = builder.inttoptr(arguments[0], stored.as_pointer())
        return builder.load(builder.gep(row, [arguments[1]]))

    @intrinsic
    def entry(typing_context: Any, row: Any, k: Any) -> Any:
        return kind(types.intp, types.intp), build

    return entry


def _counter(planes: int, count: int, terms: Callable[..., list[Values]]) -> Any:
    """Return an intrinsic f(row, other_row, words) that counts the bits of `terms` over all words."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Values:
        word = ir.IntType(64)
        lanes = ir.VectorType(word, _LANES)
        rows = [builder.inttoptr(row, word.as_pointer()) for row in arguments[:2]]
        words = arguments[2]
        index = words.type

        def load(row: Values, plane: int, start: Values) -> Values:
            position = builder.add(builder.mul(words, ir.Constant(index, plane)), start)
            pointer = builder.bitcast(builder.gep(row, [position]), lanes.as_pointer())
            return builder.load(pointer, align=8)

        totals = [cgutils.alloca_once_value(builder, ir.Constant(lanes, [0] * _LANES)) for _ in range(count)]
        blocks = builder.udiv(words, ir.Constant(index, _LANES))
        with cgutils.for_range(builder, blocks) as loop:
            start = builder.mul(loop.index, ir.Constant(index, _LANES))
            both = [[load(row, plane, start) for plane in range(planes)] for row in rows]
            for total, term in zip(totals, terms(builder, *both), strict=True):
                builder.store(builder.add(builder.load(total), _bits(builder, term)), total)
        sums = [_sum(builder, builder.load(total)) for total in totals]
        return context.make_tuple(builder, signature.return_type, sums)

    @intrinsic
    def counts(typing_context: Any, row: Any, other_row: Any, words: Any) -> Any:
        return types.UniTuple(types.int64, count)(types.intp, types.intp, types.intp), build

    return counts


def _bits(builder: Any, words: Values) -> Values:
    """Count the bits of each word that are 1."""
    kind = ir.FunctionType(words.type, [words.type])
    name = f"llvm.ctpop.v{_LANES}i64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [words])


def _sum(builder: Any, lanes: Values) -> Values:
    parts = [builder.extract_element(lanes, ir.Constant(ir.IntType(32), k)) for k in range(_LANES)]
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [builder.add(x, y) for x, y in pairs]
    return parts[0]


_number = _reader(types.float64, ir.DoubleType())
_whole_number = _reader(types.int64, ir.IntType(64))
_count_bases = _counter(_OF_BASE, 4, _base_terms)
_count_residues = _counter(_OF_RESIDUE, 2, _residue_terms)
_count_pairs = _counter(_OF_BASE, 16, _pair_terms)


@helper
def sequence_distance(
    row: Any, other_row: Any, width: Any, model: Any, origin: Any, other_origin: Any
) -> Any:
    """Return the distance of two sequences, given the addresses of their rows in the oracle.

    `width` is the number of words of a row, and `model` is the address of the constants.
    """
    if row == other_row:
        return 0.0
    p1 = 0
    p2 = 0
    if _number(model, _PLANES) == _OF_RESIDUE:
        common, q = _count_residues(row, other_row, width // _OF_RESIDUE)
    else:
        common, p1, p2, q = _count_bases(row, other_row, width // _OF_BASE)
    if _number(model, _KIND) == _LOGDET:
        value = _logdet(_count_pairs(row, other_row, width // _OF_BASE), model)
    else:
        value = _formula(common, p1, p2, q, model)
    if value < 0.0:  # undefined
        if _number(model, _FLOOR) < 0.0:
            i = _whole_number(origin, 1)
            j = _whole_number(other_origin, 1)
            raise UndefinedDistanceError(_whole_number(origin, 0), i, j, common, p1 + p2 + q)
        return np.nan
    return value


@helper
def _formula(common: Any, p1: Any, p2: Any, q: Any, model: Any) -> Any:
    """Return sum over m of weight[m] g(1 - slope[m] . (P1, P2, Q) - square Q^2), or -1."""
    floor = _number(model, _FLOOR)
    if common == 0 and not floor >= 0.0:
        return -1.0
    sites = np.float64(max(1, common))
    least = floor if floor > _ROUNDING else _ROUNDING
    total = 0.0
    for m in range(_TERMS):
        weight = _number(model, _WEIGHTS + m)
        if weight == 0.0:
            break
        slope = _SLOPES + 3 * m
        # The terms are not negative, so no digits cancel.
        loss = _number(model, slope) * p1
        loss += _number(model, slope + 1) * p2
        loss += _number(model, slope + 2) * q
        loss /= sites
        loss += _number(model, _SQUARE) * (q / sites) * (q / sites)
        if common == 0:
            loss = 1.0
        if _number(model, _KIND) == _LINEAR:
            total += weight * loss
            continue
        if 1.0 - loss < least:
            if not floor >= 0.0:
                return -1.0
            loss = 1.0 - floor
        total += weight * _growth(loss, _number(model, _GAMMA))
    return total


@helper
def _growth(loss: Any, gamma: Any) -> Any:
    # g(w) = -ln w, or a (w^(-1/a) - 1) for gamma rates of shape a, with w = 1 - loss. Both keep
    # the digits of small losses.
    rise = -math.log1p(-loss)
    return rise if gamma == 0.0 else gamma * math.expm1(rise / gamma)


@helper
def _logdet(pairs: Any, model: Any) -> Any:
    # d = -1/4 ln(det F / sqrt(product of row sums and column sums of F)), where F counts the
    # pairs of bases (Lockhart et al. 1994, Lake 1994).
    counts = np.array(pairs, np.float64).reshape(4, 4)
    rows = 1.0
    columns = 1.0
    different = 0.0
    for a in range(4):
        rows *= counts[a].sum()
        columns *= counts[:, a].sum()
        different += counts[a].sum() - counts[a, a]
    floor = _number(model, _FLOOR)
    scale = math.sqrt(rows) * math.sqrt(columns)
    if different == 0.0 and counts.sum() > 0.0:
        return 0.0
    share = _determinant(_canonical(counts)) / scale if scale > 0.0 else 0.0
    if share < (floor if floor > _ROUNDING else _ROUNDING):
        if not floor >= 0.0:
            return -1.0
        share = floor
    return max(0.0, -_number(model, _WEIGHTS) * math.log(share))


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
    # Laplace expansion along the first two rows: the sum over pairs a < b of columns of the minor
    # of the upper rows, times the minor of the lower rows and the other columns, with its sign.
    total = _minor(m, 0, 0, 1) * _minor(m, 2, 2, 3)
    total -= _minor(m, 0, 0, 2) * _minor(m, 2, 1, 3)
    total += _minor(m, 0, 0, 3) * _minor(m, 2, 1, 2)
    total += _minor(m, 0, 1, 2) * _minor(m, 2, 0, 3)
    total -= _minor(m, 0, 1, 3) * _minor(m, 2, 0, 2)
    return total + _minor(m, 0, 2, 3) * _minor(m, 2, 0, 1)


@helper
def _minor(m: Any, row: Any, a: Any, b: Any) -> Any:
    """Return the minor of two rows, from `row` on, and the columns a and b."""
    upper = m[row]
    lower = m[row + 1]
    return upper[a] * lower[b] - upper[b] * lower[a]
