"""Markdown tables with numbers aligned to the right and the best values in bold."""

from collections.abc import Collection
from typing import Any

from ..common import cell


def table(columns: list[str], rows: list[list[Any]], *, left: Collection[int] = (0,)) -> str:
    """Return a Markdown table. Columns not listed in `left` are aligned to the right."""
    if not rows:
        return ""
    rule = "".join("---|" if k in left else "---:|" for k in range(len(columns)))
    lines = ["| " + " | ".join(columns) + " |", "|" + rule]
    return "\n".join([*lines, *("| " + " | ".join(map(cell, row)) + " |" for row in rows)])


def emphasize(rows: list[list[Any]], column: int, *, largest: bool = False) -> None:
    """Put the best number of a column in bold, in place. Entries that are not numbers stay."""
    numbers = {}
    for k, row in enumerate(rows):
        try:
            numbers[k] = float(str(row[column]).replace(",", ""))
        except ValueError:
            continue
    if len(numbers) < 2:
        return
    best = max(numbers.values()) if largest else min(numbers.values())
    for k, number in numbers.items():
        if number == best:
            rows[k][column] = f"**{rows[k][column]}**"
