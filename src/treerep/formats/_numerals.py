"""Parsing of rows of numbers, with errors that name the first cell that is not a number."""

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ._source import Line

# Possessive quantifiers (++, *+) make a cell that is not a number fail in linear time.
_NUMERAL = re.compile(r"[-+]?(?:(?:\d++\.?\d*+|\.\d++)(?:e[-+]?\d++)?|nan|inf|infinity)", re.IGNORECASE)
_MISSING = frozenset({"na", "n/a", "null", "none", "?", "-", "."})
# The markers that mean NaN in a distance matrix with missing distances. A dash may be a minus sign.
_NAN = frozenset({"", "na", "nan", "?"})
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")


def is_numeral(cell: str) -> bool:
    """Return whether a cell is a number or a marker for a missing number.

    >>> is_numeral("-1e5"), is_numeral("NA"), is_numeral("x1"), is_numeral("")
    (True, True, False, False)
    """
    return is_number(cell) or cell.lower() in _MISSING


def is_number(cell: str) -> bool:
    """Return whether NumPy accepts a cell as a number. `float` also accepts 1_000 and non-ASCII digits.

    >>> is_number("1e5"), is_number("1_000")
    (True, False)
    """
    return cell.isascii() and _NUMERAL.fullmatch(cell) is not None


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell would be a number if its comma were a decimal point.

    >>> has_decimal_comma("1,5"), has_decimal_comma("1,5,2")
    (True, False)
    """
    return _DECIMAL_COMMA.fullmatch(cell) is not None


def read_rows(
    rows: Sequence[Line], delimiter: str | None, width: int, missing: bool = False
) -> NDArray[np.float64]:
    """Return rows of `width` numbers as an array. Errors name the first bad line and cell.

    With `missing`, "NA", "?" and empty cells are read as NaN.

    >>> read_rows([(1, "0,2.5"), (2, "2.5,0")], ",", 2)
    array([[0. , 2.5],
           [2.5, 0. ]])
    >>> read_rows([(1, "0,NA,")], ",", 3, missing=True)
    array([[ 0., nan, nan]])
    """
    if missing:
        rows = [(number, _with_nan(text, delimiter)) for number, text in rows]
    texts = [text for _, text in rows]
    if not all(map(str.strip, texts)):  # NumPy skips empty lines
        _name_first_bad_cell(rows, delimiter, width, None)
    try:
        values: NDArray[np.float64] = np.loadtxt(
            texts, np.float64, comments=None, delimiter=delimiter, ndmin=2
        )
    except ValueError as error:
        _name_first_bad_cell(rows, delimiter, width, error)
    if values.shape != (len(rows), width):
        _name_first_bad_cell(rows, delimiter, width, None)
    return values


def _with_nan(text: str, delimiter: str | None) -> str:
    """Return a row with "nan" in place of the markers of missing numbers."""
    cells = [cell.strip() for cell in text.split(delimiter)]
    return (delimiter or " ").join("nan" if cell.lower() in _NAN else cell for cell in cells)


def _name_first_bad_cell(
    rows: Sequence[Line], delimiter: str | None, width: int, error: ValueError | None
) -> NoReturn:
    for number, text in rows:
        cells = text.split(delimiter)
        for cell in cells:
            if not is_number(cell.strip()):
                raise ValueError(f"line {number}: {bad_cell(cell.strip())}")
        if len(cells) != width:
            raise ValueError(f"line {number} has {len(cells)} numbers, expected {width}: correct it")
    raise ValueError(f"lines {rows[0][0]} to {rows[-1][0]} cannot be read: {error}")


def bad_cell(cell: str) -> str:
    """Describe the problem with a cell that is not a number.

    >>> bad_cell("1,5")
    "'1,5' has a decimal comma: write 1.5"
    """
    if not cell or cell.lower() in _MISSING:
        return (
            f"{cell!r} is a missing value: fill it in, remove points with missing values, or, "
            "if distances were not measured, write NaN and pass missing=True"
        )
    if has_decimal_comma(cell):
        return f"{cell!r} has a decimal comma: write {cell.replace(',', '.')}"
    shown = cell if len(cell) <= 40 else cell[:37] + "..."
    return f"{shown!r} is not a number: correct or remove it"
