"""Where bytes come from: files, pipes, gzip, standard input; and lines that are cut anywhere."""

import contextlib
import gzip
import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treerep as tr
from treerep import formats
from treerep.formats import _source as sources
from treerep.formats._source import Source


def lines(data: bytes) -> list[tuple[int, str]]:
    return list(Source.of_bytes(data, name="test").lines())


@given(
    pieces=st.lists(st.sampled_from(["a", "\N{DECIDUOUS TREE}", "\n", "\r\n", " ", ","]), max_size=30),
    chunk=st.integers(1, 9),
    packed=st.booleans(),
)
def test_lines_are_those_of_python_wherever_they_are_cut(pieces, chunk, packed):
    text = "".join(pieces)
    expected = text.replace("\r\n", "\n").split("\n")
    if expected[-1] == "":
        expected.pop()
    data = gzip.compress(text.encode()) if packed else text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_CHUNK", chunk)
        assert lines(data) == list(enumerate(expected, start=1))


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(sources, "_LONGEST_LINE", 100)
    monkeypatch.setattr(sources, "_CHUNK", 10)
    with pytest.raises(ValueError, match="a line has more than 100 characters"):
        lines(b"1," * 60)


def test_the_line_with_a_foreign_byte_is_named():
    with pytest.raises(ValueError, match="line 3 has the byte 0xe9"):
        lines(b"a\nb\ncaf\xe9\n")


def test_pipes_are_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b",a,b\na,0,1\nb,1,0\n",))
    writer.start()
    assert formats.read(pipe).labels == ("a", "b")
    writer.join()


def test_devices_and_folders_are_no_files(tmp_path):
    with pytest.raises(ValueError, match="/dev/zero: this is a device, not a file"):
        formats.read("/dev/zero")
    with pytest.raises(IsADirectoryError):
        formats.read(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        tr.fit(tmp_path / "nowhere.csv", method="treerep")


@pytest.mark.parametrize("name", ["d.npy", "d.csv", "d.h5ad", "d.graphml", "d"])
def test_empty_files(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValueError, match=f"{name}: the file is empty"):
        formats.read(tmp_path / name)


def test_a_pipe_without_end_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=_write_on, args=(tmp_path / "pipe",))
    writer.start()
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 10_000_000)
    with pytest.raises(MemoryError, match="pipe: the input needs"):
        formats.read(tmp_path / "pipe")
    writer.join()


def _write_on(path):
    with contextlib.suppress(BrokenPipeError), path.open("wb", buffering=0) as pipe:
        while True:
            pipe.write(b"0" * 100_000)
