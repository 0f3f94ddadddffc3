"""`SequenceMetric`: evolutionary distances between aligned sequences."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import number_above
from ..._core.memory import check_memory
from ..._core.parallel import run
from .._compiled import CompiledMetric
from .._undefined_pairs import new_number, register
from ..base import MetricError, check_indices, check_labels, read_only
from ..oracle.classes import SequenceOracle
from .alphabet import ALPHABETS, detect
from .models import DEFAULT_MODELS, MODELS, Formula, constants
from .packing import (
    PackedSequences,
    Sequences,
    base_frequencies,
    characters_of,
    draw_sites,
    known_sites,
    pack,
)

SATURATED = ("error", "cap")
_SAMPLE = 1 << 16  # characters that determine the alphabet
_PAIRS = 1 << 20  # distances computed together


class SequenceMetric(CompiledMetric):
    """Evolutionary distances between aligned DNA or protein sequences, computed on request.

    Parameters
    ----------
    sequences : list of str or bytes, or (n, L) array
        Sequences of equal length. An array holds characters or their ASCII codes (uint8). Upper
        and lower case, and T and U, are the same. Sites where one of two sequences has a gap
        (``-``, ``.``, ``?``, ``~``), an ambiguous character (N, R, ...; X, B, Z, ...) or a stop
        (``*``) do not count for this pair (pairwise deletion).
    model : str, optional
        How distances follow from the differences between two sequences:

        - "p": proportion of sites that differ (DNA and proteins);
        - "jc69", "k2p", "f81", "f84", "tn93": DNA, with formulas of Jukes and Cantor (1969),
          Kimura (1980), Felsenstein (1981), Felsenstein and Churchill (1996), and Tamura and Nei
          (1993). The last three use the base frequencies of the whole alignment;
        - "logdet": DNA, for sequences whose base frequencies differ (Lockhart et al. 1994, with
          the correction for frequencies; equal to the paralinear distance of Lake 1994);
        - "poisson", "kimura": proteins, -ln(1 - p) and -ln(1 - p - p^2 / 5) (Kimura 1983).

        The default is "k2p" for DNA and "kimura" for proteins. Neither depends on the other
        sequences of the alignment.
    alphabet : "dna" or "protein", optional
        By default, the characters determine the alphabet. Sequences are DNA if at least 80% of
        their letters, apart from N and X, are A, C, G, T or U.
    gamma : float, optional
        Shape of the gamma distribution of rates over sites. By default, all sites have the same
        rate. Not for "p", "logdet" and "kimura".
    saturated : "error" or "cap"
        What to do with pairs that have no distance, because they are too different for the model
        or have no common site. "error" raises a `MetricError` when such a distance is read. "cap"
        replaces arguments of logarithms below 1 / 2L, half a site above 0, by 1 / 2L.
    labels : sequence, optional
        Labels of the sequences.

    Attributes
    ----------
    model, gamma, saturated
        The arguments, with defaults filled in.

    See Also
    --------
    formats.read : Read an alignment from a FASTA file.
    MatrixMetric : Distances that were computed by another program.
    fit : Fit a tree.

    Notes
    -----
    Memory: 3 bits per site of DNA and 6 bits per site of a protein, with sites rounded up to a
    multiple of 512, plus 150 bytes per sequence. A distance takes O(L) time. The matrix of
    distances is not stored, except by methods that need one, such as neighbor joining.

    Evolutionary distances may violate the triangle inequality.

    Examples
    --------
    >>> m = SequenceMetric(["ACGTACGTAC", "ACGTACGTAT", "ACGTTCGAAC"], "jc69")
    >>> m.pairs([0, 0], [1, 2]).round(4)
    array([0.1073, 0.2326])
    """

    def __init__(
        self,
        sequences: Sequences | PackedSequences,
        model: str | None = None,
        *,
        alphabet: str | None = None,
        gamma: float | None = None,
        saturated: str = "error",
        labels: Sequence[object] | None = None,
    ) -> None:
        check_names(model, alphabet, saturated)
        if isinstance(sequences, PackedSequences):
            packed = sequences
        else:
            packed = _pack(sequences, alphabet, labels)
        self.packed = packed
        self.labels = check_labels(labels, len(packed.planes))
        self.model = model or DEFAULT_MODELS[self.alphabet]
        check_model(self.model, self.alphabet, gamma)
        self.gamma = gamma
        self.saturated = saturated
        if saturated == "error":
            self._check_known_sites()
        self._number = new_number()
        self._connect()

    def __len__(self) -> int:
        return len(self.packed.planes)

    @property
    def sites(self) -> int:
        """Number of sites."""
        return self.packed.sites

    @property
    def alphabet(self) -> str:
        """The alphabet, "dna" or "protein"."""
        return self.packed.alphabet.name

    def distances(self, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the matrix of all distances, with nan for pairs that have no distance.

        Parameters
        ----------
        n_jobs : int, optional
            Number of threads; all cores by default.

        Returns
        -------
        (n, n) array
            Whatever `saturated` is, undefined distances are nan.
        """
        n = len(self)
        check_memory(8 * n * n, f"a matrix of {n:,} sequences", "use the metric itself")
        table = np.zeros((n, n))
        for first, rows in self._stripes(n_jobs):
            table[first : first + len(rows), first:] = rows
            table[first:, first : first + len(rows)] = rows.T
        return table

    def saturated_pairs(self, *, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return the pairs i < j of sequences that have no distance, as an (m, 2) array.

        Takes O(n^2 L) time, and memory for the pairs.

        Parameters
        ----------
        n_jobs : int, optional
            Number of threads; all cores by default.

        Returns
        -------
        (m, 2) array
            Numbers of the sequences, sorted.
        """
        found = [np.empty((0, 2), np.int64)]
        for first, rows in self._stripes(n_jobs):
            pairs = np.argwhere(np.isnan(rows)) + first
            found.append(pairs[pairs[:, 0] < pairs[:, 1]])
        return np.concatenate(found)

    def restrict(self, points: Iterable[int | str]) -> "SequenceMetric":
        """Return the metric of some sequences, in the given order.

        Base frequencies are those of the remaining sequences.

        Parameters
        ----------
        points : sequence of int or str
            Numbers or labels of the sequences.

        Returns
        -------
        SequenceMetric
            The same model and options.
        """
        numbers = check_indices(self._numbers(points), len(self))
        labels = None if self.labels is None else [self.labels[k] for k in numbers]
        planes = read_only(self.packed.planes[numbers])
        return self._with(self.packed._replace(planes=planes), labels)

    def resample(self, rng: np.random.Generator) -> "SequenceMetric":
        """Return the metric of a bootstrap sample: L sites, drawn with replacement.

        Base frequencies are those of the sample. The sequences and all options stay the same.
        """
        return self._with(draw_sites(self.packed, rng), self.labels)

    def _with(
        self, packed: PackedSequences, labels: Sequence[object] | None
    ) -> "SequenceMetric":
        """Return the metric of other sequences with the same options."""
        return SequenceMetric(
            packed, self.model, gamma=self.gamma, saturated=self.saturated, labels=labels
        )

    def _numbers(self, points: Iterable[int | str]) -> list[int]:
        """Return the numbers of sequences that are given by number or label."""
        points = list(points)
        index = {label: k for k, label in enumerate(self.labels or ())}
        missing = [point for point in points if isinstance(point, str) and point not in index]
        if missing:
            raise ValueError(f"there is no sequence {missing[0]!r}: use one of the labels")
        return [index[point] if isinstance(point, str) else point for point in points]

    def _stripes(self, n_jobs: int | None) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield the distances of some rows to the columns from the first row on."""
        from ..oracle.blocks import write_block

        n = len(self)
        oracle = self._oracle(np.nan)
        every = read_only(np.arange(n))
        step = max(1, _PAIRS // n)

        def stripe(first: int) -> tuple[int, NDArray[np.float64]]:
            rows = every[first : first + step]
            out = np.empty((len(rows), n - first))
            write_block(oracle, rows, every[first:], out)
            return first, out

        yield from run(stripe, range(0, n, step), n_jobs)

    def _check_known_sites(self) -> None:
        known = known_sites(self.packed)
        if known.min() == 0:
            empty = int(np.argmin(known))
            name = empty if self.labels is None else repr(self.labels[empty])
            raise MetricError(
                f"sequence {name} has no known character, so its distances are undefined: drop it"
            )

    def _connect(self) -> None:
        """Make the oracle, and register the metric for errors."""
        # Half a site above 0, or a negative number for an error.
        self.oracle = self._oracle(0.5 / self.sites if self.saturated == "cap" else -1.0)
        register(self._number, self)

    def _oracle(self, floor: float) -> SequenceOracle:
        n = len(self)
        formula = MODELS[self.model].formula
        if not isinstance(formula, Formula):
            formula = formula(base_frequencies(self.packed))
        row = constants(formula, self.packed.alphabet.planes, self.gamma, floor)
        origin = np.column_stack([np.full(n, self._number), np.arange(n)])
        return SequenceOracle(
            self.packed.planes, read_only(np.tile(row, (n, 1))), read_only(origin)
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "oracle"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        packed = self.packed
        alphabet = ALPHABETS[packed.alphabet.name]
        self.packed = packed._replace(planes=read_only(packed.planes), alphabet=alphabet)
        self._connect()


def check_names(model: str | None, alphabet: str | None, saturated: str) -> None:
    """Raise a ValueError for an unknown name."""
    if model is not None and model not in MODELS:
        raise ValueError(f"unknown model {model!r}: choose one of {', '.join(MODELS)}")
    if alphabet is not None and alphabet not in ALPHABETS:
        raise ValueError(f"alphabet must be one of {', '.join(ALPHABETS)}, got {alphabet!r}")
    if saturated not in SATURATED:
        raise ValueError(f"saturated must be one of {', '.join(SATURATED)}, got {saturated!r}")


def check_model(model: str, alphabet: str, gamma: float | None) -> None:
    """Raise a ValueError if a model does not apply to an alphabet, or gamma not to the model."""
    if alphabet not in MODELS[model].alphabets:
        names = [name for name, row in MODELS.items() if alphabet in row.alphabets]
        which = "proteins, not for DNA" if alphabet == "dna" else "DNA, not for proteins"
        raise ValueError(
            f"the model {model!r} is for {which}: choose one of {', '.join(names)}"
        )
    if gamma is None:
        return
    number_above(0, gamma, "gamma must be a number above 0")
    if not MODELS[model].gamma:
        raise ValueError(f"gamma={gamma!r} does not apply to the model {model!r}: leave it out")


def _pack(
    sequences: Sequences, alphabet: str | None, labels: Sequence[object] | None
) -> PackedSequences:
    if isinstance(sequences, str | bytes):
        raise TypeError(
            "sequences is one string: pass a list of strings, or read a file with formats.read"
        )
    rows = sequences if isinstance(sequences, np.ndarray) else list(sequences)
    if len(rows) == 0:
        raise MetricError("there are no sequences: give at least one")
    names = check_labels(labels, len(rows)) or map(str, range(len(rows)))
    return pack(rows, names, ALPHABETS[alphabet] if alphabet else detect(_sample(rows)))


def _sample(rows: Sequences) -> bytes:
    """Return the first characters of some sequences."""
    pieces: list[bytes] = []
    size = 0
    for row in characters_of(rows):
        piece = row.encode("ascii", "replace") if isinstance(row, str) else row.tobytes()
        pieces.append(piece[:_SAMPLE])
        size += len(piece)
        if size >= _SAMPLE:
            break
    return b"".join(pieces)
