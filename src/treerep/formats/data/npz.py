"""Reader for npz files: an array with or without labels, or a scipy sparse matrix."""

import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._core.io.arrays import read_array
from ..._core.memory import check_memory
from ...metric.base import Metric
from .._request import Request
from .._source import Source
from .npy import MAPPED, from_array

if TYPE_CHECKING:
    from scipy.sparse import sparray

LABELS = "labels"
_SPARSE = {"format", "shape", "data"}
_LABEL_BYTES = 100  # of memory per label, without its characters


def read(source: Source, request: Request) -> Metric:
    """Read the only array besides `labels`, or the array named by `use_rep`."""
    with source.open() as file, zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if "header" in members:
            raise ValueError("the file is a tree or an embedding, not data: load it as such")
        if members.keys() >= _SPARSE:
            return _sparse(archive, members, request)
        labels = _array(archive, members[LABELS]) if LABELS in members else None
        array = _array(archive, members[chosen(list(members), request.use_rep)])
    if labels is not None and labels.dtype.kind != "U":
        raise ValueError(f"the labels have dtype {labels.dtype}: save them as strings")
    return from_array(array, request, None if labels is None else strings(labels))


def strings(labels: NDArray[Any]) -> list[str]:
    """Return an array of labels as a list. Raise an error for invalid characters.

    >>> strings(np.array(["a", "bc"]))
    ['a', 'bc']
    """
    flat = np.ascontiguousarray(labels).reshape(-1)
    check_memory(_LABEL_BYTES * flat.size, f"{flat.size:,} labels", "leave them out")
    if flat.dtype.kind == "U" and flat.dtype.itemsize:
        codes = flat.view(np.dtype(np.uint32).newbyteorder(flat.dtype.byteorder))
        if codes.max(initial=0) > sys.maxunicode:
            raise ValueError(
                "the labels contain an invalid character: the file is damaged; download or export it again"
            )
    return [str(name) for name in flat.tolist()]


def chosen(names: list[str], use_rep: str | None) -> str:
    """Return the name of the array to use."""
    arrays = [name for name in names if name != LABELS]
    if use_rep is not None:
        if use_rep not in arrays:
            raise ValueError(f"the file has no array {use_rep!r}, only {', '.join(arrays) or 'none'}")
        return use_rep
    if len(arrays) != 1:
        raise ValueError(
            f"the file contains {', '.join(arrays[:10]) or 'no array'}: choose one array with use_rep="
        )
    return arrays[0]


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(info) as file:
        return read_array(file, info.file_size, MAPPED)


def _sparse(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], request: Request) -> Metric:
    """Return the graph, or on request the points, of a matrix saved by scipy."""
    import scipy.sparse as sp

    if request.kind == "distances":
        raise request.not_a("a sparse matrix")
    parts = {name: _array(archive, info) for name, info in members.items() if name != "_is_array"}
    kind = parts["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    shape = tuple(int(length) for length in parts["shape"].reshape(-1))
    check_sparse_memory(shape, len(parts["data"]))
    if kind == "coo":
        matrix = sp.coo_array((parts["data"], (parts["row"], parts["col"])), shape=shape)
    elif kind in ("csr", "csc"):
        make = sp.csr_array if kind == "csr" else sp.csc_array
        matrix = make((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    else:
        raise ValueError(
            f"the file contains a sparse matrix in the format {kind!r}: save it as csr, csc or coo"
        )
    return sparse_metric(matrix, request)


def check_sparse_memory(shape: tuple[int, ...], entries: int) -> None:
    """Raise an error if the graph of a sparse matrix does not fit in memory."""
    what = "a sparse matrix of " + " x ".join(f"{length:,}" for length in shape)
    check_memory(40 * (max(shape) + entries), what, "use a smaller part of it")


def sparse_metric(matrix: "sparray", request: Request) -> Metric:
    """Return the metric of a sparse matrix: a graph, or points on request."""
    if request.kind != "points":
        if request.weight is False:
            matrix = matrix.copy()
            matrix.data = np.ones(len(matrix.data))
        elif request.weight is not None:
            raise ValueError(
                f"weight={request.weight!r} does not apply to a sparse matrix, whose values "
                "are the lengths: leave it out"
            )
        return request.graph(matrix)
    rows, columns = matrix.shape
    remedy = "reduce the coordinates first, for example to 50 principal components"
    check_memory(
        rows * columns * matrix.dtype.itemsize,
        f"a table of {rows:,} x {columns:,} coordinates",
        remedy,
    )
    return request.points(matrix.toarray())
