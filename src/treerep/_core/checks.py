"""Argument checks. Each check raises an error that names the argument and its value.

Functions named `check_...` return nothing. The other functions return the value as a plain Python
number. NumPy is imported inside functions, so that the command line starts without NumPy.
"""

import math
import operator
from typing import SupportsFloat, SupportsIndex, TypeGuard


def integer_or_none(value: object) -> int | None:
    """Return an integer as an int, and None for anything else, including True.

    >>> integer_or_none(3), integer_or_none(3.0), integer_or_none(True)
    (3, None, None)
    """
    if type(value) is int:  # the check of a protocol takes microseconds
        return value
    # NumPy 2.0 still accepts its own booleans as integers, with a warning.
    is_bool = isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b"
    if is_bool or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array with several elements
        return None


def whole_number(value: object, name: str) -> int:
    """Return an integer as an int, or raise a TypeError.

    >>> whole_number(-3, "k")
    -3
    """
    number = integer_or_none(value)
    if number is None:
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    return number


def positive_number(value: object, name: str) -> int:
    """Return an integer of at least 1 as an int, or raise a ValueError.

    >>> positive_number(3, "trials")
    3
    """
    number = integer_or_none(value)
    if number is None or number < 1:
        raise ValueError(f"{name} must be a positive whole number, not {value!r}")
    return number


def real_number(value: object) -> float:
    """Return a number as a float, and nan for anything else (text, True, several numbers).

    Comparisons with nan are false, so checks of bounds reject nan.

    >>> real_number("1"), real_number(1)
    (nan, 1.0)
    """
    if isinstance(value, bool | str | bytes) or getattr(value, "ndim", 0) > 0:
        return math.nan
    if not isinstance(value, SupportsFloat | SupportsIndex):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def number_from(low: float, value: object, rule: str, high: float = math.inf) -> float:
    """Return a finite number between low and high, or raise a ValueError that states the rule.

    >>> number_from(0, 2, "size is a number of at least 0")
    2.0
    """
    number = real_number(value)
    if not low <= number <= high or number == math.inf:
        raise ValueError(f"{rule}, not {value!r}")
    return number


def number_above(low: float, value: object, rule: str) -> float:
    """Return a finite number above low, or raise a ValueError that states the rule.

    >>> number_above(0, 2, "rate must be a positive number")
    2.0
    """
    number = real_number(value)
    if not low < number < math.inf:
        raise ValueError(f"{rule}, not {value!r}")
    return number


def positive_scale(scale: object) -> float:
    """Return a scale as a float; the scale and its inverse must be positive and finite.

    >>> positive_scale(2)
    2.0
    """
    number = real_number(scale)
    if not 1e-300 < number < 1e300:
        raise ValueError(f"scale must be a positive number, not {scale!r}")
    return number


def tolerance_or_none(tol: object) -> float | None:
    """Return a tolerance as a float, and None for "auto".

    >>> tolerance_or_none(1), tolerance_or_none("auto")
    (1.0, None)
    """
    if isinstance(tol, str) and tol == "auto":
        return None
    if not _is_plain_number(tol) or not 0 <= float(tol) < math.inf:
        raise ValueError(f"tol must be a length of at least 0 or 'auto', not {tol!r}")
    return float(tol)


def check_between(name: str, value: object, low: float, high: float, bounds: str = "") -> None:
    """Raise a ValueError unless value is a number from low to high. `bounds` describes the range."""
    if not _is_plain_number(value) or not low <= value <= high:
        words = bounds or f"from {low:g} to {high:g}"
        raise ValueError(f"{name} must be a number {words}, not {value!r}")


def check_time_limit(time_limit: object) -> None:
    """Raise a ValueError unless time_limit is None or a positive number; inf is accepted."""
    if time_limit is not None and not (_is_plain_number(time_limit) and time_limit > 0):
        raise ValueError(f"time_limit must be a positive number of seconds or None, not {time_limit!r}")


def check_flag(name: str, value: object) -> None:
    """Raise a ValueError unless value is a Python or NumPy boolean."""
    import numpy as np

    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise a ValueError that lists the choices unless value is one of them."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def _is_plain_number(value: object) -> TypeGuard[float]:
    """Return whether value is a real Python or NumPy number, and not a boolean or an array."""
    import numpy as np

    numbers = int | float | np.integer | np.floating
    return isinstance(value, numbers) and not isinstance(value, bool)
