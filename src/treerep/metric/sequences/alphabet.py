"""The characters of DNA and protein sequences, and their codes in bits.

The lowest bit of a code is 1 if the character is known. The other bits tell known characters
apart. Gaps and ambiguous characters have the code 0.
"""

from typing import Any, NamedTuple

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
# The smallest share of A, C, G, T and U among the known characters of DNA. Proteins have about
# a quarter.
_DNA_SHARE = 0.8


class Alphabet(NamedTuple):
    """Characters and their codes."""

    name: str
    planes: int  # bits of a code
    codes: NDArray[np.uint8]  # code of each ASCII character


def _table(known: dict[str, int], unknown: str) -> NDArray[np.uint8]:
    codes = np.full(256, _ILLEGAL, np.uint8)
    for character, code in [*dict.fromkeys(unknown, 0).items(), *known.items()]:
        codes[ord(character)] = code
        codes[ord(character.lower())] = code
    codes.flags.writeable = False
    return codes


DNA = Alphabet("dna", 3, _table(_BASES, _GAPS + _AMBIGUOUS_BASES))
PROTEIN = Alphabet(
    "protein",
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


def detect(characters: bytes) -> Alphabet:
    """Return the alphabet of a sample of characters.

    Text is DNA if at least 80% of its letters, apart from N and X, are A, C, G, T or U.

    >>> detect(b"ACGTTNNN--ACGR").name, detect(b"MKV-LAAGIV").name
    ('dna', 'protein')
    """
    counts: Any = np.bincount(np.frombuffer(characters.upper(), np.uint8), minlength=256)
    letters = sum(int(counts[ord(c)]) for c in "ABCDEFGHIJKLMOPQRSTUVWYZ")
    bases = sum(int(counts[ord(base)]) for base in _BASES)
    return DNA if bases >= _DNA_SHARE * letters else PROTEIN
