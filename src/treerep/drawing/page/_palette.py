"""Colors of the attributes of a page, in a light and a dark theme."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple, cast

from ..._core.extras import require
from ..figures._colors import PALETTE, Palette, category_colors, color_map, is_color_map

#: Palettes of both themes. Categories have the colors of `draw`. On a dark background, four of
#: them would be invisible and are lighter. All numeric colors of the light theme have a contrast
#: of at least 3 to white, those of the dark theme to the dark disk.
THEME_COLORS: dict[str, dict[str, list[str]]] = {
    "light": {
        "categories": list(PALETTE),
        "ramp": ["#3B1C71", "#3D4A94", "#2F6F8F", "#1F8078", "#3D8F4A", "#6F9420", "#999200"],
        "diverging": ["#1B4F9C", "#5A7CB0", "#949494", "#B06A3A", "#9C3A00"],
    },
    "dark": {
        "categories": [
            *PALETTE[:6],
            *("#962DFF", "#FFD2C3"),
            *PALETTE[8:10],
            *("#965A2D", "#B4F0F0"),
        ],
        "ramp": ["#7A5CC9", "#5B7FE0", "#3FA3CF", "#3CC0A4", "#7BD67A", "#C1E152", "#FBE94C"],
        "diverging": ["#6FB1FF", "#7F9CC4", "#80858F", "#C99562", "#FFAB4D"],
    },
}
_STOPS = 17  # colors sampled from a color map
_HEX = re.compile(r"#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?")


class Palettes(NamedTuple):
    """The palette of each column."""

    by_column: Mapping[str, Palette]
    common: Palette  # for the other columns that it fits
    first: str | None  # the column to color by, which must fit

    def categories(self, column: str, names: list[str]) -> list[str] | None:
        """Return the color of each category, or None for the default colors."""
        palette = self.by_column.get(column, self.common)
        if palette is None:
            return None
        if not self._must_fit(column) and not _fits(palette, names):
            return None
        return [_hex(color) for color in category_colors(names, palette)]

    def ramp(self, column: str) -> list[str] | None:
        """Return colors from low to high numbers, or None for the default colors."""
        palette = self.by_column.get(column, self.common)
        if palette is None or not (self._must_fit(column) or is_color_map(palette)):
            return None
        chosen = color_map(palette)
        return [_hex(chosen(k / (_STOPS - 1))) for k in range(_STOPS)]

    def _must_fit(self, column: str) -> bool:
        return column in self.by_column or column == self.first


def palettes(palette: object, columns: Collection[str], first: str | None) -> Palettes:
    """Return the palettes that `palette` of `page` specifies."""
    if isinstance(palette, Mapping) and palette and all(str(key) in columns for key in palette):
        return Palettes({str(key): value for key, value in palette.items()}, None, first)
    return Palettes({}, cast("Palette", palette), first)


def _fits(palette: Palette, names: list[str]) -> bool:
    if isinstance(palette, Mapping):
        return set(names) <= {str(name) for name in palette}
    return not is_color_map(palette)  # ramps are for numbers, and for the first column


def _hex(color: object) -> str:
    if isinstance(color, str) and _HEX.fullmatch(color):
        return color[:7].upper()
    try:
        found = require("matplotlib.colors", "draw").to_hex(color)
    except ValueError as error:
        raise ValueError(
            f"{color!r} in palette is not a color: use colors such as '#0072B2' or 'orange'"
        ) from error
    return str(found).upper()
