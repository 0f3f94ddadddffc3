"""Matrices in compressed chunks: zarr arrays and HDF5 data sets, in memory or unpacked into a file."""

import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal

import treerep as tr
from benchmarks.out_of_core import tree_of_small_numbers as whole_tree
from treerep.metric.base import MetricError
from treerep.metric.disk import mapped, stored
from treerep.metric.matrix import MatrixMetric

TREE = whole_tree(90)
DISTANCES = TREE.distances()


@pytest.fixture(params=[False, True], ids=["in memory", "in a file"])
def unpacked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both ways for the same small matrix."""
    if request.param:
        monkeypatch.setattr(mapped, "LARGE", 1000)
        monkeypatch.setattr(stored, "_BLOCK_BYTES", 1000)
    return bool(request.param)


def file_of(metric: MatrixMetric) -> Any:
    base: Any = metric.distances
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return base


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", ">f8"])
@pytest.mark.parametrize("chunks", [(90, 90), (1, 90), (90, 1), (17, 40)])
def test_a_zarr_array(tmp_path: Path, unpacked: bool, dtype: str, chunks: tuple[int, int]) -> None:
    array = zarr.create_array(tmp_path / "d.zarr", data=DISTANCES.astype(dtype), chunks=chunks)
    metric = tr.as_metric(array, labels=map(str, range(90)))
    assert isinstance(metric, MatrixMetric) and metric.on_disk == unpacked
    assert (file_of(metric) is not None) == unpacked
    assert metric.distances.dtype == np.dtype(dtype).newbyteorder("=")
    assert_array_equal(metric.block(range(90), range(90)), DISTANCES)
    assert_array_equal(tr.fit(metric, method="treerep").edges, TREE.edges)


def test_an_hdf5_data_set(tmp_path: Path, unpacked: bool) -> None:
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["plain"] = DISTANCES
        file.create_dataset("chunked", data=DISTANCES, chunks=(16, 16), compression="gzip")
        for name in file:
            assert_array_equal(tr.fit(file[name], method="treerep").edges, TREE.edges)


def test_the_file_has_no_name_and_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "LARGE", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    metric = tr.as_metric(zarr.array(DISTANCES))
    assert list(tmp_path.iterdir()) == []
    assert_array_equal(metric.block([0], range(90)), DISTANCES[:1])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n: int, unpacked: bool) -> None:
    assert len(tr.fit(zarr.array(np.ones((n, n)) - np.eye(n)), method="treerep")) == n


@pytest.mark.parametrize("size", [1, 1000, 10**6])
def test_blocks_are_whole_chunks_and_cover_all(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_BLOCK_BYTES", size)
    for n, chunks in [(90, (17, 40)), (90, None), (90, (90, 90)), (7, (100, 3)), (1, (1, 1))]:
        covered = np.zeros((n, n), int)
        for rows, cols in stored._blocks(n, 8, chunks):
            covered[rows, cols] += 1
            if chunks is not None:
                assert rows.start % min(n, chunks[0]) == 0 and cols.start % min(n, chunks[1]) == 0
        assert (covered == 1).all(), (n, chunks)


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for array, message in [
        (np.zeros((2, 3)), "square distance matrix, got 2 x 3"),
        (np.zeros(6), "squareform"),
        (np.zeros((2, 2), complex), "complex128"),
    ]:
        with pytest.raises(MetricError, match=re.escape(message)):
            tr.as_metric(zarr.array(array))
    with pytest.raises(ValueError, match="use_rep does not apply to a distance matrix"):
        tr.as_metric(zarr.array(DISTANCES), use_rep="X")
    monkeypatch.setattr(mapped, "LARGE", 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(100, 90, 10))
    with pytest.raises(
        MetricError,
        match="takes 64,800 bytes, but .* has 10 bytes free: set TMPDIR",
    ):
        tr.as_metric(zarr.array(DISTANCES))


def test_a_bad_entry_of_a_large_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "LARGE", 1000)
    bad = DISTANCES.copy()
    bad[3, 8] = np.nan
    with pytest.raises(MetricError, match=re.escape("d(3, 8) is nan")):
        tr.fit(zarr.array(bad), method="treerep")


def test_points_are_points(tmp_path: Path) -> None:
    points = np.random.default_rng(0).random((20, 3))
    assert_array_equal(tr.as_metric(zarr.array(points), metric="euclidean").points, points)


def test_folders_of_zarr(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "d.zarr", data=DISTANCES)
    assert_array_equal(tr.fit(tmp_path / "d.zarr", method="treerep").edges, TREE.edges)
    group = zarr.create_group(tmp_path / "two.zarr", zarr_format=2)
    group.create_array("d", data=DISTANCES)
    group.create_array("X", data=np.zeros((5, 2)))
    names = np.array([f"point {i}" for i in range(90)])
    group.create_array("labels", data=names)
    assert tr.formats.read(tmp_path / "two.zarr", use_rep="d").labels == tuple(names)
    with pytest.raises(ValueError, match="two.zarr: the file contains .*: choose one array with use_rep="):
        tr.formats.read(tmp_path / "two.zarr")
    with pytest.raises(ValueError, match="the file has no array 'Y'"):
        tr.formats.read(tmp_path / "two.zarr", use_rep="Y")
    with pytest.raises(ValueError, match="is a single array: leave it out"):
        tr.formats.read(tmp_path / "d.zarr", use_rep="d")
    assert len(tr.formats.read(tmp_path / "d.zarr", kind="points")) == 90
    with pytest.raises(ValueError, match="a zarr folder cannot hold a graph"):
        tr.formats.read(tmp_path / "d.zarr", kind="graph")
    (tmp_path / "d.zarr" / "zarr.json").write_text("{")
    with pytest.raises(ValueError, match="d.zarr: ") as error:
        tr.formats.read(tmp_path / "d.zarr")
    assert "\n" not in str(error.value)
    with pytest.raises(IsADirectoryError):
        tr.formats.read(tmp_path)
    with pytest.raises(ValueError, match="the path is not a zarr folder"):
        tr.formats.read(tmp_path / "d.zarr" / "zarr.json", format="zarr")


def test_a_file_without_a_name_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "LARGE", 1000)
    with pytest.raises(
        MetricError,
        match="^the matrix of 90 points is in a temporary file.*: save it as npy and pass",
    ):
        pickle.dumps(tr.as_metric(zarr.array(DISTANCES)))
