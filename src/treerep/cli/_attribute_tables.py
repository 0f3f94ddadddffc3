"""Read attributes of points from tables with a header and labels in the first column."""

import csv
from pathlib import Path

import treerep as tr


def read_attributes(path: str, points: tr.Metric) -> dict[str, list[object]]:
    """Return the columns of a CSV or TSV file, in the order of the points.

    Rows are matched by the label in their first cell. If the points have no labels, rows are
    matched by position. Empty cells are missing values.
    """
    header, body = _read_table(path)
    rows, first = _match_rows(path, body, points)
    return {name: _typed([row[k] for row in rows]) for k, name in enumerate(header) if k >= first}


def _read_table(path: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows below it."""
    delimiter = "\t" if Path(path).suffix.lower() in (".tsv", ".tab") else ","
    if Path(path).is_char_device() or Path(path).is_block_device():  # reading might never end
        raise ValueError(f"{path} is a device: name a regular file")
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is not a UTF-8 table ({error}): save it as CSV or TSV") from error
    if len(rows) < 2:
        raise ValueError(f"{path}: the table is empty: add a header and a row for each point")
    header, *body = rows
    for position, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path}: row {position} has {len(row)} cells, but the header has {len(header)}: "
                "add or remove cells"
            )
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise ValueError(f"{path}: two columns are named {twice!r}: rename one of them")
    return header, body


def _match_rows(path: str, body: list[list[str]], points: tr.Metric) -> tuple[list[list[str]], int]:
    """Return the rows of the points, and the index of the first attribute column."""
    labels = points.labels or tuple(map(str, range(len(points))))
    by_label = {row[0]: row for row in body}
    missing = [label for label in labels if label not in by_label]
    if not missing and len(by_label) == len(body):
        return [by_label[label] for label in labels], 1
    if points.labels is None and len(body) == len(points):
        return body, 0
    if not missing:
        twice = next(row[0] for row in body if row is not by_label[row[0]])
        raise ValueError(f"{path}: two rows have the label {twice!r}: rename or remove one of them")
    raise ValueError(f"{path}: no row starts with {missing[0]!r}: put the labels into the first column")


def _typed(cells: list[str]) -> list[object]:
    """Convert cells to integers or floats if all of them are numbers; keep text otherwise."""
    for convert in (int, float):
        try:
            return [convert(cell) if cell.strip() else None for cell in cells]
        except ValueError:
            continue
    return [cell if cell.strip() else None for cell in cells]
