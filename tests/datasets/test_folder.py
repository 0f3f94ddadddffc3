import gzip

import numpy as np
import pytest

from treerep.datasets import load
from treerep.datasets.folder import _SOURCES
from treerep.metric.graph import GraphMetric
from treerep.metric.points import PointMetric

# Vertices and edges as the paper's tables have them.
GRAPHS = {
    "celegans": (452, 2024),
    "diseasome": (516, 1188),
    "csphd": (1025, 1043),
    "yeast": (1458, 1948),
    "grid_worm": (3337, 6421),
    "grqc": (4158, 13422),
}
# Cells, coordinates, classes.
CELLS = {
    "zeisel": (3005, 4000, 7),
    "cbmc": (8617, 500, 13),
    "paul15": (2660, 240, 7),
    "pbmc68k": (700, 50, 10),
    "krumsiek11": (640, 11, 4),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name, data_folder):
    found = load(name)
    vertices, edges = GRAPHS[name]
    lines = gzip.decompress((data_folder / _SOURCES[name].file).read_bytes()).splitlines()
    assert len(lines) == edges
    assert isinstance(found.metric, GraphMetric)
    assert (found.name, len(found.metric), found.classes) == (name, vertices, None)
    u, v = (int(end) for end in lines[-1].split())
    assert found.metric.pairs(u, v) == 1


@pytest.mark.parametrize("name", CELLS)
def test_cells(name, data_folder):
    found = load(name)
    n, dim, classes = CELLS[name]
    assert isinstance(found.metric, PointMetric)
    assert found.metric.points.shape == (n, dim)
    assert found.classes.shape == (n,)
    assert len(set(found.classes.tolist())) == classes
    assert found.citation


def test_zeisel_is_the_log_of_counts(data_folder):
    counts = np.load(data_folder / "single_cell" / "zeisel.npz")["counts"]
    points = load("zeisel").metric.points
    assert points.dtype == np.float64
    assert np.allclose(points, np.log(1 + counts.astype(np.float64)), rtol=1e-15, atol=0)


def test_diameter_of_the_smallest_graph(data_folder):
    metric = load("celegans").metric
    assert metric.block(range(452), range(452)).max() == 7


def test_every_file_of_the_table_is_in_the_folder(data_folder):
    assert [source.file for source in _SOURCES.values() if not (data_folder / source.file).is_file()] == []


def test_unknown_name():
    with pytest.raises(ValueError, match="no data set is named 'zeisl': choose one of celegans, .*zeisel"):
        load("zeisl")


def test_folder_not_named(monkeypatch):
    monkeypatch.delenv("TREEREP_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"set TREEREP_DATA to the folder that holds graphs/yeast.edges.gz"):
        load("yeast")


def test_file_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"graphs/yeast.edges.gz does not exist"):
        load("yeast")
