"""Show the rows of `treerep compare` on the terminal and as CSV."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from .._core.io.printing import printable
from ..scores.lower_bounds.result import LowerBound
from ._bounds import bound_fields, bound_text
from ._outputs import console, format_number

Row = dict[str, Any]

# Name of a column, its title, and whether smaller values are better (None: not compared).
_Column = tuple[str, str, bool | None]
_COLUMNS: tuple[_Column, ...] = (
    ("distortion", "distortion", True),
    ("distortion_scaled", "optimal scale", True),
    ("map", "MAP", False),
    ("seconds", "seconds", True),
    ("nodes", "nodes", None),
)
_BOUND = ("lower_bound", "lower_bound_confidence")
_NAMES = ("method", *(name for name, *_ in _COLUMNS), "trials", "exact", "reason", *_BOUND)


def best_cells(rows: Sequence[Row]) -> set[tuple[int, str]]:
    """Return the row and column of each best value. Values equal up to rounding tie."""
    found = set()
    for name, _, less in _COLUMNS:
        values = [row.get(name) for row in rows]
        known = [value for value in values if value is not None]
        if less is None or not known:
            continue
        best = min(known) if less else max(known)
        rounding = 1e-9 * abs(best) + 1e-12
        found |= {
            (k, name) for k, value in enumerate(values) if value is not None and abs(value - best) <= rounding
        }
    return found


def print_table(rows: Sequence[Row], title: str, bound: LowerBound | None = None, *, stderr: bool) -> None:
    """Print the table and mark the best value of each column with a star."""
    best = best_cells(rows)
    failed = any("reason" in row for row in rows)
    table = Table()
    table.add_column("method", overflow="fold")  # wrap on narrow screens instead of truncating
    for _, heading, _ in _shown(rows):
        table.add_column(heading, justify="right", overflow="fold")
    if failed:
        table.add_column("error", overflow="fold")
    for k, row in enumerate(rows):
        cells = [_marked(_cell(row, name), (k, name) in best) for name, *_ in _shown(rows)]
        if failed:
            cells.append(escape(row.get("reason", "")))
        table.add_row(row["method"], *cells)
    screen = console(stderr=stderr)
    lines = [escape(printable(title)), table, caption(rows)]
    if bound:
        lines.append(_bound_note(bound))
    screen.print(*lines, sep="\n")


def _bound_note(bound: LowerBound) -> str:
    return f"no tree has a distortion below {bound_text(bound)}"


def caption(rows: Sequence[Row]) -> str:
    """Return the notes below the table."""
    notes = ["* best"]
    notes += [f"{row['method']}: best of {row['trials']} trees" for row in rows if row.get("trials", 1) > 1]
    if any(not row.get("exact", True) for row in rows):
        notes.append("scores estimated from sampled pairs")
    return "; ".join(notes)


def _shown(rows: Sequence[Row]) -> list[_Column]:
    """Return the columns to show. Only graphs have a mean average precision."""
    return [
        column for column in _COLUMNS if column[0] != "map" or any(row.get("map") is not None for row in rows)
    ]


def _cell(row: Row, name: str) -> str:
    value = row.get(name)
    if value is None:
        return "-"
    return f"{value:,}" if name == "nodes" else format_number(value, 3)


def _marked(text: str, best: bool) -> str:
    return f"[bold]{text} *[/bold]" if best else f"{text}  "


def as_csv(rows: Sequence[Row], bound: LowerBound | None = None) -> str:
    """Return the rows as CSV, with all digits of the numbers. Each row has the lower bound."""
    text = io.StringIO()
    table = csv.DictWriter(text, _NAMES, lineterminator="\n")
    table.writeheader()
    table.writerows({**row, **bound_fields(bound)} for row in rows)
    return text.getvalue()
