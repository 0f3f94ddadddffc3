"""What can be set of TreeRep, whoever runs it. Imports no compiled code, so that a device needs none."""

from typing import Any

import numpy as np

from .result import rounding_of

PIVOT_RULES = ("closest", "random", "near")  # in the order of the kernels' codes


def pivot_rule(pivot: Any) -> int:
    """The code of a rule by which a zone on an edge chooses its pivot."""
    if pivot not in PIVOT_RULES:
        raise ValueError(f"unknown pivot rule {pivot!r}: choose one of {', '.join(PIVOT_RULES)}")
    return PIVOT_RULES.index(pivot)


def given_tolerance(tol: Any) -> float | None:
    """The length below which a length is none, as the user gave it; None for "auto"."""
    if isinstance(tol, str) and tol == "auto":
        return None
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.number)) or not 0 <= float(tol) < np.inf:
        raise ValueError(f"tol is a length of at least 0 or 'auto', not {tol!r}")
    return float(tol)


def tolerance(metric: Any, given: float | None, largest: float) -> float:
    """That length, for distances of the first pivot up to `largest`.

    Automatic: the paper's 0.1 for whole-number distances; otherwise a few units in the last place of the largest one.
    """
    automatic = 0.1 if metric.integral else rounding_of(metric, largest)
    # "Closer than the tolerance" must hold for equal numbers, so it is never 0.
    return max(automatic if given is None else given, float(np.finfo(np.float64).tiny))
