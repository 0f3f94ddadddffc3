"""One-time validation of a distance matrix: every entry, or a sample for a matrix on disk."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.parallel import run
from .base import BadEntryError, MetricError
from .disk.mapped import prefetch, random_access
from .oracle.classes import LARGEST

# The allowed difference of d(i, j) and d(j, i), relative to the largest distance. Numerically
# careless but correct code stays within this limit.
_ASYMMETRY = {np.dtype(np.float16): 5e-3, np.dtype(np.float32): 1e-4}
_ASYMMETRY_DEFAULT = 1e-8
_SAMPLE = 1_000_000
_TILE = 256  # rows and columns inspected together, which fit in a cache
_BAND = 64
_AHEAD = 64 * _BAND  # rows whose pages are requested together: about 32 MB


class Inspection(NamedTuple):
    """Facts about the entries of a distance matrix."""

    largest: float
    whole: bool  # all entries are whole numbers
    single: bool  # all entries are exact in float32
    asymmetry: float  # the largest |d(i, j) - d(j, i)|


def inspect_all(distances: NDArray[Any]) -> Inspection:
    """Check every entry. The first bad entry in row order raises a MetricError."""
    seen = _inspect_square(distances)
    if seen is None or seen.asymmetry > _allowed(distances, seen.largest) or np.diagonal(distances).any():
        _name_first_bad_entry(distances)
    assert seen is not None
    if seen.largest > LARGEST:
        raise MetricError(
            f"the largest distance is {seen.largest}, so sums of distances overflow: rescale the distances"
        )
    return seen


def inspect_sample(distances: NDArray[Any]) -> tuple[Inspection, NDArray[Any]]:
    """Check the diagonal and a million other entries; return the findings and the entries.

    Some entries of each row are read. A disk is read in pages, so neighboring rows sample the
    same columns. The mirror images of the sampled entries are then in few rows.
    """
    sample = _read_sample(distances)
    found = _inspect_block(sample.entries, sample.mirrored)
    if found is None or found.largest > LARGEST:
        _refuse_bad_sample(sample)
    assert found is not None
    difference = np.abs(sample.entries.astype(np.float64) - sample.mirrored)
    for i, k in np.argwhere(difference > _allowed(distances, found.largest))[:1]:
        j = sample.first_column[i] + k
        _refuse_asymmetry(i, j, sample.entries[i, k], sample.mirrored[i, k])
    return found, sample.entries


class _Sample(NamedTuple):
    """Some entries of each row. The entries of row i begin in column first_column[i]."""

    first_column: NDArray[np.int64]
    entries: NDArray[Any]
    mirrored: NDArray[Any]


def _read_sample(distances: NDArray[Any]) -> _Sample:
    """Read a sample in bands of rows, and check the diagonal."""
    n = len(distances)
    width = min(n, -(-_SAMPLE // (2 * n)))
    bands = -(-n // _BAND)
    drawn = np.random.default_rng(0).integers(0, n - width + 1, size=bands)
    first_column = drawn.repeat(_BAND)[:n]
    entries = np.empty((n, width), distances.dtype)
    mirrored = np.empty((n, width), distances.dtype)
    with random_access(distances):
        for start in range(0, n, _BAND):
            rows = slice(start, min(start + _BAND, n))
            cols = slice(first_column[start], first_column[start] + width)
            if start % _AHEAD == 0:
                stop = min(start + _AHEAD, n)
                prefetch(distances, _sampled_entries(first_column, width, start, stop))
            entries[rows] = distances[rows, cols]
            mirrored[rows] = distances[cols, rows].T
            diagonal = np.diagonal(distances[rows, rows])
            for i in np.flatnonzero(diagonal)[:1]:
                _refuse_diagonal(start + i, diagonal[i])
    return _Sample(first_column, entries, mirrored)


def _refuse_bad_sample(sample: _Sample) -> None:
    """Raise an error for the first entry that is not a distance, or otherwise for its mirror image."""
    for i, k in np.argwhere(~_are_distances(sample.entries))[:1]:
        raise BadEntryError(i, sample.first_column[i] + k, sample.entries[i, k])
    for i, k in np.argwhere(~_are_distances(sample.mirrored))[:1]:
        raise BadEntryError(sample.first_column[i] + k, i, sample.mirrored[i, k])


def _sampled_entries(
    first_column: NDArray[np.int64], width: int, start: int, stop: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the entries that `inspect_sample` reads in some rows, as (row, start, stop)."""
    for top in range(start, stop, _BAND):
        bottom = min(top + _BAND, len(first_column))
        column = int(first_column[top])
        for row in range(top, bottom):
            yield row, column, column + width
            yield row, row, row + 1
        for row in range(column, column + width):
            yield row, top, bottom


def _allowed(distances: NDArray[Any], largest: float) -> float:
    return _ASYMMETRY.get(distances.dtype, _ASYMMETRY_DEFAULT) * largest


def _are_distances(block: NDArray[Any]) -> NDArray[np.bool_]:
    wide = block.astype(np.float64)
    return (wide >= 0) & (wide <= LARGEST)


def _inspect_square(distances: NDArray[Any]) -> Inspection | None:
    """Inspect every entry, tile by tile, each with its mirror image. Return None if one is not a distance."""
    starts = range(0, len(distances), _TILE)

    def inspect(start: int) -> Inspection | None:
        """Inspect some rows from the diagonal to the right, and their mirror images."""
        rows = slice(start, start + _TILE)
        sides = (slice(left, left + _TILE) for left in starts[start // _TILE :])
        return _together([_inspect_block(distances[rows, side], distances[side, rows].T) for side in sides])

    return _together(list(run(inspect, starts, None if len(distances) > 1000 else 1)))


def _together(parts: Sequence[Inspection | None]) -> Inspection | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    largest, whole, single, asymmetry = zip(*known, strict=True)
    return Inspection(max(largest), all(whole), all(single), max(asymmetry))


def _inspect_block(here: NDArray[Any], there: NDArray[Any]) -> Inspection | None:
    """Inspect entries and their mirror images. Return None if any of these is negative or not finite."""
    one = here.astype(np.float64)
    parts = [one] if np.array_equal(here, there) else [one, there.astype(np.float64)]
    if not all(part.min() >= 0 and part.max() < np.inf for part in parts):  # false for NaN
        return None
    whole = all((part == np.floor(part)).all() for part in parts)
    with np.errstate(over="ignore"):  # overflow gives infinity, which no entry equals
        single = all((part == part.astype(np.float32)).all() for part in parts)
    asymmetry = float(np.abs(one - parts[-1]).max()) if len(parts) > 1 else 0.0
    return Inspection(max(float(part.max()) for part in parts), whole, single, asymmetry)


def _name_first_bad_entry(distances: NDArray[Any]) -> None:
    """Raise an error for the first bad entry in row order. The matrix must contain a bad entry."""
    finite_largest = max(float(np.max(row, initial=0, where=np.isfinite(row))) for row in distances)
    allowed = _allowed(distances, finite_largest)
    for i, row in enumerate(distances):
        if row[i] != 0 and np.isfinite(row[i]):
            _refuse_diagonal(i, row[i])
        for j in np.flatnonzero(~np.isfinite(row))[:1]:
            raise BadEntryError(i, j, row[j])
        for j in np.flatnonzero(row < 0)[:1]:
            raise BadEntryError(i, j, row[j])
        column = distances[:, i]
        for j in np.flatnonzero(np.abs(row.astype(np.float64) - column) > allowed)[:1]:
            _refuse_asymmetry(i, j, row[j], column[j])


def _refuse_diagonal(i: int, value: float) -> None:
    fix = "fill the diagonal with 0"
    if value == 1:
        fix = f"for similarities, subtract them from 1; otherwise {fix}"
    raise MetricError(f"d({i}, {i}) is {value}, but the distance of a point to itself is 0: {fix}")


def _refuse_asymmetry(i: int, j: int, value: float, mirrored: float) -> None:
    raise MetricError(
        f"d({i}, {j}) is {value} but d({j}, {i}) is {mirrored}: the matrix is not symmetric; "
        "tr.as_metric(D, symmetrize='mean') averages the two"
    )
