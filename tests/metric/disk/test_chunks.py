"""Chunks that are not stored: lost, or left out because they are zero."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import h5py
import numcodecs
import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal

import treerep as tr
from treerep.formats import read
from treerep.metric.disk import mapped, stored

N = 40
POINTS = np.random.default_rng(0).random((N, 3))
DISTANCES = np.sqrt(((POINTS[:, None] - POINTS[None]) ** 2).sum(axis=2))


@pytest.fixture(params=[2, 3])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def written(path: Path, data: Any, chunk: int = 10, **options: Any) -> Path:
    zarr.create_array(path, data=np.asarray(data), chunks=(chunk, chunk), **options)
    return path


def lose(path: Path, version: int, *places: tuple[int, int]) -> None:
    for i, j in places:
        (path / (f"{i}.{j}" if version == 2 else f"c/{i}/{j}")).unlink()


@pytest.mark.parametrize(
    "places",
    [[(1, 1)], [(1, 2), (2, 1)], [(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 3)]],
    ids=["one", "pair", "diagonal", "half"],
)
def test_a_lost_chunk_is_named(tmp_path, version, places):
    path = written(tmp_path / "d.zarr", DISTANCES, zarr_format=version)
    lose(path, version, *places)
    i, j = places[0]
    name = f"{i}.{j}" if version == 2 else f"c/{i}/{j}"
    span = rf"\(rows {10 * i} to {10 * i + 9}, columns {10 * j} to {10 * j + 9}\)"
    for data in (path, zarr.open(path, mode="r")):
        with pytest.raises(
            ValueError, match=f"chunk {name} {span} is missing, .*: restore the chunk"
        ) as caught:
            tr.as_metric(data)
        assert "\n" not in str(caught.value)


def test_a_lost_shard_is_named(tmp_path):
    path = written(tmp_path / "d.zarr", DISTANCES, 5, shards=(20, 20))
    assert len(read(path)) == N
    lose(path, 3, (1, 1))
    with pytest.raises(ValueError, match=r"chunk c/1/1 \(rows 20 to 39, columns 20 to 39\) is missing"):
        read(path)


@pytest.mark.parametrize(("n", "chunk"), [(1, 10), (11, 10), (7, 1), (5, 2), (5, 100)])
def test_what_zarr_leaves_out_of_the_diagonal_is_not_missed(tmp_path, version, n, chunk):
    """The last chunk is one zero if a single row is left over; zarr does not store it."""
    path = written(tmp_path / "d.zarr", DISTANCES[:n, :n], chunk, zarr_format=version)
    assert_array_equal(read(path).distances, DISTANCES[:n, :n])


@pytest.mark.parametrize("chunks", [(2, 2), (2, 3), (3, 1), (1, 2)])
def test_points_that_coincide_are_read_with_a_warning(tmp_path, chunks):
    order = [0, 0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4, 0, 0]
    square = DISTANCES[np.ix_(order, order)]
    array = zarr.create_array(tmp_path / "d.zarr", data=square, chunks=chunks)
    assert array.nchunks_initialized < array.nchunks
    with pytest.warns(UserWarning, match=r"not stored.*points are assumed to coincide.*restore it"):
        assert_array_equal(tr.as_metric(array).distances, square)


def test_points_as_far_from_all_others_are_not_joined_silently(tmp_path):
    """The one case that data cannot decide: the chunk is named."""
    square = 2.0 - 2 * np.eye(4)
    path = written(tmp_path / "d.zarr", square, 2)
    lose(path, 3, (1, 1))
    with pytest.warns(UserWarning, match=r"^chunk c/1/1 \(rows 2 to 3, columns 2 to 3\) is not stored"):
        read(path)


@pytest.mark.parametrize("fill", [1.0, np.nan])
def test_another_fill_value_is_never_a_distance(tmp_path, fill):
    path = written(tmp_path / "d.zarr", DISTANCES, fill_value=fill)
    assert len(read(path)) == N
    lose(path, 3, (0, 1))
    with pytest.raises(ValueError, match=r"chunk c/0/1 .* is missing"):
        read(path)


def test_metadata_alone_take_neither_disk_nor_memory(tmp_path, monkeypatch, version):
    zarr.create_array(
        tmp_path / "d.zarr",
        shape=(20000, 20000),
        dtype="f8",
        chunks=(1000, 1000),
        zarr_format=version,
    )
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: pytest.fail("disk was asked for"))
    for kind in (None, "points"):
        monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 10**12)
        with pytest.raises(ValueError, match="no chunk of the array is stored; the first is"):
            read(tmp_path / "d.zarr", kind=kind)


def test_a_large_matrix_is_checked_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "LARGE", 1000)
    path = written(tmp_path / "d.zarr", DISTANCES)
    lose(path, 3, (3, 3))
    monkeypatch.setattr(stored, "_unpacked", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(ValueError, match="chunk c/3/3 .* is missing"):
        read(path)


def test_a_chunk_larger_than_memory_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path / "d.zarr", DISTANCES)
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 799)
    with pytest.raises(MemoryError, match=r"a chunk of shape \(10, 10\) needs"):
        read(path)


def test_lost_coordinates_are_named(tmp_path):
    path = written(tmp_path / "p.zarr", POINTS, 2)
    lose(path, 3, (4, 1))
    with pytest.warns(UserWarning, match=r"chunk c/4/1 \(rows 8 to 9, columns 2 to 2\) is not stored"):
        read(path, kind="points")
    with pytest.warns(UserWarning, match="chunk c/4/1"):
        tr.as_metric(zarr.open(path, mode="r"), metric="euclidean")


@pytest.mark.filterwarnings("ignore")  # of zarr: text of a fixed width is not in the standard of version 3
def test_lost_labels_are_named(tmp_path):
    group = zarr.create_group(tmp_path / "d.zarr")
    group.create_array("d", data=DISTANCES)
    group.create_array("labels", data=np.array([f"p{k}" for k in range(N)]), chunks=(10,))
    (tmp_path / "d.zarr/labels/c/2").unlink()
    with pytest.raises(ValueError, match=r"chunk c/2 of its labels \(entries 20 to 29\) is missing"):
        read(tmp_path / "d.zarr")


def test_chunks_that_hdf5_never_wrote(tmp_path):
    with h5py.File(tmp_path / "d.h5", "w") as file:
        data = file.create_dataset("d", DISTANCES.shape, "f8", chunks=(10, 10))
        data[:20] = DISTANCES[:20]
        data[:, :20] = DISTANCES[:, :20]
        with pytest.raises(ValueError, match="4 of 16 chunks were never written: write the whole array"):
            tr.as_metric(data)


def test_stores_that_cannot_be_listed(tmp_path, monkeypatch):
    path = written(tmp_path / "d.zarr", DISTANCES)
    lose(path, 3, (1, 1))
    monkeypatch.setattr(zarr.storage.LocalStore, "supports_listing", False)
    with pytest.raises(ValueError, match="chunk c/1/1 .* is missing"):
        tr.as_metric(zarr.open(path, mode="r"))


CUT = """
import sys
from treerep.formats import read
for kind in ("distances", "points"):
    try:
        read(sys.argv[1], kind=kind)
    except ValueError as error:
        print(error)
"""


@pytest.mark.parametrize("size", [0, 10, 16, 30, 1000])
def test_a_chunk_of_blosc_that_is_cut_short_does_not_end_the_process(tmp_path, version, size):
    compressor = numcodecs.Blosc() if version == 2 else zarr.codecs.BloscCodec()
    path = written(tmp_path / "d.zarr", DISTANCES, zarr_format=version, compressors=compressor)
    np.testing.assert_array_equal(read(path).distances, DISTANCES)
    chunk = path / ("0.0" if version == 2 else "c/0/0")
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[:size] if size < len(whole) else whole + bytes(size))
    with pytest.raises(
        ValueError,
        match=r"chunk (0.0|c/0/0) has .* bytes, but its header states .*: get a new copy",
    ):
        read(path)
    if size == 30:  # in a process of its own, which would crash
        done = subprocess.run([sys.executable, "-c", CUT, path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.count("get a new copy")) == (0, 2), done.stderr
