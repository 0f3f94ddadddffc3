"""Aligned sequences as bit planes: 64 sites per word, one plane for each bit of a code.

Planes are padded to a multiple of eight words, which compiled code reads together.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import check_memory
from ..base import MetricError, read_only
from .alphabet import DNA, Alphabet, IllegalCharacterError, encode

_WORD = 64
_BLOCK = 512  # sites in eight words
_CHUNK = 1 << 24  # bits that are unpacked together

Sequences = Iterable[str | bytes] | NDArray[Any]


class PackedSequences(NamedTuple):
    """Aligned sequences.

    Row i of `planes` holds the words of plane 0 of sequence i, then those of plane 1, and so on.
    Bits beyond the last site are 0, which is the code of an unknown character.
    """

    planes: NDArray[np.uint64]
    sites: int
    alphabet: Alphabet


class Packer:
    """Pack sequences one by one. Memory: the packed sequences and one row."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.count = 0
        self.sites = 0
        self._first = ""
        self._rows = bytearray()

    def add(self, characters: NDArray[np.uint8], label: str) -> None:
        """Append a sequence, given as ASCII codes."""
        if len(characters) == 0:
            raise MetricError(f"sequence {label!r} is empty: remove it")
        if self.count == 0:
            self.sites = len(characters)
            self._first = label
        if len(characters) != self.sites:
            raise MetricError(
                f"sequence {label!r} has {len(characters):,} sites, but {self._first!r} has "
                f"{self.sites:,}: the sequences are not aligned: align them first, for example "
                "with MAFFT"
            )
        codes = encode(characters, label, self.alphabet)
        self._rows += _packed(codes[None, :], self.alphabet.planes).tobytes()
        self.count += 1

    def finish(self) -> PackedSequences:
        """Return the packed sequences."""
        words = np.frombuffer(self._rows, np.uint64)
        return PackedSequences(read_only(words.reshape(self.count, -1)), self.sites, self.alphabet)


def characters_of(sequences: Sequences) -> Iterator[NDArray[np.uint8] | str]:
    """Yield the rows of sequences as ASCII codes, or as text if a row is not ASCII."""
    for row in sequences:
        if isinstance(row, bytes | bytearray):
            yield np.frombuffer(bytes(row), np.uint8)
        elif isinstance(row, str):
            yield np.frombuffer(row.encode(), np.uint8) if row.isascii() else row
        elif isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind in "US":
            yield from characters_of([_joined(row)])
        elif isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype == np.uint8:
            yield row
        else:
            raise TypeError(
                "sequences must be a list of strings, or a table of characters or ASCII codes "
                f"(uint8), but row 0 or a later row is {type(row).__name__}"
            )


def _joined(row: NDArray[Any]) -> str | bytes:
    if row.dtype.kind == "S":
        # Empty cells become null characters, which are illegal.
        return row.astype("S1").tobytes()
    return "".join(cell or "\0" for cell in row.tolist())


def pack(sequences: Sequences, labels: Iterable[str], alphabet: Alphabet) -> PackedSequences:
    """Pack sequences that are in memory."""
    packer = Packer(alphabet)
    for row, label in zip(characters_of(sequences), labels, strict=True):
        packer.add(as_codes(row, label, alphabet), label)
    return packer.finish()


def as_codes(row: NDArray[np.uint8] | str, label: str, alphabet: Alphabet) -> NDArray[np.uint8]:
    """Return ASCII codes, or raise an error that names the first character that is not ASCII."""
    if isinstance(row, str):
        position = next(k for k, character in enumerate(row) if not character.isascii())
        raise IllegalCharacterError(label, position, row[position], alphabet)
    return row


def _packed(codes: NDArray[np.uint8], planes: int) -> NDArray[np.uint8]:
    """Return the bytes of the planes of some sequences, padded to whole blocks."""
    n, sites = codes.shape
    width = -(-sites // _BLOCK) * (_BLOCK // 8)
    rows = np.zeros((n, planes, width), np.uint8)
    for plane in range(planes):
        bits = np.packbits((codes >> plane) & 1, axis=1, bitorder="little")
        rows[:, plane, : bits.shape[1]] = bits
    return rows.reshape(n, -1)


def unpacked(packed: PackedSequences) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield the bits of some sequences at a time, (rows, planes, sites), and the first row."""
    planes = packed.alphabet.planes
    step = max(1, _CHUNK // (packed.planes.shape[1] * _WORD))
    for start in range(0, len(packed.planes), step):
        rows = packed.planes[start : start + step]
        bits = np.unpackbits(rows.view(np.uint8).reshape(len(rows), planes, -1), axis=2, bitorder="little")
        yield start, bits[:, :, : packed.sites]


def known_sites(packed: PackedSequences) -> NDArray[np.int64]:
    """Return the number of known characters of each sequence."""
    words = packed.planes.shape[1] // packed.alphabet.planes
    known: NDArray[np.int64] = np.bitwise_count(packed.planes[:, :words]).sum(axis=1, dtype=np.int64)
    return known


def base_frequencies(packed: PackedSequences) -> NDArray[np.float64]:
    """Return the frequencies of A, C, G and T among the known characters of all sequences."""
    assert packed.alphabet is DNA
    counts = np.zeros(4, np.int64)
    for _, bits in unpacked(packed):
        known, pyrimidine, second = bits[:, 0], bits[:, 1], bits[:, 2]
        # Unknown characters have no bits.
        both = int((pyrimidine & second).sum())
        c = int(pyrimidine.sum()) - both
        g = int(second.sum()) - both
        counts += [int(known.sum()) - c - g - both, c, g, both]
    return counts / max(1, int(counts.sum()))


def draw_sites(packed: PackedSequences, rng: np.random.Generator) -> PackedSequences:
    """Draw as many sites as there are, with replacement.

    Memory: a second copy of the packed sequences.
    """
    check_memory(packed.planes.nbytes, "a bootstrap sample of sites", "use fewer sequences")
    # Distances do not depend on the order of sites. Sorted sites are read faster.
    sites = np.sort(rng.integers(packed.sites, size=packed.sites))
    words = np.empty_like(packed.planes)
    planes = packed.alphabet.planes
    for start, bits in unpacked(packed):
        drawn = np.take(bits, sites, axis=2)
        codes = np.zeros((len(drawn), packed.sites), np.uint8)
        for plane in range(planes):
            codes |= drawn[:, plane] << plane
        words[start : start + len(drawn)] = _packed(codes, planes).view(np.uint64)
    return packed._replace(planes=read_only(words))
