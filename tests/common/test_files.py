import os
import resource
import subprocess
import sys

import pytest

from treerep.common.files import atomic_write


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_text_and_bytes_are_written(tmp_path):
    with atomic_write(tmp_path / "a.txt") as file:
        file.write("d\u00e9j\u00e0\n")
    with atomic_write(str(tmp_path / "b.bin"), "wb") as file:
        file.write(b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == "d\u00e9j\u00e0\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\x00\xff"
    assert names(tmp_path) == ["a.txt", "b.bin"]


def test_nothing_is_seen_before_the_end(tmp_path):
    with atomic_write(tmp_path / "a.txt") as file:
        file.write("new")
        file.flush()
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_failure_leaves_the_earlier_file(tmp_path, error):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(error), atomic_write(target) as file:
        file.write("half of the n")
        raise error
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_failure_leaves_nothing_where_nothing_was(tmp_path):
    with pytest.raises(ValueError, match="no"), atomic_write(tmp_path / "a.txt"):
        raise ValueError("no")
    assert names(tmp_path) == []


def test_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "nowhere" / "a.txt"):
        pass


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions_are_those_of_a_plain_open(tmp_path, mask):
    before = os.umask(mask)
    try:
        with atomic_write(tmp_path / "a.txt") as file:
            file.write("x")
        (tmp_path / "plain.txt").write_text("x")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("a.txt", "plain.txt")]
    assert modes == [0o666 & ~mask] * 2


def test_the_umask_is_never_touched(tmp_path, monkeypatch):
    # It belongs to the whole process: another thread may create a file in between.
    def refuse(mask):
        raise AssertionError("umask was set")

    monkeypatch.setattr(os, "umask", refuse)
    with atomic_write(tmp_path / "a.txt") as file:
        file.write("x")
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("nowhere/a.txt", FileNotFoundError), ("plain/a.txt", NotADirectoryError), ("folder", IsADirectoryError)],
)
def test_errors_name_the_path_of_the_caller(tmp_path, monkeypatch, name, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("x")
    with pytest.raises(kind, match=rf": '{name}'$") as error, atomic_write(name) as file:
        file.write("x")
    assert "\n" not in str(error.value)
    assert names(tmp_path) == ["folder", "plain"]


def test_errors_about_other_files_stay_as_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"other\.txt'$"), atomic_write(tmp_path / "a.txt"):
        (tmp_path / "other.txt").read_text()
    assert names(tmp_path) == []


def test_the_longest_legal_name(tmp_path):
    name = "a" * 255
    with atomic_write(tmp_path / name) as file:
        file.write("x")
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path, exists):
    real, link = tmp_path / "folder" / "real.txt", tmp_path / "link.txt"
    real.parent.mkdir()
    if exists:
        real.write_text("old")
    link.symlink_to(real)
    with atomic_write(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert names(real.parent) == ["real.txt"]


def test_full_disk_leaves_the_earlier_file(tmp_path):
    # A limit on the size of files stands in for a full disk; it needs a process of its own.
    target = tmp_path / "a.bin"
    target.write_text("old")
    code = (
        "import signal, sys; from treerep.common.files import atomic_write\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with atomic_write(sys.argv[1], 'wb') as file: file.write(bytes(100_000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(target)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    assert done.returncode != 0
    assert f"File too large: {str(target)!r}" in done.stderr
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.bin"]


def test_text_that_utf8_cannot_hold_is_one_line_and_leaves_nothing(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    said = r"a\.txt: '\\ud800' is no character that UTF-8 can hold"
    with pytest.raises(ValueError, match=said) as raised, atomic_write(tmp_path / "a.txt") as file:
        file.write("half \ud800")
    assert not isinstance(raised.value, UnicodeError)
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]
