"""Plain text for matplotlib, without TeX and without characters that the font lacks."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..._core.extras import require

#: Labels are drawn by default for up to this many points.
MOST_LABELS = 60
#: Characters per line of a label. Longer lines would leave no space for the picture.
MOST_CHARACTERS = 45


def plain(text: object) -> str:
    r"""Return text that matplotlib shows character by character.

    `$` is escaped, and characters that the font lacks become empty boxes. Use with
    usetex=False, because TeX has more special characters.

    >>> plain("a$b$ c")
    'a\\$b\\$ c'
    """
    fonts = _fonts(tuple(require("matplotlib", "draw").rcParams["font.family"]))
    characters = (
        character if character == "\n" or _is_drawable(character, fonts) else "\u25a1"
        for character in str(text).replace("\t", " ")
    )
    return "".join(characters).replace("$", r"\$")


def _fonts(families: tuple[str, ...]) -> tuple[str, ...]:
    manager = require("matplotlib.font_manager", "draw")
    return tuple(manager.findfont(manager.FontProperties(family=[family])) for family in families)


@lru_cache(maxsize=4096)
def _is_drawable(character: str, fonts: tuple[str, ...]) -> bool:
    manager = require("matplotlib.font_manager", "draw")
    return any(manager.get_font(font).get_char_index(ord(character)) for font in fonts)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN or pandas NA."""
    return value is None or (str(value) in ("nan", "NaN", "<NA>", "NaT") and not isinstance(value, str))


def truncated(text: str) -> str:
    """Truncate each line to `MOST_CHARACTERS` characters, the last of which is an ellipsis."""
    return "\n".join(
        line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - 1]}…"
        for line in text.split("\n")
    )


def labels_to_write(
    labels: bool | str | Sequence[object] | None,
    default: Sequence[str] | None,
    n_points: int,
    n_nodes: int,
) -> dict[int, str]:
    """Return the text for each node that has a label: see `draw`.

    Empty and missing labels are skipped.
    """
    if labels is None:
        labels = default is not None and n_points <= MOST_LABELS
    texts: Sequence[object]
    if isinstance(labels, bool | np.bool_):
        texts = range(n_points) if default is None else default
        texts = texts if labels else ()
    elif isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise ValueError(
            f"labels must be True, False, None, 'support' or a sequence of texts, got {labels!r}"
        )
    elif len(labels) not in (n_points, n_nodes):
        raise ValueError(
            f"{len(labels)} labels do not match {n_points} points or {n_nodes} nodes: pass one label for each"
        )
    else:
        texts = labels
    return {
        node: plain(truncated(str(text)))
        for node, text in enumerate(texts)
        if not is_missing(text) and str(text).strip()
    }
