"""npy and npz: mapped where that is possible, refused where the header promises too much."""

import gzip
import io
import re

import numpy as np
import pytest
import scipy.sparse as sp

import treerep as tr
from tests.formats.files import SQUARE, distances, read
from treerep import formats
from treerep.metric.graph import GraphMetric
from treerep.metric.matrix import MatrixMetric


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_a_square_is_distances_and_stays_on_disk(tmp_path):
    np.save(tmp_path / "d.npy", SQUARE.astype(np.float32))
    metric = formats.read(tmp_path / "d.npy")
    assert isinstance(metric, MatrixMetric)
    base = metric.distances
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert metric.distances.dtype == np.float32


def test_the_content_counts_and_not_the_name(tmp_path):
    assert isinstance(read(tmp_path, npy(SQUARE), "d.csv"), MatrixMetric)
    assert isinstance(read(tmp_path, gzip.compress(npy(SQUARE)), "d.npy.gz"), MatrixMetric)


def test_points_vectors_and_edges(tmp_path):
    points = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(read(tmp_path, npy(points), metric="euclidean").points, points)
    with pytest.raises(
        ValueError,
        match="an array of 4 x 2 is not a square distance matrix: for points pass kind='points'",
    ):
        read(tmp_path, npy(points + 0.5))
    edges = "4 x 2 is not a square distance matrix: for edges pass kind='graph', for points pass"
    for options in ({}, {"kind": "distances"}):
        with pytest.raises(ValueError, match=edges):
            read(tmp_path, npy(points), **options)
    condensed = np.array([1, 2, 3], np.uint8)
    metric = read(tmp_path, npy(condensed))
    assert metric.distances.dtype == np.uint8
    assert distances(metric).tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    assert len(read(tmp_path, npy(np.array([[0, 1], [1, 2]])), kind="graph")) == 3


def test_fortran_order_is_the_same_matrix(tmp_path):
    np.testing.assert_array_equal(distances(read(tmp_path, npy(np.asfortranarray(SQUARE)))), SQUARE)


def header(shape: tuple[int, ...]) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(np.array([{"a": 1}, None])), "expected numbers, got an array of dtype object"),
        (npy(np.zeros(3, [("a", float)])), "expected numbers, got an array"),
        (header((10**6, 10**6)), "takes 8,000,000,000,000 bytes, more than the file has"),
        (header((2**40, 2**40)), "the file is truncated"),
        (npy(SQUARE)[:-1], "the file is truncated"),
        (npy(SQUARE.astype(complex)), "distances of dtype complex128 are not supported"),
        (npy(np.zeros((0, 0))), "empty"),
        (npy(np.float64(3)), "an array of a single value"),
        (npy(np.zeros(4)), "4 numbers cannot be condensed distances"),
    ],
)
def test_what_is_refused(tmp_path, content, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, content, "d.npy")
    assert "\n" not in str(caught.value)


def test_what_memory_cannot_hold_is_refused_before_it_is_touched(tmp_path, monkeypatch):
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 71)
    assert len(read(tmp_path, npy(SQUARE))) == 3  # mapped
    for content in (gzip.compress(npy(SQUARE)), npy(np.asfortranarray(SQUARE)), npz(d=SQUARE)):
        with pytest.raises(MemoryError, match="an array of shape .* needs"):
            read(tmp_path, content)


@pytest.mark.parametrize("order", ["<", ">"])
def test_labels_of_characters_that_do_not_exist(tmp_path, order):
    labels = np.array(["x", "y", "\U0010ffff"]).astype(f"{order}U1")
    assert read(tmp_path, npz(d=SQUARE, labels=labels)).labels == tuple(labels.tolist())
    labels.view(f"{order}u4")[1] = 0x110000
    with pytest.raises(ValueError, match="the labels contain an invalid character") as error:
        read(tmp_path, npz(d=SQUARE, labels=labels))
    assert "\n" not in str(error.value)


def test_archives(tmp_path):
    metric = read(tmp_path, npz(d=SQUARE, labels=np.array(["x", "y", "z"])))
    assert metric.labels == ("x", "y", "z")
    np.testing.assert_array_equal(distances(metric), SQUARE)
    two = npz(d=SQUARE, X=np.zeros((5, 2)))
    with pytest.raises(ValueError, match="the file contains d, X: choose one array with use_rep="):
        read(tmp_path, two)
    assert len(read(tmp_path, two, use_rep="X", kind="points")) == 5
    with pytest.raises(ValueError, match="the file has no array 'Y', only d, X"):
        read(tmp_path, two, use_rep="Y")
    with pytest.raises(ValueError, match="labels have dtype int64"):
        read(tmp_path, npz(d=SQUARE, labels=np.arange(3)))
    tr.fit(SQUARE, method="treerep").save(tmp_path / "tree.npz")
    with pytest.raises(ValueError, match="a tree or an embedding, not data"):
        formats.read(tmp_path / "tree.npz")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_matrices(tmp_path, form):
    adjacency = sp.csr_array(np.array([[0, 2, 0], [2, 0, 5], [0, 5, 0]])).asformat(form)
    sp.save_npz(tmp_path / "g.npz", adjacency)
    graph = formats.read(tmp_path / "g.npz")
    assert isinstance(graph, GraphMetric)
    assert graph.pairs(0, 2) == 7
    assert formats.read(tmp_path / "g.npz", weight=False).pairs(0, 2) == 2
    assert formats.read(tmp_path / "g.npz", metric="manhattan").pairs(0, 1) == 9
    with pytest.raises(ValueError, match="a sparse matrix cannot hold distances"):
        formats.read(tmp_path / "g.npz", kind="distances")


def test_what_is_written_as_npy_is_read_back(tmp_path):
    points = tr.PointMetric(np.random.default_rng(0).random((50, 3)))
    formats.write_distances(points, tmp_path / "d.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), distances(points))
    np.testing.assert_array_equal(distances(formats.read(tmp_path / "d.npy")), distances(points))


def sparse_npz(path, **changed):
    parts = {
        "format": b"coo",
        "shape": [2, 2],
        "data": [1.0, 1.0],
        "row": [0, 1],
        "col": [1, 0],
        **changed,
    }
    np.savez(path, **{name: np.array(value) for name, value in parts.items()})
    return path


def test_sparse_matrices_of_other_kinds(tmp_path):
    assert len(formats.read(sparse_npz(tmp_path / "good.npz"))) == 2
    with pytest.raises(ValueError, match="sparse matrix in the format 'dia': save it as csr, csc or coo"):
        formats.read(sparse_npz(tmp_path / "g.npz", format=b"dia"))
    with pytest.raises(ValueError, match="weight='x' does not apply"):
        formats.read(sparse_npz(tmp_path / "g.npz"), weight="x")


def test_a_negative_shape_is_refused(tmp_path):
    np.save(tmp_path / "d.npy", np.zeros((22, 22)))
    content = (tmp_path / "d.npy").read_bytes().replace(b"(22, 22)", b"(-2, 22)")
    (tmp_path / "d.npy").write_bytes(content)
    with pytest.raises(ValueError, match=r"the npy header has the shape \(-2, 22\): save the file again"):
        formats.read(tmp_path / "d.npy")
