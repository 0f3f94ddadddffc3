"""The characters of DNA and protein sequences, and their codes in bits.

The lowest bit of a code is 1 if the character is known. The other bits tell known characters
apart. Gaps and ambiguous characters have the code 0.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base import MetricError

_ILLEGAL = 255
_GAPS = "-.?~"
#: Purines differ from pyrimidines in bit 1. A base differs from its transition in bit 2 alone.
_BASES = {"A": 0b001, "G": 0b101, "C": 0b011, "T": 0b111, "U": 0b111}
_AMBIGUOUS_BASES = "RYSWKMBDHVNX"
_AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
#: B, Z and J stand for two amino acids, X for any; * is a stop; U and O are rare amino acids.
_AMBIGUOUS_AMINO_ACIDS = "BZJX*UO"
# Letters of amino acids that are not codes of DNA: a third of the letters of proteins.
_PROTEIN_ONLY = "EFILPQJOZ"
# Codes of several bases that are also amino acids. N and X mean an unknown character in both.
_SHARED_CODES = "RYSWKMBDHV"
# The smallest share of A, C, G, T and U among the letters of DNA. Proteins have about a quarter.
_DNA_SHARE = 0.8
_PIECE = 1 << 16  # characters that are counted together
_ENOUGH = 1 << 13  # letters that make the alphabet certain


class Alphabet(NamedTuple):
    """Characters and their codes."""

    name: str
    title: str  # in messages
    planes: int  # bits of a code
    codes: NDArray[np.uint8]  # code of each ASCII character


def _table(known: dict[str, int], unknown: str) -> NDArray[np.uint8]:
    codes = np.full(256, _ILLEGAL, np.uint8)
    for character, code in [*dict.fromkeys(unknown, 0).items(), *known.items()]:
        codes[ord(character)] = code
        codes[ord(character.lower())] = code
    codes.flags.writeable = False
    return codes


DNA = Alphabet("dna", "DNA", 3, _table(_BASES, _GAPS + _AMBIGUOUS_BASES))
PROTEIN = Alphabet(
    "protein",
    "proteins",
    6,
    _table(
        {letter: 1 + 2 * number for number, letter in enumerate(_AMINO_ACIDS)},
        _GAPS + _AMBIGUOUS_AMINO_ACIDS,
    ),
)
ALPHABETS = {alphabet.name: alphabet for alphabet in (DNA, PROTEIN)}


class IllegalCharacterError(MetricError):
    """A character that is not in the alphabet.

    Attributes
    ----------
    position : int
        Position in the sequence, from 0.
    """

    def __init__(self, label: str, position: int, character: str, alphabet: Alphabet) -> None:
        kind = "DNA" if alphabet is DNA else "protein"
        super().__init__(
            f"sequence {label!r} has {character!r} at position {position + 1}, which is not a "
            f"{kind} character: correct it"
        )
        self.position = position


def encode(characters: NDArray[np.uint8], label: str, alphabet: Alphabet) -> NDArray[np.uint8]:
    """Return the codes of the characters of a sequence."""
    codes: NDArray[np.uint8] = alphabet.codes[characters]
    if codes.size and codes.max() == _ILLEGAL:
        position = int(np.argmax(codes == _ILLEGAL))
        raise IllegalCharacterError(label, position, chr(characters[position]), alphabet)
    return codes


def detect(
    texts: Iterable[bytes | NDArray[np.uint8]], allowed: Sequence[str] = ("dna", "protein")
) -> Alphabet:
    """Return the alphabet of a text, given in pieces.

    Text is DNA if at least 80% of its letters are A, C, G, T or U. Unknown characters (N, X) and
    the letters that stand for an amino acid or for several bases (R, Y, ...) are not counted. The
    text is read until the alphabet is certain. `allowed` are the alphabets of the model. A model
    of one alphabet decides about a text that may be either.

    >>> detect([b"ACGTTNNN--ACGR"]).name, detect([b"MKV-LAAGIV"]).name
    ('dna', 'protein')
    >>> detect([b"RYSWKMACGT"]).name, detect([b"--XX"], ["protein"]).name
    ('dna', 'protein')
    """
    counts = np.zeros(256, np.int64)
    for text in texts:
        characters = text if isinstance(text, np.ndarray) else np.frombuffer(text, np.uint8)
        for start in range(0, len(characters), _PIECE):
            counts += np.bincount(characters[start : start + _PIECE], minlength=256)
            if _count(counts, "ACGTU" + _PROTEIN_ONLY) >= _ENOUGH:
                return _alphabet(counts, allowed)
    return _alphabet(counts, allowed)


def _alphabet(counts: NDArray[np.int64], allowed: Sequence[str]) -> Alphabet:
    bases = _count(counts, "ACGTU")
    others = _count(counts, _PROTEIN_ONLY)
    shared = _count(counts, _SHARED_CODES)
    if bases + others == 0 and (not shared or len(allowed) == 1):
        return ALPHABETS[allowed[0]]
    if bases < _DNA_SHARE * (bases + others) or bases == 0:
        return PROTEIN
    # The letters of a short or unusual protein may all be codes of DNA.
    is_certain = bases >= _DNA_SHARE * (bases + others + shared)
    return DNA if is_certain or "dna" in allowed else PROTEIN


def _count(counts: NDArray[np.int64], letters: str) -> int:
    return int(counts[list((letters + letters.lower()).encode())].sum())
