"""Text as it is: no mathematics between dollar signs, no warning about signs that the font does not have."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..._core.extras import require

#: Up to so many points have their names written without being asked for.
MOST_NAMES = 60
#: Signs in a line of a name, at most: longer ones would leave no room for the picture.
MOST_LETTERS = 45


def plain(text: object) -> str:
    r"""Return text that matplotlib shows sign by sign: `$` is escaped, what the font lacks becomes an empty box.

    Whoever writes it says usetex=False: TeX has more signs of its own.

    >>> plain("a$b$ c")
    'a\\$b\\$ c'
    """
    fonts = _fonts(tuple(require("matplotlib", "draw").rcParams["font.family"]))
    signs = (
        sign if sign == "\n" or _drawable(sign, fonts) else "\u25a1"
        for sign in str(text).replace("\t", " ")
    )
    return "".join(signs).replace("$", r"\$")


def _fonts(families: tuple[str, ...]) -> tuple[str, ...]:
    manager = require("matplotlib.font_manager", "draw")
    return tuple(
        manager.findfont(manager.FontProperties(family=[family])) for family in families
    )


@lru_cache(maxsize=4096)
def _drawable(sign: str, fonts: tuple[str, ...]) -> bool:
    manager = require("matplotlib.font_manager", "draw")
    return any(manager.get_font(font).get_char_index(ord(sign)) for font in fonts)


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN or the NA of pandas."""
    return value is None or (
        str(value) in ("nan", "NaN", "<NA>", "NaT") and not isinstance(value, str)
    )


def shortened(text: str, most: int = MOST_LETTERS) -> str:
    """Return lines of at most so many signs, the last of them an ellipsis where some are left out.

    >>> shortened("abcdef", 4)
    'abc…'
    """
    return "\n".join(
        line if len(line) <= most else f"{line[: most - 1]}…" for line in text.split("\n")
    )


def names_to_write(
    labels: Any, own: Sequence[str] | None, n_points: int, n_nodes: int
) -> dict[int, str]:
    """Return the text at each node that has one: see `draw`.

    Empty and missing names are not written.
    """
    if labels is None:
        labels = own is not None and n_points <= MOST_NAMES
    if isinstance(labels, bool | np.bool_):
        labels = () if not labels else (range(n_points) if own is None else own)
    elif isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise ValueError(f"labels is True, False, None or a sequence of names, not {labels!r}")
    elif len(labels) not in (n_points, n_nodes):
        raise ValueError(
            f"{len(labels)} labels for {n_points} points and {n_nodes} nodes: give one for each"
        )
    return {
        k: plain(shortened(str(name)))
        for k, name in enumerate(labels)
        if not is_missing(name) and str(name).strip()
    }
