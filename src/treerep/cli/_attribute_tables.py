"""Tables of attributes of the points: names in the first column, a header above."""

import csv
from pathlib import Path
from typing import Any

import treerep as tr


def read_attributes(path: str, points: tr.Tree | tr.Embedding) -> dict[str, list[Any]]:
    """Return the columns of a CSV or TSV file, in the order of the points; empty cells are missing values.

    Rows are found by the name in their first cell. Points without names take the rows as they
    come.
    """
    delimiter = "\t" if Path(path).suffix.lower() in (".tsv", ".tab") else ","
    if Path(path).is_char_device() or Path(path).is_block_device():  # it may never end
        raise ValueError(f"{path} is a device: give a file")
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{path}: it is no table in UTF-8 ({error}): save it as CSV or TSV"
        ) from error
    if len(rows) < 2:
        raise ValueError(f"{path}: a table of attributes has a header and a row for each point")
    header, *body = rows
    for position, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path}: row {position} has {len(row)} cells, and the header has {len(header)}"
            )
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise ValueError(f"{path}: two columns are named {twice!r}: rename one")
    ordered, first = _in_order(path, body, points)
    return {
        name: _typed([row[k] for row in ordered]) for k, name in enumerate(header) if k >= first
    }


def _in_order(
    path: str, body: list[list[str]], points: tr.Tree | tr.Embedding
) -> tuple[list[list[str]], int]:
    """Return the rows of the points, and the number of the first column that is no name."""
    names = points.labels or tuple(map(str, range(len(points))))
    by_name = {row[0]: row for row in body}
    missing = [name for name in names if name not in by_name]
    if not missing and len(by_name) == len(body):
        return [by_name[name] for name in names], 1
    if points.labels is None and len(body) == len(points):
        return body, 0
    if not missing:
        twice = next(row[0] for k, row in enumerate(body) if row is not by_name[row[0]])
        raise ValueError(f"{path}: two rows are named {twice!r}: rename or remove one")
    raise ValueError(
        f"{path}: no row begins with {missing[0]!r}: the first column holds the names of the points"
    )


def _typed(cells: list[str]) -> list[Any]:
    """Whole numbers, or numbers, if all cells are such; otherwise text."""
    for convert in (int, float):
        try:
            return [convert(cell) if cell.strip() else None for cell in cells]
        except ValueError:
            continue
    return [cell if cell.strip() else None for cell in cells]
