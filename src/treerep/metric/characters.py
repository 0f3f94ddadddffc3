"""Characters: allele numbers, barcodes and other categories, with unknown entries."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core.checks import check_choice
from ._compiled import CompiledMetric
from ._labels import labels_of
from ._undefined_pairs import SATURATED, new_number, register
from .base import MetricError, check_labels, read_only
from .oracle.classes import NO_ERROR, CharacterOracle, WeightedCharacterOracle

_UNKNOWN = -1  # in a table of numbers, and in the codes of the categories


class CharacterMetric(CompiledMetric):
    """The number of loci at which two rows of characters differ.

    Rows hold categories: allele numbers of MLST and cgMLST, barcodes of lineage
    tracing, or any other states. Entries may be unknown.

    Parameters
    ----------
    states : (n, L) array or DataFrame
        Whole numbers, strings or other objects, one row per point and one column per locus.
        Numbers are compared as numbers (1 and 1.0 are the same), and other objects by their text.
        None, NaN, -1 and masked entries are unknown. The index of a DataFrame becomes the labels.
    missing : value or sequence of values
        Further entries that are unknown, for example `missing=0` or `missing=("", "-")`.
    weights : (L,) array, optional
        Weights of the loci, not negative. By default, all weights are 1.
    saturated : "raise" or "cap"
        What to do with two rows without a common known locus: raise a `MetricError` when their
        distance is read, or count all their loci as different.
    labels : sequence, optional
        Labels of the rows.

    See Also
    --------
    as_metric : Convert data to a metric.
    PointMetric : Points with real coordinates.
    bootstrap_trees : Resample loci.

    Notes
    -----
    Only loci that are known in both rows count. With weights w that sum to W, the distance is

        d = W (sum of w over differing loci) / (sum of w over known loci).

    Without weights and unknown entries, d is the Hamming distance: the number of differing loci.
    SciPy's "hamming" is d / L. With unknown entries, d estimates this number, and may violate the
    triangle inequality. With `saturated="cap"`, W is the distance of a pair without a common
    locus. It matters little for the default tree, because this tree compares means of many rows.

    O(L) time per distance. Memory: 2 bytes per entry, or 4 bytes for allele numbers above 32,767.

    Examples
    --------
    >>> m = CharacterMetric([[1, 4, 2, 7], [1, 4, 3, 7], [1, 5, -1, 8]])
    >>> m.pairs([0, 0], [1, 2]).round(3)
    array([1.   , 2.667])
    >>> CharacterMetric([["A", None], ["B", "C"]], weights=[0.5, 2]).pairs(0, 1)
    array(2.5)
    """

    def __init__(
        self,
        states: ArrayLike,
        *,
        missing: object = (),
        weights: ArrayLike | None = None,
        saturated: str = "raise",
        labels: Sequence[object] | None = None,
    ) -> None:
        check_choice("saturated", saturated, SATURATED)
        labels = labels_of(states, labels)
        codes = _codes(states, _unknown_texts(missing))
        self.labels = check_labels(labels, len(codes))
        self.weights = _checked_weights(weights, codes.shape[1])
        self.saturated = saturated
        self._check_known(codes)
        self._connect(read_only(codes))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def codes(self) -> NDArray[np.signedinteger]:
        """Numbers of the categories, (n, L); -1 if unknown."""
        codes: NDArray[np.signedinteger] = self.oracle.codes
        return codes

    def resample(self, rng: np.random.Generator) -> "CharacterMetric":
        """Return the rows with loci drawn with replacement, for a bootstrap."""
        width = self.codes.shape[1]
        drawn = rng.integers(width, size=width)
        weights = None if self.weights is None else self.weights[drawn]
        codes = np.take(self.codes, drawn, axis=1)
        return CharacterMetric(codes, weights=weights, saturated=self.saturated, labels=self.labels)

    def _check_known(self, codes: NDArray[np.signedinteger]) -> None:
        empty = np.flatnonzero(~(codes >= 0).any(axis=1))
        if len(empty):
            name = empty[0] if self.labels is None else repr(self.labels[empty[0]])
            raise MetricError(f"row {name} has no known locus, so its distances are undefined: drop it")

    def _connect(self, codes: NDArray[np.signedinteger]) -> None:
        """Make the oracle, and register the metric for errors."""
        number = NO_ERROR if self.saturated == "cap" else new_number()
        origin = np.column_stack([np.full(len(codes), number), np.arange(len(codes))])
        if self.weights is None:
            self.oracle = CharacterOracle(codes, read_only(origin))
            self.integral = bool((codes >= 0).all())
        else:
            # A sum in the order of the kernel, so that it equals the weight of all loci.
            both = np.append(self.weights, np.cumsum(self.weights)[-1])
            self.oracle = WeightedCharacterOracle(codes, read_only(origin), read_only(both))
        self._register()

    def _register(self) -> None:
        if self.saturated != "cap":
            register(int(self.oracle.origin[0, 0]), self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._register()


def _checked_weights(weights: ArrayLike | None, width: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    array = np.asarray(weights)
    if array.shape != (width,):
        raise MetricError(f"got weights of shape {array.shape} for {width} loci: give one per locus")
    if array.dtype.kind not in "iuf":
        raise MetricError(f"weights must be real numbers, not {array.dtype}")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        k = int(bad.argmax())
        raise MetricError(f"the weight of locus {k} is {array[k]}: it must be finite and not negative")
    if not array.any():
        raise MetricError("all weights are 0: give at least one locus a positive weight")
    return read_only(array.astype(np.float64))


def _unknown_texts(missing: object) -> list[str]:
    """Return the texts of entries that are unknown."""
    several = isinstance(missing, list | tuple | set | frozenset | np.ndarray)
    further: Any = missing if several else (missing,)
    return [_text(value) for value in (_UNKNOWN, *further)]


def _codes(states: ArrayLike, missing: list[str]) -> NDArray[np.signedinteger]:
    """Return the numbers of the categories, -1 if unknown. Numbers are comparable in a column."""
    array = np.ma.asarray(states) if np.ma.isMaskedArray(states) else np.asarray(states)
    if array.dtype.kind in "US" and not hasattr(states, "dtype"):
        # NumPy has turned the numbers of a list of numbers and strings into text.
        array = np.asarray(states, dtype=object)
    if array.ndim != 2 or 0 in array.shape:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise MetricError(
            f"expected categories in the rows of a non-empty n x L table, got an array of shape {shape}"
        )
    unknown = np.ma.getmaskarray(array).copy()
    values = np.ma.getdata(array)
    if values.dtype.kind in "biuf":
        return _number_codes(values, unknown, missing)
    if values.dtype.kind == "O":
        unknown |= np.array([[_is_nothing(value) for value in row] for row in values])
        values = np.array([[_text(value) for value in row] for row in values])
    return _text_codes(values.astype(str), unknown, missing)


def _number_codes(
    values: NDArray[Any], unknown: NDArray[np.bool_], missing: list[str]
) -> NDArray[np.signedinteger]:
    if values.dtype.kind == "f":
        unknown |= np.isnan(values)
    unknown |= np.isin(values, [number for number in map(_number, missing) if number is not None])
    if values.dtype.kind == "f":
        broken = ~unknown & (values != np.floor(values))
        if broken.any():
            i, k = np.argwhere(broken)[0]
            raise MetricError(f"entry {k} of row {i} is {values[i, k]}: categories are whole numbers or text")
    known = values[~unknown]
    low = known.min(initial=0)
    high = known.max(initial=0)
    if low < 0 or high > np.iinfo(np.int32).max:
        return _text_codes(values.astype(str), unknown, [])
    dtype = np.int16 if high <= np.iinfo(np.int16).max else np.int32
    return np.where(unknown, _UNKNOWN, values).astype(dtype)


def _text_codes(
    texts: NDArray[np.str_], unknown: NDArray[np.bool_], missing: list[str]
) -> NDArray[np.signedinteger]:
    """Number the categories of each column, in the order of their text."""
    unknown |= np.isin(texts, missing)
    dtype = np.int16 if len(texts) <= np.iinfo(np.int16).max else np.int32
    codes = np.empty(texts.shape, dtype)
    for k in range(texts.shape[1]):
        codes[:, k] = np.unique(texts[:, k], return_inverse=True)[1]
    codes[unknown] = _UNKNOWN
    return codes


def _text(value: object) -> str:
    """Return the text of a category. A number has the same text as an integer and as a float."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def _is_nothing(value: object) -> bool:
    # Comparisons with pandas.NA are neither true nor false. NaN differs from itself.
    return value is None or str(value) == "<NA>" or value != value
