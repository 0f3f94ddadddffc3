"""Hashes of the k-mers of a genome."""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_TWO = np.uint64(2)
_THREE = np.uint64(3)


@helper
def mix(word: Any) -> Any:
    """Return the hash of a word: one step of SplitMix64 (Steele et al. 2014), a bijection."""
    word = word + _GAMMA
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def hash_kmers(letters: Any, code_of: Any, k: int, limit: Any, state: Any, run: Any, out: Any) -> int:
    """Write the hashes below a limit of all k-mers that end in a piece of a genome.

    A k-mer and its reverse complement have the same hash, that of the smaller word. K-mers with
    other characters than A, C, G and T are left out.

    Parameters
    ----------
    letters : (m,) uint8, ASCII codes
    code_of : (256,) uint8, 0 to 3 for A, C, G and T, 4 for other characters
    k : from 1 to 32
    limit : uint64, hashes above it are left out
    state : (2,) uint64, the words of the last k letters and of their reverse complement; updated
    run : (1,) int64, the number of known letters before this piece; updated
    out : (m,) uint64, written

    Returns
    -------
    int
        Number of hashes written.
    """
    top = np.uint64(2 * (k - 1))
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - 2 * k)
    forward = state[0]
    backward = state[1]
    known = run[0]
    found = 0
    for p in range(len(letters)):
        code = np.uint64(code_of[letters[p]])
        if code > _THREE:
            known = 0
            continue
        forward = ((forward << _TWO) | code) & mask
        backward = (backward >> _TWO) | ((_THREE ^ code) << top)
        known += 1
        if known >= k:
            word = mix(min(forward, backward))
            if word <= limit:
                out[found] = word
                found += 1
    state[0] = forward
    state[1] = backward
    run[0] = known
    return found
