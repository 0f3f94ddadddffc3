"""`SequenceMetric`: evolutionary distances between aligned sequences."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_flag, number_above
from ..._core.memory import check_memory
from .._compiled import CompiledMetric
from .._labels import is_frame, labels_of
from .._undefined_pairs import SATURATED, new_number, register, stripes, warn_of_capped
from ..base import MetricError, check_indices, check_labels, read_only
from ..oracle.classes import SequenceOracle
from .alphabet import ALPHABETS, Alphabet, detect
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

# Number of pairs, and of their sites, that are counted for a warning. Counting takes about a second.
_COUNTED_PAIRS = 1 << 22
_COUNTED_SITES = 1 << 34


class SequenceMetric(CompiledMetric):
    """Evolutionary distances between aligned DNA or protein sequences, computed on request.

    Parameters
    ----------
    sequences : list of str or bytes, (n, L) array, dict or Series
        Sequences of equal length. An array holds characters or their ASCII codes (uint8). The keys
        of a dict and the index of a pandas Series become labels. Upper and lower case, and T and
        U, are the same. Sites where one of two sequences has a gap
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
        By default, the model determines the alphabet if it has only one, and the characters do
        otherwise. Sequences are DNA if at least 80% of their letters are A, C, G, T or U. This
        share leaves out N, X and the letters that stand for an amino acid or for several bases
        (R, Y, S, W, K, M, B, D, H and V). A model that contradicts the characters raises an error.
    gamma : float, optional
        Shape of the gamma distribution of rates over sites. By default, all sites have the same
        rate. Not for "p", "logdet" and "kimura".
    saturated : "cap" or "raise", optional
        What to do with pairs that have no distance, because they are too different for the model
        or have no common site. "cap" replaces arguments of logarithms below 1 / 2L, half a site
        above 0, by 1 / 2L. "raise" raises a `MetricError` when such a distance is read. By
        default, these distances are capped, and a warning says how many. In large alignments, the
        warning counts a sample of the pairs: above 2,896 sequences of up to 4,096 sites, or 1,000
        sequences of 34,000 sites.
    missing : bool
        Whether pairs that have no distance are missing, instead of capped. See `MatrixMetric`.
    labels : sequence, optional
        Labels of the sequences.

    Attributes
    ----------
    model, gamma, saturated, missing
        The arguments, with defaults filled in.
    has_missing : bool
        Whether some pairs are missing.

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
        sequences: Sequences | Mapping[Any, str | bytes] | PackedSequences,
        model: str | None = None,
        *,
        alphabet: str | None = None,
        gamma: float | None = None,
        saturated: str | None = None,
        missing: bool = False,
        labels: Sequence[object] | None = None,
    ) -> None:
        check_names(model, alphabet, saturated, missing)
        if isinstance(sequences, PackedSequences):
            packed = sequences
        else:
            labels = labels_of(sequences, labels)
            packed = _pack(sequences, alphabet, model, labels)
        self.packed = packed
        self.labels = check_labels(labels, len(packed.planes))
        self.model = model or DEFAULT_MODELS[self.alphabet]
        check_model(self.model, packed.alphabet, gamma, chosen=alphabet is not None)
        self.gamma = gamma
        self.saturated = saturated or "cap"
        self.missing = missing
        self._number = new_number()
        self._find_missing()
        if saturated != "cap":
            known = self._known_sites()
            if saturated is None and not missing:
                most = min(_COUNTED_PAIRS, _COUNTED_SITES // self.sites)
                oracle = self._oracle(np.nan)
                warn_of_capped(oracle, np.inf, known, most, self._capped_text())
        self._connect()

    def __repr__(self) -> str:
        return f"SequenceMetric({len(self):,} points, {self.alphabet}, {self.model})"

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

    @property
    def formula(self) -> Formula:
        """Constants of the model."""
        formula = MODELS[self.model].formula
        return formula if isinstance(formula, Formula) else formula(base_frequencies(self.packed))

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

        Base frequencies are those of the sample. The sequences and the model stay the same. Pairs
        that have no distance in the sample are missing if some distances are missing in the data.
        Otherwise their distances are capped, so that a few unlucky sites do not stop a bootstrap.
        """
        packed = draw_sites(self.packed, rng)
        return self._with(packed, self.labels, saturated="cap", missing=self.has_missing)

    def _with(
        self, packed: PackedSequences, labels: Sequence[object] | None, **options: Any
    ) -> "SequenceMetric":
        """Return the metric of other sequences, with the same options unless others are given."""
        made = copy.copy(self)
        made.__dict__.update(packed=packed, labels=check_labels(labels, len(packed.planes)), **options)
        made._number = new_number()
        made._find_missing()
        made._connect()
        return made

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
        n = len(self)
        yield from stripes(self._oracle(np.nan), np.arange(n), n, n_jobs)

    def _find_missing(self) -> None:
        self.has_missing = self.missing and any(bool(np.isnan(rows).any()) for _, rows in self._stripes(None))

    def _known_sites(self) -> NDArray[np.int64]:
        """Return the number of known characters of each sequence, or raise an error if one is 0."""
        known = known_sites(self.packed)
        if known.min() == 0:
            empty = int(np.argmin(known))
            name = empty if self.labels is None else repr(self.labels[empty])
            raise MetricError(
                f"sequence {name} has no known character, so its distances are undefined: drop it"
            )
        return known

    def _connect(self) -> None:
        """Make the oracle, and register the metric for errors."""
        # Half a site above 0, or a negative number for an error.
        capped = self.saturated == "cap" and not self.missing
        self.oracle = self._oracle(0.5 / self.sites if capped else -1.0)
        self._with_nan = self._oracle(np.nan) if self.has_missing else self.oracle
        register(self._number, self)

    def _reading_oracle(self) -> SequenceOracle:
        """Return the oracle of `pairs` and `block`, which give NaN for a missing distance."""
        return self._with_nan

    def _capped_text(self) -> str:
        return (
            f"sequences have no {self.model} distance, because they are too different or have no "
            "common site. Their distances are capped: to use them as missing distances, pass "
            "missing=True; to omit this warning, pass saturated='cap'"
        )

    def _oracle(self, floor: float) -> SequenceOracle:
        n = len(self)
        row = constants(self.formula, self.packed.alphabet.planes, self.gamma, floor)
        origin = np.column_stack([np.full(n, self._number), np.arange(n)])
        return SequenceOracle(self.packed.planes, read_only(np.tile(row, (n, 1))), read_only(origin))

    def __getstate__(self) -> dict[str, Any]:
        oracles = ("oracle", "_with_nan")
        return {name: value for name, value in self.__dict__.items() if name not in oracles}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        packed = self.packed
        alphabet = ALPHABETS[packed.alphabet.name]
        self.packed = packed._replace(planes=read_only(packed.planes), alphabet=alphabet)
        self._connect()


def check_names(model: str | None, alphabet: str | None, saturated: str | None, missing: bool) -> None:
    """Raise a ValueError for an unknown name, or for options that exclude each other."""
    if model is not None and model not in MODELS:
        raise ValueError(f"unknown model {model!r}: choose one of {', '.join(MODELS)}")
    if alphabet is not None and alphabet not in ALPHABETS:
        raise ValueError(f"alphabet must be one of {', '.join(ALPHABETS)}, got {alphabet!r}")
    if saturated is not None and saturated not in SATURATED:
        raise ValueError(f"saturated must be one of {', '.join(SATURATED)}, got {saturated!r}")
    check_flag("missing", missing)
    if missing and saturated is not None:
        raise ValueError(
            f"saturated={saturated!r} does not apply if distances may be missing: "
            "leave out saturated or missing"
        )


def check_model(model: str, alphabet: Alphabet, gamma: float | None, *, chosen: bool = False) -> None:
    """Raise a ValueError if a model does not apply to an alphabet, or gamma not to the model.

    `chosen` tells that the alphabet was given, instead of detected.
    """
    if alphabet.name not in MODELS[model].alphabets:
        names = [name for name, row in MODELS.items() if alphabet.name in row.alphabets]
        (other,) = MODELS[model].alphabets
        found = "" if chosen else f", or pass alphabet={other!r} if these are not {alphabet.title}"
        raise ValueError(
            f"the model {model!r} is for {ALPHABETS[other].title}, not for {alphabet.title}: "
            f"choose one of {', '.join(names)}{found}"
        )
    if gamma is None:
        return
    number_above(0, gamma, "gamma must be a number above 0")
    if not MODELS[model].gamma:
        raise ValueError(f"gamma={gamma!r} does not apply to the model {model!r}: leave it out")


def choose_alphabet(
    alphabet: str | None, model: str | None, texts: Iterable[bytes | NDArray[np.uint8]]
) -> Alphabet:
    """Return the given alphabet, or else that of the model and of the text."""
    if alphabet is not None:
        return ALPHABETS[alphabet]
    return detect(texts, MODELS[model].alphabets if model else tuple(ALPHABETS))


def _pack(
    sequences: Any,
    alphabet: str | None,
    model: str | None,
    labels: Sequence[object] | None,
) -> PackedSequences:
    if isinstance(sequences, str | bytes):
        raise TypeError("sequences is one string: pass a list of strings, or read a file with formats.read")
    if isinstance(sequences, Mapping):
        sequences = sequences.values()
    elif is_frame(sequences):  # of characters; a missing one is not a character
        sequences = sequences.fillna("").to_numpy().astype(str)
    rows = sequences if isinstance(sequences, np.ndarray) else list(sequences)
    if len(rows) == 0:
        raise MetricError("there are no sequences: give at least one")
    names = check_labels(labels, len(rows)) or map(str, range(len(rows)))
    return pack(rows, names, choose_alphabet(alphabet, model, _texts(rows)))


def _texts(rows: Sequences) -> Iterator[bytes | NDArray[np.uint8]]:
    for row in characters_of(rows):
        yield row.encode("ascii", "replace") if isinstance(row, str) else row
