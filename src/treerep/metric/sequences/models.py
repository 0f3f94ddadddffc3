"""Models of evolution, as the constants of one formula.

Let P1, P2 and Q be the proportions of A-G differences, of C-T differences and of transversions
among the common sites of two sequences. (For proteins, Q is the proportion of all differences.)
All models here except LogDet have distances of the form

    d = sum over m of  weight[m] * g(1 - slope[m] . (P1, P2, Q) - square * Q^2),

with g(w) = -ln w. If the rates of sites have a gamma distribution of shape a, then
g(w) = a (w^(-1/a) - 1). For the p-distance, g(w) = 1 - w.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Ways to evaluate a distance, in the order of the constants of `oracle/sequence_kernels.py`.
LINEAR, LOGARITHM, LOGDET = range(3)


class Formula(NamedTuple):
    """The constants of a model."""

    kind: int
    weights: list[float]
    slopes: list[list[float]]  # one row (P1, P2, Q) per weight
    square: float = 0.0


class Model(NamedTuple):
    """A model, the alphabets that it applies to, and whether rates of sites may vary."""

    alphabets: tuple[str, ...]
    # the constants, or a function of the frequencies of A, C, G and T
    formula: Formula | Callable[[NDArray[np.float64]], Formula]
    gamma: bool = True


# d = p, the proportion of sites that differ.
_P = Formula(LINEAR, [1.0], [[1.0, 1.0, 1.0]])

# Jukes and Cantor (1969): d = -3/4 ln(1 - 4/3 p).
_JC69 = Formula(LOGARITHM, [0.75], [[4 / 3, 4 / 3, 4 / 3]])

# Kimura (1980): d = -1/2 ln(1 - 2P - Q) - 1/4 ln(1 - 2Q).
_K2P = Formula(LOGARITHM, [0.5, 0.25], [[2.0, 2.0, 1.0], [0.0, 0.0, 2.0]])

# Lockhart et al. (1994), Lake (1994). See `oracle/sequence_kernels.py`.
_LOGDET = Formula(LOGDET, [0.25], [[0.0, 0.0, 0.0]])

# Zuckerkandl and Pauling (1965): d = -ln(1 - p).
_POISSON = Formula(LOGARITHM, [1.0], [[0.0, 0.0, 1.0]])

# Kimura (1983): d = -ln(1 - p - p^2 / 5), which approximates the PAM matrices of Dayhoff.
_KIMURA = Formula(LOGARITHM, [1.0], [[0.0, 0.0, 1.0]], square=0.2)


def _f81(frequencies: NDArray[np.float64]) -> Formula:
    # Felsenstein (1981), Tajima and Nei (1984): d = -E ln(1 - p / E) with E = 1 - sum f^2.
    different = 1.0 - float((frequencies**2).sum())
    if different <= 0.0:  # one base only, so no sites differ
        return Formula(LOGARITHM, [], [])
    return Formula(LOGARITHM, [different], [[1.0 / different] * 3])


def _f84(frequencies: NDArray[np.float64]) -> Formula:
    # Felsenstein and Churchill (1996), in the notation of McGuire et al. (1999):
    #   d = -2A ln(1 - P / 2A - (A - B) Q / 2AC) - 2 (B + C - A) ln(1 - Q / 2C)
    # with A = fA fG / fR + fC fT / fY, B = fA fG + fC fT, C = fR fY.
    a, c, g, t = map(float, frequencies)
    r = a + g
    y = c + t
    big_a = _ratio(a * g, r) + _ratio(c * t, y)
    big_b = a * g + c * t
    big_c = r * y
    weights = []
    slopes = []
    if big_a > 0.0:
        weights.append(2.0 * big_a)
        p = 0.5 / big_a
        slopes.append([p, p, _ratio((big_a - big_b) * p, big_c)])
    if big_c > 0.0:
        weights.append(2.0 * (big_b + big_c - big_a))
        slopes.append([0.0, 0.0, 0.5 / big_c])
    return Formula(LOGARITHM, weights, slopes)


def _tn93(frequencies: NDArray[np.float64]) -> Formula:
    # Tamura and Nei (1993), with k1 = 2 fA fG / fR and k2 = 2 fC fT / fY:
    #   d = -k1 ln(1 - P1 / k1 - Q / 2fR) - k2 ln(1 - P2 / k2 - Q / 2fY)
    #       - (2 fR fY - k1 fY - k2 fR) ln(1 - Q / (2 fR fY)).
    a, c, g, t = map(float, frequencies)
    r = a + g
    y = c + t
    k1 = _ratio(2.0 * a * g, r)
    k2 = _ratio(2.0 * c * t, y)
    weights = []
    slopes = []
    # A pair of bases that does not occur has no differences, so its term is 0.
    if k1 > 0.0:
        weights.append(k1)
        slopes.append([1.0 / k1, 0.0, 0.5 / r])
    if k2 > 0.0:
        weights.append(k2)
        slopes.append([0.0, 1.0 / k2, 0.5 / y])
    if r * y > 0.0:
        weights.append(2.0 * r * y - k1 * y - k2 * r)
        slopes.append([0.0, 0.0, 0.5 / (r * y)])
    return Formula(LOGARITHM, weights, slopes)


def _ratio(x: float, y: float) -> float:
    return x / y if y > 0.0 else 0.0


_DNA = ("dna",)
_PROTEIN = ("protein",)
MODELS = {
    "p": Model(_DNA + _PROTEIN, _P, gamma=False),
    "jc69": Model(_DNA, _JC69),
    "k2p": Model(_DNA, _K2P),
    "f81": Model(_DNA, _f81),
    "f84": Model(_DNA, _f84),
    "tn93": Model(_DNA, _tn93),
    "logdet": Model(_DNA, _LOGDET, gamma=False),
    "poisson": Model(_PROTEIN, _POISSON),
    "kimura": Model(_PROTEIN, _KIMURA, gamma=False),
}
#: The model of an alphabet if none is given.
DEFAULT_MODELS = {"dna": "k2p", "protein": "kimura"}

_TERMS = 3


def constants(formula: Formula, planes: int, gamma: float | None, floor: float) -> NDArray[np.float64]:
    """Return the constants as the row of numbers that compiled code reads.

    `planes` is the number of bits of a character, and `floor` the smallest allowed argument of g.
    For smaller arguments, a floor of nan gives nan, and a negative floor raises an error.
    """
    missing = _TERMS - len(formula.weights)
    weights = formula.weights + [0.0] * missing
    slopes = np.ravel([*formula.slopes, *[[0.0] * 3] * missing])
    return np.array(
        [formula.kind, planes, gamma or 0.0, floor, formula.square, *weights, *slopes],
        np.float64,
    )
