"""Several methods side by side: a row for each, a panel for each measure."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.checks import real_number
from ..._core.extras import require
from ._colors import PALETTE
from ._text import plain, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What each measure is called, whether less of it is better (None: neither is), and from which
#: ratio of the largest to the smallest value on its scale is logarithmic.
MEASURES: dict[str, tuple[str, bool | None, float]] = {
    "distortion": ("average distortion", True, 20.0),
    "map": ("mean average precision", False, math.inf),
    "seconds": ("seconds", True, 1.0),
    "nodes": ("nodes", None, 20.0),
}


def comparison_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    measures: Sequence[str] = ("distortion", "map", "seconds"),
    axes: "Sequence[Axes] | None" = None,
) -> "list[Axes]":
    """Draw how methods compare, as dots: the rows of `treerep compare`, the best of each measure in orange.

    Parameters
    ----------
    rows : sequence of mappings
        Each with "method" and numbers under the names of the measures; what is absent or not
        finite is left out.
    measures : sequence of str
        Of "distortion", "map", "seconds" and "nodes"; those of which no row has a number are
        left out. The scale of seconds is logarithmic, and so are those of distortions and nodes
        that are far apart.
    axes : sequence of matplotlib Axes, optional
        One for each measure that is drawn; a new figure by default.

    Returns
    -------
    list of Axes

    Examples
    --------
    >>> rows = [
    ...     {"method": "treerep", "distortion": 0.1, "seconds": 0.01},
    ...     {"method": "nj", "distortion": 0.08},
    ... ]
    >>> [panel.get_xlabel() for panel in comparison_chart(rows)]
    ['average distortion', 'seconds']
    """
    if not rows:
        raise ValueError("there are no rows to compare: give one for each method")
    for name in measures:
        if name not in MEASURES:
            raise ValueError(f"unknown measure {name!r}: choose of {', '.join(MEASURES)}")
    for k, row in enumerate(rows):
        if "method" not in row:
            raise ValueError(f"row {k} has no 'method': name one in each")
    table = {name: [_finite(row.get(name)) for row in rows] for name in measures}
    table = {name: values for name, values in table.items() if np.isfinite(values).any()}
    if not table:
        raise ValueError(f"no row has a number for {', '.join(measures)}: give at least one")
    methods = [plain(shortened(str(row["method"]))) for row in rows]
    panels = _new_panels(methods, len(table)) if axes is None else list(axes)
    if len(panels) != len(table):
        raise ValueError(
            f"{len(panels)} axes for {len(table)} measures ({', '.join(table)}): give one for each"
        )
    for k, (panel, (name, values)) in enumerate(zip(panels, table.items(), strict=True)):
        _draw_panel(panel, name, values, methods if k == 0 else None)
    return panels


def _finite(value: Any) -> float:
    number = real_number(value)
    return number if math.isfinite(number) else math.nan


def _new_panels(names: list[str], columns: int) -> "list[Axes]":
    size = max(1.2, 0.08 * max(map(len, names))) + 2.2 * columns, 0.9 + 0.28 * len(names)
    pyplot = require("matplotlib.pyplot", "draw")
    return list(
        pyplot.subplots(1, columns, figsize=size, layout="constrained", squeeze=False)[1][0]
    )


def _draw_panel(
    panel: "Axes", name: str, values: list[float], methods: list[str] | None
) -> None:
    title, less, ratio = MEASURES[name]
    height = -np.arange(len(values))
    best = None if less is None else np.nanmin(values) if less else np.nanmax(values)
    colors = [PALETTE[3] if value == best else PALETTE[0] for value in values]
    panel.hlines(
        height,
        0,
        1,
        transform=panel.get_yaxis_transform(),
        color="#E6E6E6",
        linewidth=0.8,
        zorder=0,
    )
    panel.scatter(values, height, c=colors, s=30, zorder=2, clip_on=False)
    if np.nanmin(values) > 0 and np.nanmax(values) >= ratio * np.nanmin(values):
        panel.set_xscale("log")
        decades = np.log10([np.nanmin(values), np.nanmax(values)])
        panel.set_xlim(
            10.0 ** np.floor(decades[0] - 0.1), 10.0 ** np.ceil(decades[1] + 0.1)
        )  # ticks at powers of ten
    elif np.nanmin(values) >= 0:
        panel.set_xlim(
            0.0, 1.0 if name == "map" else 1.08 * max(float(np.nanmax(values)), 1e-12)
        )
    panel.set_xlabel(title)
    panel.set_ylim(0.6 - len(values), 0.6)
    panel.set_yticks(
        height, methods if methods is not None else [""] * len(values), usetex=False
    )
    panel.tick_params(axis="y", length=0)
    panel.spines[["top", "right", "left"]].set_visible(False)
