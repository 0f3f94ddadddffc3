"""Text from a file on a terminal: control characters are shown, not obeyed."""

import re

# Control characters, ends of lines, marks that turn the direction of text around, and halves of
# pairs.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return a text with escapes for the characters that could change a terminal, as `repr` has them.

    >>> print(printable("a\x1b[2Jb\tc"))
    a\x1b[2Jb\tc
    """
    return _UNPRINTABLE.sub(
        lambda found: found[0].encode("unicode_escape").decode("ascii"), text
    )
