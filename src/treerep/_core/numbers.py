"""Numbers from users."""

import math
import operator
from typing import Any


def positive_number(value: Any, name: str) -> int:
    """Return value as an int of at least 1 (NumPy's integers are welcome), or raise a ValueError that names it.

    >>> positive_number(3, "trials")
    3
    """
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"{name} must be a positive whole number, not {value!r}")
    return number


def real_number(value: Any) -> float:
    """Return a number as a float; what is none (text, True, several numbers) becomes nan, which no bounds admit.

    >>> real_number("1"), real_number(1)
    (nan, 1.0)
    """
    if isinstance(value, bool | str | bytes) or getattr(value, "ndim", 0) > 0:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
