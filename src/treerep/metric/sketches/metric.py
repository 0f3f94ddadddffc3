"""MinHash sketches of unaligned genomes (Ondov et al. 2016)."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import check_choice, positive_number
from ..._core.io.genomes import fasta_pieces, genome_files, genome_name
from ..._core.parallel import run
from ..._core.progress import progress_bar
from .._compiled import CompiledMetric
from .._labels import labels_of
from .._undefined_pairs import SATURATED, new_number, register, warn_of_capped
from ..base import MetricError, check_labels, read_only
from ..oracle.classes import SketchOracle

_LARGEST_K = 32  # two bits per letter
_CAPPED = (
    "genomes have no k-mer in common or a distance above 1. Their distances are capped at 1: use a "
    "smaller k, or, to omit this warning, pass saturated='cap'"
)
_COUNTED = 1 << 30  # hashes that are compared for a warning, which takes about a second
_PIECE = 1 << 14  # letters hashed together; small, so that the first hashes soon set a limit
# 0 to 3 for A, C, G and T, 4 for all other characters
_CODES = np.full(256, 4, np.uint8)
for _code, _letters in enumerate((b"Aa", b"Cc", b"Gg", b"TtUu")):
    _CODES[list(_letters)] = _code
_CODES.flags.writeable = False

Genome = str | bytes | Sequence[str | bytes]
Name = str | PathLike[str]


class SketchMetric(CompiledMetric):
    """Mash distances between unaligned genomes, from sketches of their k-mers.

    The sketch of a genome consists of the smallest hashes of its k-mers. `SketchMetric.read`
    sketches files, and `SketchMetric.from_sequences` sketches strings.

    Parameters
    ----------
    sketches : list of uint64 arrays
        The distinct hashes of each genome, ascending.
    k : int
        Length of the k-mers.
    sketch_size : int
        Number of hashes of a sketch, s. A sketch with fewer hashes has all hashes of its genome.
    saturated : "cap" or "raise", optional
        What to do with a pair of genomes without a common hash. "cap" gives the distance 1, as
        Mash does, which is then also the largest distance of other pairs. "raise" raises a
        `MetricError` when the distance is read. By default, these distances are capped, and a
        warning says how many. Above 1,465 genomes (with 1,000 hashes), the warning counts a sample
        of the pairs.
    labels : sequence, optional
        Labels of the genomes.

    See Also
    --------
    CharacterMetric : Distances between rows of characters, such as alleles.
    fit : Fit a tree.

    Notes
    -----
    Let J be the share of common hashes among the s smallest hashes of both genomes. J estimates
    the Jaccard index of the two sets of k-mers, with a standard error of sqrt(J (1 - J) / s). The
    distance

        d = -ln(2 J / (1 + J)) / k

    estimates the number of mutations per site. It may violate the triangle inequality.

    A k-mer of up to 32 letters is a number with two bits per letter (A, C, G, T = 0 ... 3). The
    smaller of the numbers of a k-mer and of its reverse complement is hashed by one step of
    SplitMix64, which maps different k-mers to different hashes. K-mers with other characters are
    left out. Sketches of other programs use other hashes, and cannot be compared with these.

    Sketching reads a genome once. A distance takes O(s) time. Memory: 8 s bytes per genome.

    References
    ----------
    B. D. Ondov et al., Mash: fast genome and metagenome distance estimation using MinHash,
    Genome Biology 17 (2016)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> genome = "".join(rng.choice(list("ACGT"), 5000))
    >>> mutated = genome[:2500] + "ACGT" + genome[2500:]
    >>> m = SketchMetric.from_sequences([genome, mutated])
    >>> round(float(m.pairs(0, 1)), 4)
    0.0002
    """

    def __init__(
        self,
        sketches: Sequence[NDArray[np.uint64]],
        *,
        k: int = 21,
        sketch_size: int = 1000,
        saturated: str | None = None,
        labels: Sequence[object] | None = None,
    ) -> None:
        self.k = _checked_k(k)
        self.sketch_size = positive_number(sketch_size, "sketch_size")
        if saturated is not None:
            check_choice("saturated", saturated, SATURATED)
        self.saturated = saturated or "cap"
        if len(sketches) == 0:
            raise MetricError("there are no genomes: give at least one")
        self.labels = check_labels(labels, len(sketches))
        sizes = np.array([len(sketch) for sketch in sketches])
        if sizes.min() == 0:
            empty = int(sizes.argmin())
            name = empty if self.labels is None else repr(self.labels[empty])
            raise MetricError(
                f"genome {name} has no k-mer of length {k}, so its distances are undefined: drop it"
            )
        if sizes.max() > sketch_size:
            raise MetricError(
                f"sketch {sizes.argmax()} has {sizes.max():,} hashes: pass "
                f"sketch_size={sizes.max()}, or keep the {sketch_size:,} smallest hashes"
            )
        self._connect(sketches, sizes)
        if saturated is None:
            warn_of_capped(self.oracle, 1.0, sizes, _COUNTED // sketch_size, _CAPPED)

    @classmethod
    def from_sequences(
        cls,
        genomes: Iterable[Genome] | Mapping[Any, Genome],
        *,
        k: int = 21,
        sketch_size: int = 1000,
        saturated: str | None = None,
        labels: Sequence[object] | None = None,
        n_jobs: int | None = None,
    ) -> "SketchMetric":
        """Sketch genomes: strings, or lists of strings for genomes in several parts.

        Parameters
        ----------
        genomes : iterable, dict or Series of str, bytes, or lists of them
            The keys of a dict and the index of a pandas Series become labels.
        sketch_size : int
            Number of hashes to keep, s.
        k, saturated, labels
            As for the class.
        n_jobs : int, optional
            Number of threads; all cores by default.
        """
        _checked_k(k)
        size = positive_number(sketch_size, "sketch_size")
        labels = labels_of(genomes, labels)
        if isinstance(genomes, Mapping):
            genomes = genomes.values()

        def sketched(genome: Genome) -> NDArray[np.uint64]:
            parts = [genome] if isinstance(genome, str | bytes) else genome
            sketcher = _Sketcher(k, size)
            for part in parts:
                sketcher.begin()
                sketcher.add(part.encode() if isinstance(part, str) else part)
            return sketcher.hashes

        sketches = list(run(sketched, genomes, n_jobs))
        return cls(sketches, k=k, sketch_size=size, saturated=saturated, labels=labels)

    @classmethod
    def read(
        cls,
        paths: Name | Sequence[Name],
        *,
        k: int = 21,
        sketch_size: int = 1000,
        saturated: str | None = None,
        n_jobs: int | None = None,
    ) -> "SketchMetric":
        """Sketch genomes in FASTA files, which may be compressed with gzip.

        Parameters
        ----------
        paths : path or list of paths
            A folder or a list of files has one genome per file, named after the file. A single
            file has one genome per record, named by the first word of its header.
        k, sketch_size, saturated, n_jobs
            As for `from_sequences`.
        """
        _checked_k(k)
        size = positive_number(sketch_size, "sketch_size")
        given = [paths] if isinstance(paths, str | PathLike) else paths
        files = [file for path in given for file in genome_files(path)]
        if given is not paths and files == [Path(given[0])]:
            names, sketches = _sketch_records(files[0], k, size)
        else:
            names = [genome_name(file) for file in files]
            sketches = _sketch_files(files, k, size, n_jobs)
        return cls(sketches, k=k, sketch_size=size, saturated=saturated, labels=names)

    def __len__(self) -> int:
        return len(self.oracle.hashes)

    def _connect(self, sketches: Sequence[NDArray[np.uint64]], sizes: NDArray[np.int64]) -> None:
        """Make the oracle, and register the metric for errors."""
        n = len(sketches)
        number = new_number()
        hashes = np.full((n, sizes.max()), np.iinfo(np.uint64).max, np.uint64)
        for i, sketch in enumerate(sketches):
            given = np.asarray(sketch)
            if given.dtype != np.uint64 or given.ndim != 1 or (given[1:] <= given[:-1]).any():
                raise MetricError(f"sketch {i} must be an ascending uint64 array of distinct hashes")
            hashes[i, : len(given)] = given
        capped = int(self.saturated == "cap")
        about = np.empty((n, 6), np.int64)
        about[:] = number, 0, 0, self.k, capped, self.sketch_size
        about[:, 1] = np.arange(n)
        about[:, 2] = sizes
        self.oracle = SketchOracle(read_only(hashes), read_only(about))
        register(number, self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        register(int(self.oracle.about[0, 0]), self)


class _Sketcher:
    """The smallest distinct hashes of the k-mers of a genome that arrives in pieces."""

    def __init__(self, k: int, size: int) -> None:
        self.hashes = np.empty(0, np.uint64)
        self._k = k
        self._size = size
        self._limit = np.uint64(np.iinfo(np.uint64).max)
        self._state = np.zeros(2, np.uint64)
        self._run = np.zeros(1, np.int64)

    def begin(self) -> None:
        """Begin a new part of the genome. No k-mer spans two parts."""
        self._run[0] = 0

    def add(self, letters: bytes) -> None:
        """Add letters that follow the letters before."""
        from ._kmer_kernels import hash_kmers

        array = np.frombuffer(letters, np.uint8)
        out = np.empty(min(len(array), _PIECE), np.uint64)
        for start in range(0, len(array), _PIECE):
            piece = read_only(array[start : start + _PIECE])
            found = hash_kmers(piece, _CODES, self._k, self._limit, self._state, self._run, out)
            merged = np.unique(np.concatenate([self.hashes, out[:found]]))
            self.hashes = merged[: self._size].copy()
            if len(self.hashes) == self._size:
                self._limit = self.hashes[-1]


def _sketch_files(files: list[Path], k: int, size: int, n_jobs: int | None) -> list[NDArray[np.uint64]]:
    sketches = []
    with progress_bar(len(files), "sketches", "genomes") as bar:
        for sketch in run(lambda file: _sketch_file(file, k, size), files, n_jobs):
            sketches.append(sketch)
            bar.update()
    return sketches


def _sketch_file(path: Path, k: int, size: int) -> NDArray[np.uint64]:
    """Sketch all records of a file as the parts of one genome."""
    sketcher = _Sketcher(k, size)
    for label, letters in fasta_pieces(path):
        if label is None:
            sketcher.add(letters)
        else:
            sketcher.begin()
    return sketcher.hashes


def _sketch_records(path: Path, k: int, size: int) -> tuple[list[str], list[NDArray[np.uint64]]]:
    """Sketch each record of a file as a genome."""
    names: list[str] = []
    sketchers: list[_Sketcher] = []
    for label, letters in fasta_pieces(path):
        if label is None:
            sketchers[-1].add(letters)
        else:
            names.append(label)
            sketchers.append(_Sketcher(k, size))
    return names, [sketcher.hashes for sketcher in sketchers]


def _checked_k(k: int) -> int:
    length = positive_number(k, "k")
    if length > _LARGEST_K:
        raise ValueError(f"k must be from 1 to {_LARGEST_K}, not {k}")
    return length
