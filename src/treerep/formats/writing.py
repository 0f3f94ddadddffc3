"""`write_distances`: write the distances of a metric to a file, a few rows at a time."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from ..metric.base import Metric
from ._target import open_target

_BLOCK = 1 << 20  # distances computed together
_EXTENSIONS = {
    ".npy": "npy",
    ".csv": "csv",
    ".tsv": "tsv",
    ".phy": "phylip",
    ".phylip": "phylip",
}
_SAMPLE = 1 << 12  # distances checked for repeated values
# Text files cannot contain null characters, and UTF-8 cannot encode surrogates.
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_FORMATS = tuple(dict.fromkeys(_EXTENSIONS.values()))


def write_distances(
    metric: Metric,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write all distances of a metric as a square table.

    Parameters
    ----------
    metric : Metric
        The distances, which are written in blocks of rows, so the table need not fit in memory.
    path : str or path
        A file, or "-" for standard output. If the name ends in .gz, the file is compressed.
    format : "npy", "csv", "tsv" or "phylip", optional
        By default the extension determines the format: .npy, .csv, .tsv, .phy or .phylip. npy files
        have no labels. csv and tsv files have labels in the first row and column, if there are
        labels. phylip files always have labels, or numbers in place of labels.

    See Also
    --------
    formats.read : Read a distance matrix.
    as_metric : Convert data to a metric.
    Tree.distances : Return the distances in a tree as an array.

    Notes
    -----
    O(n^2) time, and memory for a few rows. Numbers are written exactly. A file is never left
    incomplete.

    Examples
    --------
    >>> import treerep as tr
    >>> write_distances(tr.as_metric([[0, 2], [2, 0]], labels="ab"), "-", format="csv")
    ,a,b
    a,0.0,2.0
    b,2.0,0.0
    """
    plain = os.fspath(path).lower().removesuffix(".gz")
    name = format or _EXTENSIONS.get(Path(plain).suffix)
    if name not in _FORMATS:
        raise ValueError(
            f"distances cannot be written as {name or os.fspath(path)}: pass format= one of "
            f"{', '.join(_FORMATS)}"
        )
    head, names = ("", []) if name == "npy" else _text_names(metric, name)
    with open_target(path) as file:
        if name == "npy":
            _write_npy(metric, file)
        else:
            file.write(head.encode("utf-8"))
            _write_rows(metric, file, names, {"csv": ",", "tsv": "\t", "phylip": " "}[name])


def _write_rows(metric: Metric, file: IO[bytes], names: list[str], delimiter: str) -> None:
    for start, rows in _row_blocks(metric):
        for position, numbers in enumerate(_numerals(rows), start=start):
            line = delimiter.join([names[position], *numbers] if names else numbers)
            file.write(f"{line}\n".encode())


def _numerals(rows: NDArray[np.float64]) -> Iterator[list[str]]:
    """Yield each row as text. If values repeat, as in a graph, each value is converted once."""
    if len(np.unique(rows.flat[:_SAMPLE])) > _SAMPLE // 8:
        yield from ([repr(value) for value in row] for row in rows.tolist())
        return
    values, positions = np.unique(rows, return_inverse=True)
    texts = np.array([repr(value) for value in values.tolist()], object)
    for row in positions.reshape(rows.shape):
        yield texts[row].tolist()


def _row_blocks(metric: Metric) -> Iterator[tuple[int, NDArray[np.float64]]]:
    points = np.arange(len(metric))
    step = max(1, _BLOCK // len(metric))
    for start in range(0, len(metric), step):
        yield start, metric.block(points[start : start + step], points)


def _write_npy(metric: Metric, file: IO[bytes]) -> None:
    n = len(metric)
    header = {
        "descr": npy_format.dtype_to_descr(np.dtype(np.float64)),
        "fortran_order": False,
        "shape": (n, n),
    }
    npy_format.write_array_header_1_0(file, header)
    for _, rows in _row_blocks(metric):
        file.write(rows.data)


def _text_names(metric: Metric, name: str) -> tuple[str, list[str]]:
    """Return the text above the rows, and the label in front of each row, as written."""
    for label in metric.labels or ():
        if _UNWRITABLE.search(label):
            raise ValueError(
                f"the label {label!r} contains a null character or one that UTF-8 cannot encode: rename it"
            )
    if name == "phylip":
        names = list(metric.labels or map(str, range(len(metric))))
        for label in names:
            if not label or label.split() != [label]:
                raise ValueError(
                    f"the label {label!r} contains blanks, which PHYLIP does not allow: write csv instead"
                )
        return f"{len(metric)}\n", names
    if metric.labels is None:
        return "", []
    delimiter = "," if name == "csv" else "\t"
    names = [_quoted(label) for label in metric.labels]
    return delimiter + delimiter.join(names) + "\n", names


def _quoted(label: str) -> str:
    if not label or label != label.strip() or "\r" in label:
        raise ValueError(
            f"the label {label!r} is empty, starts or ends with a blank, or contains "
            "control characters: rename it"
        )
    # Quote cells that could be read as a delimiter or a comment.
    if not any(mark in label for mark in '\t;,"\n#'):
        return label
    return '"' + label.replace('"', '""') + '"'
