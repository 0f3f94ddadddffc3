"""`read`: the distances, points or graph in a file become a Metric."""

import importlib
import os
from collections.abc import Sequence
from typing import Any

from ..metric.base import Metric
from ._errors import errors_named
from ._request import Request
from ._sniff import guess_format, is_zarr
from ._source import Source

#: The formats that `read` knows; each is described in docs/formats.md.
DATA_FORMATS = (
    "npy",
    "npz",
    "csv",
    "tsv",
    "phylip",
    "phylip-strict",
    "nexus",
    "h5ad",
    "mtx",
    "edges",
    "graphml",
    "zarr",
)

# The file of each format; every one of them has read(source, request), and some take one more
# option.
_HOMES: dict[str, tuple[str, dict[str, Any]]] = {
    "csv": ("table", {}),
    "tsv": ("table", {"delimiter": "\t"}),
    "edges": ("edges", {}),
    "mtx": ("matrix_market", {}),
    "phylip-strict": ("phylip", {"strict": True}),
}


def read(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    format: str | None = None,  # noqa: A002 - what everybody calls it
    metric: str | None = None,
    labels: Sequence[object] | None = None,
    symmetrize: str | None = None,
    weight: str | bool | None = None,
    largest_component: bool = False,
    use_rep: str | None = None,
) -> Metric:
    r"""Read a distance matrix, points or a graph from a file.

    Content and extension tell the format; gzip is undone. A table is distances if it is square
    once its names are taken off, and anything else needs `kind` (or `metric`).

    Parameters
    ----------
    path : str or path
        A file, a folder of zarr, or "-" for standard input.
    kind : "distances", "points" or "graph", optional
        What the file holds, where that cannot be told from its content.
    format : str, optional
        One of `DATA_FORMATS`, where it cannot be told from content and extension.
    metric : str, optional
        For points: one of PointMetric's metrics, "euclidean" by default. "precomputed" means
        distances.
    labels : sequence, optional
        Names of the points, in place of those in the file.
    symmetrize : "mean", optional
        For distances: average d(i, j) and d(j, i).
    weight : str or False, optional
        For a graph: the attribute of the edges of a GraphML file that holds their lengths,
        which are 1 otherwise; False counts edges where an edge list or a Matrix Market file has
        lengths.
    largest_component : bool
        For a graph: keep the largest connected component of a disconnected one.
    use_rep : str, optional
        For h5ad: the key in `obsm` of the coordinates to take, in place of X. For npz and zarr:
        the name of the array.

    Returns
    -------
    Metric
        With the names in the file as labels. The vertices of a graph come in the order of their
        numbers, or, if they have names, in that of the file.

    Notes
    -----
    An npy file is mapped, not read; of one of more than 1 GiB only the distances that are asked
    for are read. Text is parsed as it is read. What cannot fit into memory is refused before
    memory is taken. Every error is one line that names the file and, in texts, the line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("a,0,2\nb,2,0\n")
    ...     file.flush()
    ...     read(file.name).labels, read(file.name, kind="points")
    (('a', 'b'), PointMetric(2 points))
    """
    request = Request(kind, metric, labels, symmetrize, weight, largest_component, use_rep)
    if format is not None and format not in DATA_FORMATS:
        raise ValueError(f"format is one of {', '.join(DATA_FORMATS)}, not {format!r}")
    with errors_named(path):
        source = Source(path)
        if format in (None, "zarr") and is_zarr(source):
            return _read(source, "zarr", request)
        if not source.head:
            raise ValueError("it is empty: save it anew")
        return _read(source, format or guess_format(source, request.kind), request)


def _read(source: Source, name: str, request: Request) -> Metric:
    if request.use_rep is not None and name not in ("h5ad", "npz", "zarr"):
        raise ValueError(
            f"use_rep={request.use_rep!r} names an array of an h5ad or npz file, and this is {name}"
        )
    module, options = _HOMES.get(name, (name, {}))
    metric: Metric = importlib.import_module(f".data.{module}", __package__).read(
        source, request, **options
    )
    return metric
