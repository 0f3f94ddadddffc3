"""Validation of TreeRep's options. Shared by all backends.

This module does not import numba, because the torch backend runs without numba.
"""

from typing import Any, NamedTuple

import numpy as np

from ..._core.checks import tolerance_or_none
from .._distances import rounding_of

PIVOT_RULES = ("closest", "random", "near")  # in the order of the kernels' codes


class Choices(NamedTuple):
    """The options of TreeRep in the form that backends use."""

    tol: float | None  # None: "auto"
    rule: int  # index into PIVOT_RULES


def checked_choices(tol: float | str = "auto", pivot: str = "random") -> Choices:
    """Return the options of `treerep`, or raise a ValueError that names the invalid option."""
    if pivot not in PIVOT_RULES:
        raise ValueError(f"unknown pivot rule {pivot!r}: choose one of {', '.join(PIVOT_RULES)}")
    return Choices(tolerance_or_none(tol), PIVOT_RULES.index(pivot))


def tolerance(metric: Any, given: float | None, largest: float) -> float:
    """Return the length below which a length counts as zero.

    `largest` is the largest distance from the first pivot. By default the tolerance is the
    paper's 0.1 for whole-number distances, and otherwise a few units in the last place of
    `largest`.
    """
    automatic = 0.1 if metric.integral else rounding_of(metric, largest)
    # The tolerance is never 0, because "closer than the tolerance" must hold for equal numbers.
    return max(automatic if given is None else given, float(np.finfo(np.float64).tiny))
