"""Comparison of methods: a row for each method, and a panel for each measure."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..._core.checks import real_number
from ..._core.extras import require
from ._colors import PALETTE
from ._figures import new_grid
from ._text import plain, truncated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: For each measure: its title, whether less is better (None: no value is the best), and the
#: ratio of the largest to the smallest value above which its scale is logarithmic.
MEASURES: dict[str, tuple[str, bool | None, float]] = {
    "distortion": ("average distortion", True, 20.0),
    "map": ("mean average precision", False, math.inf),
    "seconds": ("seconds", True, 1.0),
    "nodes": ("nodes", None, 20.0),
}


def comparison_chart(
    rows: Sequence[Mapping[str, object]],
    *,
    measures: Sequence[str] = ("distortion", "map", "seconds"),
    axes: "Sequence[Axes] | None" = None,
) -> "list[Axes]":
    """Draw the rows of `treerep compare` as dots, with the best value of each measure in orange.

    Parameters
    ----------
    rows : sequence of mappings
        Each has a "method" and a number for each measure. Values that are missing or not finite
        are skipped.
    measures : sequence of str
        Any of "distortion", "map", "seconds" and "nodes". Measures without numbers are skipped.
        The scale of seconds is logarithmic. The scales of distortion and nodes are logarithmic
        if the values differ widely.
    axes : sequence of matplotlib Axes, optional
        One set of axes for each measure drawn. By default a new figure is created.

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
        raise ValueError("no rows to compare: pass one row for each method")
    for name in measures:
        if name not in MEASURES:
            raise ValueError(f"unknown measure {name!r}: choose from {', '.join(MEASURES)}")
    for k, row in enumerate(rows):
        if "method" not in row:
            raise ValueError(f"row {k} has no 'method': add it")
    table = {name: [_finite(row.get(name)) for row in rows] for name in measures}
    table = {name: values for name, values in table.items() if np.isfinite(values).any()}
    if not table:
        raise ValueError(f"no row has a number for {', '.join(measures)}: at least one is needed")
    methods = [plain(truncated(str(row["method"]))) for row in rows]
    panels = _new_panels(methods, len(table)) if axes is None else list(axes)
    if len(panels) != len(table):
        raise ValueError(
            f"{len(panels)} axes do not match {len(table)} measures ({', '.join(table)}): pass one for each"
        )
    for k, (name, values) in enumerate(table.items()):
        names = methods if k == 0 else None
        _draw_panel(panels[k], name, values, names)
    judged = [panel for panel, name in zip(panels, table, strict=True) if MEASURES[name][1] is not None]
    if judged:
        judged[-1].set_title("orange: best", loc="right", fontsize=9, color=PALETTE[3])
    return panels


def _finite(value: object) -> float:
    number = real_number(value)
    return number if math.isfinite(number) else math.nan


def _new_panels(names: list[str], columns: int) -> "list[Axes]":
    beside = max(1.2, 0.08 * max(map(len, names)))
    return list(new_grid(1, columns, beside + 2.2 * columns, 0.9 + 0.28 * len(names))[0])


def _draw_panel(panel: "Axes", name: str, values: list[float], methods: list[str] | None) -> None:
    title, less, ratio = MEASURES[name]
    height = -np.arange(len(values))
    smallest = float(np.nanmin(values))
    largest = float(np.nanmax(values))
    best = None
    if less is not None:
        best = smallest if less else largest
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
    if smallest > 0 and largest >= ratio * smallest:
        panel.set_xscale("log")
        first = np.floor(np.log10(smallest) - 0.1)
        last = np.ceil(np.log10(largest) + 0.1)
        panel.set_xlim(10.0**first, 10.0**last)  # ticks at powers of ten
        # Labels between the powers of ten would overlap.
        panel.xaxis.set_minor_formatter(require("matplotlib.ticker", "draw").NullFormatter())
    elif smallest >= 0:
        panel.set_xlim(0.0, 1.0 if name == "map" else 1.08 * max(largest, 1e-12))
    panel.set_xlabel(title)
    panel.set_ylim(0.6 - len(values), 0.6)
    names = [""] * len(values) if methods is None else methods
    panel.set_yticks(height, names, usetex=False)
    panel.tick_params(axis="y", length=0)
    panel.spines[["top", "right", "left"]].set_visible(False)
