"""Folders of zarr from anywhere: what may be in them, and what is refused before anything is unpacked."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from treerep import as_metric
from treerep.formats import read
from treerep.metric.disk.zarr_metadata import check_zarr_metadata

SQUARE = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])
V2 = {"zarr_format": 2, "dtype": "<f8", "filters": None, "compressor": None}
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


class Payload:
    """Pickled, it makes a folder when it is loaded."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def write_evil(
    folder: Path, marker: Path, shape: list[int], dtype: str, filters: list[dict[str, str]]
) -> None:
    """Write an array whose only chunk is a pickle that runs code."""
    folder.mkdir(parents=True)
    fields = {
        "zarr_format": 2,
        "shape": shape,
        "chunks": shape,
        "dtype": dtype,
        "order": "C",
        "filters": filters,
    }
    fill = "" if dtype == "|O" else 0
    (folder / ".zarray").write_text(
        json.dumps({**fields, "compressor": {"id": "pickle"}, "fill_value": fill})
    )
    (folder / ".".join("0" for _ in shape)).write_bytes(pickle.dumps(Payload(marker)))


@pytest.fixture
def nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if zarr is asked for anything: the numcodecs that is installed may be safe by itself."""

    def opened(*_: Any, **__: Any) -> None:
        raise AssertionError("zarr was asked to open an array")

    for name in ("open", "open_array", "open_group"):
        monkeypatch.setattr(zarr, name, opened)


@pytest.mark.usefixtures("nothing_is_opened")
@pytest.mark.parametrize("kind", [None, "points"])
@pytest.mark.parametrize(("dtype", "filters"), [("|O", [{"id": "vlen-utf8"}]), ("|O", []), ("<f8", [])])
def test_a_chunk_that_is_a_pickle_is_never_loaded(tmp_path, kind, dtype, filters):
    marker = tmp_path / "marker"
    write_evil(tmp_path / "alone.zarr", marker, [3, 3], dtype, filters)
    write_evil(tmp_path / "group.zarr" / "d", marker, [3, 3], dtype, filters)
    (tmp_path / "group.zarr" / ".zgroup").write_text('{"zarr_format": 2}')
    for name in ("alone.zarr", "group.zarr"):
        with pytest.raises(ValueError, match=f"{name}: codec 'pickle' is unknown or may run code") as caught:
            read(tmp_path / name, kind=kind)
        assert "\n" not in str(caught.value)
    assert not marker.exists()


@pytest.mark.filterwarnings("ignore")  # of zarr: metadata that two places hold
def test_labels_that_are_pickles_are_never_loaded(tmp_path, monkeypatch):
    marker, path = tmp_path / "marker", tmp_path / "d.zarr"
    zarr.create_group(path, zarr_format=2).create_array("d", data=SQUARE)
    write_evil(path / "labels", marker, [3], "|O", [{"id": "vlen-utf8"}])
    with monkeypatch.context() as patch:
        patch.setattr(zarr, "open_array", lambda *_, **__: pytest.fail("zarr was asked to open an array"))
        with pytest.raises(ValueError, match="codec 'pickle' is unknown or may run code"):
            read(path)
    # A harmless .zarray beside a copy of the metadata in the group that is not: the copy is not looked at.
    consolidated = {"labels/.zarray": json.loads((path / "labels" / ".zarray").read_text())}
    (path / ".zmetadata").write_text(json.dumps({"zarr_consolidated_format": 1, "metadata": consolidated}))
    (path / "labels" / ".zarray").unlink()
    (path / "labels" / "0").unlink()
    zarr.create_array(path / "labels", data=np.array(["a", "b", "c"]), zarr_format=2)
    assert read(path).labels == ("a", "b", "c")
    assert not marker.exists()


@pytest.mark.filterwarnings("ignore")  # of zarr: the type is not in the standard of version 3
@pytest.mark.parametrize(
    ("metric", "problem"), [(None, "dtype object"), ("euclidean", "contains Python objects")]
)
def test_arrays_of_objects_are_refused(tmp_path, monkeypatch, metric, problem):
    array = zarr.create_array(
        tmp_path / "d.zarr", shape=(3, 3), dtype="variable_length_bytes", fill_value=b"1"
    )
    assert array.dtype == np.dtype(object)
    monkeypatch.setattr(zarr.Array, "__getitem__", lambda *_: pytest.fail("a chunk was asked for"))
    with pytest.raises(ValueError, match=problem):
        as_metric(array, metric=metric)


def test_an_opened_array_with_another_codec_is_refused(tmp_path, monkeypatch):
    array = zarr.create_array(tmp_path / "d.zarr", data=SQUARE)
    fields = {
        **array.metadata.to_dict(),
        "codecs": ({"name": "numcodecs.pickle", "configuration": {}},),
    }
    monkeypatch.setattr(type(array.metadata), "to_dict", lambda _: fields)
    monkeypatch.setattr(zarr.Array, "__getitem__", lambda *_: pytest.fail("a chunk was asked for"))
    for metric in (None, "euclidean"):
        with pytest.raises(ValueError, match="codec 'numcodecs.pickle' is unknown or may run code"):
            as_metric(array, metric=metric)


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({**V2, "compressor": {"id": "pickle"}}, "codec 'pickle'"),
        ({**V2, "filters": [{"id": "shuffle"}, {"id": "msgpack2"}]}, "codec 'msgpack2'"),
        (
            {**V2, "filters": [{"id": "astype", "encode_dtype": "O", "decode_dtype": "<f8"}]},
            "items of type 'O'",
        ),
        ({**V2, "filters": "pickle"}, "do not list the codecs"),
        ({**V2, "dtype": "|O"}, "items of type '|O'"),
        (
            {**V2, "dtype": "|O", "filters": [{"id": "shuffle"}, {"id": "vlen-utf8"}]},
            "items of type '|O'",
        ),
        ({**V2, "dtype": [["a", "|O"]]}, "items of type"),
        (
            {"zarr_format": 3, "data_type": "variable_length_bytes", "codecs": [BYTES]},
            "items of type",
        ),
        (
            {"zarr_format": 3, "data_type": {"name": "object"}, "codecs": [BYTES]},
            "items of type",
        ),
        (
            {"zarr_format": 3, "data_type": "float64", "codecs": ["pickle"]},
            "codec 'pickle'",
        ),
        ({"zarr_format": 3, "data_type": "float64"}, "do not list the codecs"),
        (
            {
                "zarr_format": 3,
                "data_type": "float64",
                "codecs": [BYTES],
                "storage_transformers": [1],
            },
            "transformers",
        ),
    ],
)
def test_metadata_that_are_refused(metadata, problem):
    with pytest.raises(ValueError, match="save (it|the array)") as caught:
        check_zarr_metadata(metadata)
    assert problem in str(caught.value)


@pytest.mark.parametrize("place", ["codecs", "index_codecs"])
def test_codecs_within_shards_are_checked(place):
    inner = {
        "codecs": [BYTES],
        "index_codecs": [BYTES],
        place: [BYTES, {"name": "numcodecs.pickle"}],
    }
    for _ in range(3):
        sharding = {"name": "sharding_indexed", "configuration": inner}
        with pytest.raises(ValueError, match="codec 'numcodecs.pickle'"):
            check_zarr_metadata({"zarr_format": 3, "data_type": "float64", "codecs": [sharding]})
        inner = {"codecs": [sharding], "index_codecs": [BYTES]}


@pytest.mark.filterwarnings("ignore")  # of zarr: not every codec is in the standard of version 3
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("compressor", ["auto", "blosc", "gzip", "zstd", "lzma", "shards"])
def test_what_zarr_writes_is_read(tmp_path, version, compressor):
    import numcodecs
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
    from zarr.codecs.numcodecs import LZMA

    if compressor == "shards":
        options: dict[str, Any] = {"chunks": (1, 1), "shards": (2, 2)}
        version = 3
    else:
        third = {
            "auto": "auto",
            "blosc": BloscCodec(),
            "gzip": GzipCodec(),
            "zstd": ZstdCodec(),
            "lzma": LZMA(),
        }
        second = {
            "blosc": numcodecs.Blosc(),
            "gzip": numcodecs.GZip(),
            "zstd": numcodecs.Zstd(),
            "auto": "auto",
        }
        options = {
            "compressors": (third if version == 3 else {**second, "lzma": numcodecs.LZMA()})[compressor]
        }
    zarr.create_array(tmp_path / "d.zarr", data=SQUARE, zarr_format=version, **options)
    np.testing.assert_array_equal(read(tmp_path / "d.zarr").distances, SQUARE)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("dtype", ["U9", "T", "int64"])
@pytest.mark.filterwarnings("ignore")
def test_labels_of_any_width(tmp_path, version, dtype):
    names = ["1", "22", "333"] if dtype == "int64" else ["a", "\N{DECIDUOUS TREE}", "it's"]
    group = zarr.create_group(tmp_path / "d.zarr", zarr_format=version)
    group.create_array("d", data=SQUARE)
    group.create_array("labels", data=np.array(names).astype(dtype))
    assert read(tmp_path / "d.zarr").labels == tuple(names)


def test_labels_that_are_refused(tmp_path):
    group = zarr.create_group(tmp_path / "d.zarr")
    group.create_array("d", data=SQUARE)
    group.create_array("labels", data=np.array([0.5, 1.5, 2.5]))
    with pytest.raises(ValueError, match="the labels have dtype float64: save them as strings"):
        read(tmp_path / "d.zarr")


def test_metadata_without_end_are_refused(tmp_path, monkeypatch):
    zarr.create_array(tmp_path / "d.zarr", data=SQUARE)
    monkeypatch.setattr("treerep.formats.data.zarr._MOST_METADATA", 100)
    with pytest.raises(ValueError, match=r"zarr.json has [0-9]+ bytes, too many for metadata"):
        read(tmp_path / "d.zarr")
