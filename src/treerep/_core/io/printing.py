"""Print text from files safely: control characters are escaped."""

import re

# Control characters, line ends, marks of text direction, and surrogates.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Escape the characters of a text that could change a terminal, as `repr` does.

    >>> print(printable("a\x1b[2Jb\tc"))
    a\x1b[2Jb\tc
    """
    return _UNPRINTABLE.sub(
        lambda found: found[0].encode("unicode_escape").decode("ascii"), text
    )
