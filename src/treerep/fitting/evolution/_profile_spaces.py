"""Profiles: averages of points that replace a distance matrix.

The profile of a subtree is the balanced mean of its points: the profile of a leaf is the point, and
that of an inner node is the mean of the profiles of its two children. Let S(a, b) be the
*separation* of two profiles. If distances are bilinear, as squared Euclidean distances are, the
balanced average distance of two subtrees A and B is

    d(A, B) = S(a, b) + s(A) + s(B),    S(a, b) = |a - b|^2,

where s(A) depends on A only. A comparison of two ways to join the same four subtrees contains every
s once on each side, so that it cancels.

A space is a named tuple of tables with one row per profile. Kernels call two operations of a space:
`average`, the mean of two profiles, and `separation`.

Sequences and characters are points with one coordinate for each site and state: 1 for the state of
the sequence, and 0 for the others. The product of two such points is the number of sites that
agree. All coordinates of an unknown site are 0. The share of differences is

    p = 1 - (agreeing sites) / (sites known in both).

The correction of the model is applied to the p of profiles, as in FastTree (Price, Dehal and Arkin,
Mol. Biol. Evol. 26, 2009).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ...metric.base import Metric
from ...metric.characters import CharacterMetric
from ...metric.points import PointMetric
from ...metric.sequences.metric import SequenceMetric
from ...metric.sequences.models import LINEAR, Formula, constants
from ...metric.sequences.packing import unpacked

Table = NDArray[np.float32]

_ITEMSIZE = 4
_RESIDUES = 20
#: Most tasks of a search. Each has a spare row after the profiles below and above all nodes.
TASKS = 256


class VectorSpace(NamedTuple):
    """Points with squared Euclidean distances."""

    rows: NDArray[np.floating]


class MatchSpace(NamedTuple):
    """Proteins and characters."""

    states: Table  # a column for each site and state, for sites at which points differ
    known: Table  # a column for each site that is unknown in some points
    # (2,): the weight of the sites that are known in all points, if points differ, and if they agree
    sites: NDArray[np.float64]
    formula: NDArray[np.float64]  # as written by `metric.sequences.models.constants`


class BaseSpace(NamedTuple):
    """DNA. The tables hold A + G, C + T, A - G and C - T of each site at which points differ."""

    purine: Table
    pyrimidine: Table
    of_purines: Table
    of_pyrimidines: Table
    known: Table
    sites: NDArray[np.float64]
    formula: NDArray[np.float64]


Space = VectorSpace | MatchSpace | BaseSpace


def has_profiles(metric: Metric) -> bool:
    """Tell whether the distances follow from mean vectors."""
    if isinstance(metric, SequenceMetric):
        return metric.model != "logdet"
    if isinstance(metric, PointMetric):
        return metric.metric == "sqeuclidean"
    return isinstance(metric, CharacterMetric)


def profile_space(metric: Metric) -> Space:
    """Return tables of profiles. The first rows are the points."""
    rows = 3 * len(metric) + TASKS
    if isinstance(metric, SequenceMetric):
        return _of_bases(metric, rows) if metric.alphabet == "dna" else _of_residues(metric, rows)
    if isinstance(metric, CharacterMetric):
        return _of_characters(metric, rows)
    assert isinstance(metric, PointMetric)
    return vector_space(metric.points)


def vector_space(points: NDArray[Any]) -> VectorSpace:
    """Return tables of profiles of points with squared Euclidean distances."""
    table = _table(3 * len(points) + TASKS, points.shape[1], points.dtype)
    # Means of large coordinates would be rounded more than their differences.
    table[: len(points)] = points - points.mean(axis=0, dtype=np.float64).astype(points.dtype)
    return VectorSpace(table)


def point_tables(space: Space) -> list[NDArray[Any]]:
    """Return the tables with one row per profile."""
    return [array for array in space if array.ndim == 2]


def profile_bytes(metric: Metric, rows: int) -> int:
    """Return the most memory that the tables take."""
    if isinstance(metric, PointMetric):
        return rows * metric.points.shape[1] * metric.points.itemsize
    if isinstance(metric, SequenceMetric):
        numbers = 5 if metric.alphabet == "dna" else 1 + _RESIDUES
        return rows * metric.sites * numbers * _ITEMSIZE
    assert isinstance(metric, CharacterMetric)
    # At least two rows have each state.
    states = np.minimum(metric.codes.max(axis=0) + 1, len(metric) // 2).sum()
    return rows * (int(states) + metric.codes.shape[1]) * _ITEMSIZE


def _table(rows: int, columns: int, dtype: Any = np.float32) -> NDArray[Any]:
    check_memory(
        rows * columns * np.dtype(dtype).itemsize,
        f"minimum_evolution on profiles with {columns:,} columns",
        "use method='backbone', which needs no profiles",
    )
    return np.empty((rows, columns), dtype)


def _of_bases(metric: SequenceMetric, rows: int) -> BaseSpace:
    complete, constant = _kinds_of_sites(metric)
    varying = np.flatnonzero(~constant)
    incomplete = np.flatnonzero(~complete)
    known = _table(rows, len(incomplete))
    purine, pyrimidine, of_purines, of_pyrimidines = (_table(rows, len(varying)) for _ in range(4))
    for start, bits in unpacked(metric.packed):
        some = slice(start, start + len(bits))
        known[some] = bits[:, 0, incomplete]
        first, second, third = (bits[:, k, varying] for k in range(3))
        pyrimidine[some] = second
        purine[some] = first - second
        sign = 1 - 2 * third.astype(np.float32)  # 1 for A and C, -1 for G and T
        of_purines[some] = sign * purine[some]
        of_pyrimidines[some] = sign * pyrimidine[some]
    sites = np.array([complete.sum() - constant.sum(), constant.sum()], np.float64)
    return BaseSpace(purine, pyrimidine, of_purines, of_pyrimidines, known, sites, _formula(metric))


def _kinds_of_sites(metric: SequenceMetric) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which sites are known in all sequences, and which of these are the same in all."""
    every: Any = None
    some: Any = None
    for _, bits in unpacked(metric.packed):
        low, high = bits.min(axis=0), bits.max(axis=0)
        every = low if every is None else every & low
        some = high if some is None else some | high
    return every[0] == 1, (every[0] == 1) & (every == some).all(axis=0)


def _of_residues(metric: SequenceMetric, rows: int) -> MatchSpace:
    codes = np.empty((len(metric), metric.sites), np.int16)
    for start, bits in unpacked(metric.packed):
        numbers = np.zeros(bits[:, 0].shape, np.int16)
        for plane in range(1, bits.shape[1]):
            numbers |= bits[:, plane].astype(np.int16) << (plane - 1)
        codes[start : start + len(bits)] = np.where(bits[:, 0] > 0, numbers, -1)
    return _of_codes(codes, np.ones(metric.sites), _formula(metric), rows)


def _of_characters(metric: CharacterMetric, rows: int) -> MatchSpace:
    width = metric.codes.shape[1]
    weights = np.ones(width) if metric.weights is None else metric.weights
    # d = W p, with the total weight W.
    formula = Formula(LINEAR, [float(weights.sum())], [[0.0, 0.0, 1.0]])
    return _of_codes(metric.codes, weights, constants(formula, 0, None, 0.0), rows)


def _of_codes(
    codes: NDArray[np.signedinteger],
    weights: NDArray[np.float64],
    formula: NDArray[np.float64],
    rows: int,
) -> MatchSpace:
    """Return the space of a table of codes, -1 if unknown. Products of columns contain the weights."""
    n = len(codes)
    complete = codes.min(axis=0) >= 0
    constant = complete & (codes.min(axis=0) == codes.max(axis=0))
    roots = np.sqrt(weights)
    # A state that occurs once never agrees.
    states = [
        (site, state)
        for site in np.flatnonzero(~constant & (weights > 0)).tolist()
        for state, count in zip(*np.unique(codes[:, site], return_counts=True), strict=True)
        if count > 1 and state >= 0
    ]
    table = _table(rows, len(states))
    for column, (site, state) in enumerate(states):
        table[:n, column] = roots[site] * (codes[:, site] == state)
    incomplete = np.flatnonzero(~complete)
    known = _table(rows, len(incomplete))
    known[:n] = roots[incomplete] * (codes[:, incomplete] >= 0)
    sites = np.array([weights[complete & ~constant].sum(), weights[constant].sum()])
    return MatchSpace(table, known, sites, formula)


def _formula(metric: SequenceMetric) -> NDArray[np.float64]:
    return constants(metric.formula, metric.packed.alphabet.planes, metric.gamma, 0.0)
