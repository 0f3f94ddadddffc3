"""Data sets of the TreeRep paper and a few more, read from a folder on this machine."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metric.base import Metric
from ..metric.points import PointMetric

FOLDER_VARIABLE = "TREEREP_DATA"


class DataSet(NamedTuple):
    """A named metric with what is known about its points."""

    name: str
    metric: Metric
    classes: NDArray[np.str_] | None  # (n,) class of each point, where the source gives one
    citation: str


def load(name: str) -> DataSet:
    """Read a data set from the folder named by the environment variable TREEREP_DATA.

    Graphs with their shortest-path metric: celegans, diseasome, csphd, yeast, grid_worm, grqc, enron, wordnet.
    Cells with the Euclidean metric: zeisel and paul15 (of log(1 + counts)), cbmc (of raw counts, as in the paper),
    pbmc68k (of 50 principal components), krumsiek11 (simulated, of the values as they are).

    Raises
    ------
    ValueError
        If there is no data set of that name.
    FileNotFoundError
        If the folder or the file is missing; the message names it.
    """
    if name not in _SOURCES:
        raise ValueError(f"no data set is named {name!r}: choose one of {', '.join(_SOURCES)}")
    source = _SOURCES[name]
    metric, classes = source.read(_find(name, source.file))
    return DataSet(name, metric, classes, source.citation)


def _find(name: str, file: str) -> Path:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        raise FileNotFoundError(
            f"{name} is read from a folder, and none is named: set {FOLDER_VARIABLE} to the folder that holds {file}"
        )
    path = Path(folder) / file
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist: put {name} there, or correct {FOLDER_VARIABLE}")
    return path


Content = tuple[Metric, NDArray[np.str_] | None]


def _graph(path: Path) -> Content:
    """Read one edge `u v` a line, vertices numbered from 0."""
    from ..metric.graph import GraphMetric  # brings scipy.sparse, which the other data sets do without

    return GraphMetric(np.loadtxt(path, dtype=np.int64, ndmin=2)), None


def _cells(values: str, classes: str | None, *, log: bool = False) -> Callable[[Path], Content]:
    """Reader of an npz file: the array `values` holds the cells, the array `classes` their types."""

    def read(path: Path) -> Content:
        with np.load(path) as arrays:
            points = arrays[values]
            names = None if classes is None else arrays[classes].astype(str)
        if log:
            points = np.log1p(points.astype(np.float64))
        return PointMetric(points, "euclidean"), names

    return read


class _Source(NamedTuple):
    file: str
    read: Callable[[Path], Any]
    citation: str


_NETWORK_REPOSITORY = "Rossi and Ahmed, The Network Data Repository, AAAI 2015"

_SOURCES: dict[str, _Source] = {
    "celegans": _Source("graphs/celegan.edges.gz", _graph, f"Duch and Arenas 2005; {_NETWORK_REPOSITORY}"),
    "diseasome": _Source("graphs/diseasome.edges.gz", _graph, f"Goh et al., PNAS 104, 2007; {_NETWORK_REPOSITORY}"),
    "csphd": _Source("graphs/csphd.edges.gz", _graph, f"De Nooy et al. 2011; {_NETWORK_REPOSITORY}"),
    "yeast": _Source("graphs/yeast.edges.gz", _graph, f"Jeong et al., Nature 411, 2001; {_NETWORK_REPOSITORY}"),
    "grid_worm": _Source("graphs/grid_worm.edges.gz", _graph, _NETWORK_REPOSITORY),
    "grqc": _Source("graphs/grqc.edges.gz", _graph, "Leskovec, Kleinberg and Faloutsos, ACM TKDD 1, 2007"),
    "enron": _Source("graphs/enron.edges.gz", _graph, "Klimt and Yang 2004; Leskovec et al. 2009"),
    "wordnet": _Source("graphs/wordnet.edges.gz", _graph, "Miller, WordNet, Comm. ACM 38, 1995"),
    "zeisel": _Source(
        "single_cell/zeisel.npz", _cells("counts", "level1_name", log=True), "Zeisel et al., Science 347, 2015"
    ),
    "cbmc": _Source("single_cell/cbmc.npz", _cells("counts", "label_name"), "Stoeckius et al., Nat. Methods 14, 2017"),
    "paul15": _Source(
        "single_cell/paul15_tradeseq.npz", _cells("counts", "label_name", log=True), "Paul et al., Cell 163, 2015"
    ),
    "pbmc68k": _Source(
        "single_cell/pbmc68k_reduced.npz", _cells("X_pca", "label_name"), "Zheng et al., Nat. Commun. 8, 2017"
    ),
    "krumsiek11": _Source("single_cell/krumsiek11.npz", _cells("X", "trajectory"), "Krumsiek et al., PLoS ONE 6, 2011"),
}
