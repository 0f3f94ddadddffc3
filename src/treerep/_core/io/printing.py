"""Safe printing of text from files: control characters are escaped."""

import re

# Control characters, line ends, text-direction marks, and surrogates.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Escape characters that could change the state of a terminal, as `repr` does.

    >>> print(printable("a\x1b[2Jb\tc"))
    a\x1b[2Jb\tc
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
