"""The distortion that no tree is below, beside the scores of `score` and `compare`."""

import treerep as tr

from ..refinement._candidates import exact_distortion
from ._outputs import format_number


def tree_bound(metric: tr.Metric, distortion: float, jobs: int | None) -> tr.LowerBound:
    """Return a lower bound for the distortion of all trees.

    If the known distortion of a tree is 0 up to rounding errors, no computation is needed.
    """
    if distortion <= exact_distortion(metric):
        return tr.LowerBound(0.0)
    return tr.lower_bound(metric, n_jobs=jobs)


def bound_text(bound: tr.LowerBound) -> str:
    """Return a bound with its confidence, unless it is certain.

    >>> bound_text(tr.LowerBound(0.0604, confidence=0.95))
    '0.0604 (95% confidence)'
    """
    number = format_number(float(bound))
    if bound.confidence == 1.0:
        return number
    return f"{number} ({bound.confidence:.0%} confidence)"


def bound_fields(bound: tr.LowerBound | None) -> dict[str, object]:
    """Return the fields for JSON and CSV. They are left out with --no-bound."""
    if bound is None:
        return {}
    return {"lower_bound": float(bound), "lower_bound_confidence": bound.confidence}
