"""Compare a line of the documentation with the line that a program prints."""

import math
import re

#: A number with a decimal point, truncated by "…" or not; a size of a file; or "…" alone, which stands for any text.
_PIECE = re.compile(r"(-?\d+\.\d+(?:e[+-]?\d+)?…?|\b\d+(?= kB)|…)")
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
#: Seconds at the end of a line differ from run to run.
_FREE = re.compile(r"\b[\d.]+(?= s$)")


def is_printed(shown: str, printed: str) -> bool:
    """Return whether some part of `printed` reads as `shown`, its numbers compared as numbers.

    Programs print four significant digits of a score. Another CPU rounds differently far behind these, so that the
    fourth digit may be one more or one less. A number that ends in "…" must begin as shown. Whole numbers are text,
    apart from sizes of files, which may differ by a tenth.
    """
    pieces = _PIECE.split(_FREE.sub("…", shown))
    wanted = [piece for piece in pieces[1::2] if piece != "…"]
    pattern = "".join(
        (".*?" if piece == "…" else _NUMBER) if i % 2 else re.escape(piece) for i, piece in enumerate(pieces)
    )
    return any(
        all(_close(one, two) for one, two in zip(wanted, found.groups(), strict=True))
        for found in re.finditer(pattern, printed)
    )


def _close(shown: str, printed: str) -> bool:
    value = float(shown.rstrip("…"))
    if shown.isdigit():
        return abs(float(printed) - value) <= 0.1 * value
    if shown.endswith("…"):
        unit = 10.0 ** -len(shown.rstrip("…").partition(".")[2])
    else:
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - 3) if value else 0.0
    return abs(float(printed) - value) <= 1.001 * unit
