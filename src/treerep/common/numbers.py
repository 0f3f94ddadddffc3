"""Whole numbers from users."""

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
