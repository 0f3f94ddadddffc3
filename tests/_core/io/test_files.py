import os
import resource
import stat
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from treerep._core.io import files
from treerep._core.io.files import atomic_write, write_together
from treerep.formats._target import open_target
from treerep.tree.tree import Tree


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
    [
        ("nowhere/a.txt", FileNotFoundError),
        ("plain/a.txt", NotADirectoryError),
        ("folder", IsADirectoryError),
    ],
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
    with (
        pytest.raises(FileNotFoundError, match=r"other\.txt'$"),
        atomic_write(tmp_path / "a.txt"),
    ):
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
        "import signal, sys; from treerep._core.io.files import atomic_write\n"
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
    said = r"a\.txt: UTF-8 cannot encode the character '\\ud800'"
    with (
        pytest.raises(ValueError, match=said) as raised,
        atomic_write(tmp_path / "a.txt") as file,
    ):
        file.write("half \ud800")
    assert not isinstance(raised.value, UnicodeError)
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("access", [0o600, 0o640, 0o644, 0o664, 0o755])
def test_an_earlier_file_keeps_its_permissions(tmp_path, access):
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(access)
    with atomic_write(target) as file:
        file.write("new")
        file.flush()
        (part,) = tmp_path.glob(".treerep-*.part")
        assert mode(part) & ~access == 0  # never more than the target has
    assert (target.read_text(), mode(target)) == ("new", access)


def test_the_access_list_is_kept(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    # The owner reads and writes, user 12345 reads, the group and others nothing; the mask lets the mode be 0640.
    entries = [
        (1, 6, 2**32 - 1),
        (2, 4, 12345),
        (4, 0, 2**32 - 1),
        (16, 4, 2**32 - 1),
        (32, 0, 2**32 - 1),
    ]
    access = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(target, "system.posix_acl_access", access)
    except (AttributeError, OSError):
        pytest.skip("this file system has no access lists")
    with atomic_write(target) as file:
        file.write("new")
    assert os.getxattr(target, "system.posix_acl_access") == access
    assert target.read_text() == "new"


def test_rights_of_a_group_that_cannot_be_kept_are_dropped(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o664)
    earlier = target.stat()
    other = os.stat_result((earlier.st_mode, *earlier[1:5], earlier.st_gid + 1, *earlier[6:]))

    def refuse(*_):
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(files, "check_writable", lambda _: other)
    with atomic_write(target) as file:
        file.write("new")
    assert mode(target) == 0o604


@pytest.mark.parametrize("access", [0o444, 0o400, 0o555])
def test_a_read_only_file_is_refused(tmp_path, access):
    # As root as well: the bits decide.
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(access)
    said = "it is read-only: make it writable .* choose another name"
    with pytest.raises(PermissionError, match=said) as error, atomic_write(target) as file:
        file.write("new")
    assert error.value.filename == str(target)
    with pytest.raises(PermissionError, match="it is read-only"):
        write_together({tmp_path / "b.txt": b"new", target: b"new"})
    assert (target.read_text(), names(tmp_path)) == ("old", ["a.txt"])


def test_other_names_of_a_file_keep_the_earlier_content(tmp_path):
    target, other = tmp_path / "a.txt", tmp_path / "b.txt"
    target.write_text("old")
    other.hardlink_to(target)
    with atomic_write(target) as file:
        file.write("new")
    assert (target.read_text(), other.read_text()) == ("new", "old")


def read_in_background(fifo):
    read = []
    thread = threading.Thread(target=lambda: read.append(fifo.read_bytes()), daemon=True)
    thread.start()
    return lambda: (thread.join(20), read)[1]


@pytest.mark.parametrize("through", ["atomic_write", "write_together", "open_target"])
def test_a_fifo_is_written_through(tmp_path, through):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    seen = read_in_background(fifo)
    if through == "write_together":
        write_together({fifo: b"new", tmp_path / "a.txt": b"file"})
    else:
        with atomic_write(fifo, "wb") if through == "atomic_write" else open_target(fifo) as file:
            file.write(b"new")
    assert seen() == [b"new"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert not list(tmp_path.glob(".treerep-*"))


def test_a_tree_in_an_archive_goes_through_a_fifo(tmp_path):
    fifo = tmp_path / "tree.npz"
    os.mkfifo(fifo)
    seen = read_in_background(fifo)
    tree = Tree(2, [[0, 1]], [1.0])
    tree.save(fifo)
    (tmp_path / "copy.npz").write_bytes(seen()[0])
    assert Tree.load(tmp_path / "copy.npz") == tree
    with pytest.raises(ValueError, match="tree.npz is a device or a pipe: use a file"):
        Tree.load(fifo)


def test_a_device_is_written_through(tmp_path):
    # A terminal is a device that anybody can make.
    ours, theirs = os.openpty()
    link = tmp_path / "link"
    link.symlink_to(os.ttyname(theirs))
    with atomic_write(link) as file:
        file.write("new\n")
    assert os.read(ours, 100) == b"new\r\n"
    assert stat.S_ISCHR(link.stat().st_mode)
    assert names(tmp_path) == ["link"]
    os.close(ours)
    os.close(theirs)


def test_the_null_device_stays_what_it_is(tmp_path):
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_bytes(b"")
    except OSError:
        pytest.skip("this user may not make devices")
    write_together({null: b"new"})
    with atomic_write(null) as file:
        file.write("new")
    assert stat.S_ISCHR(null.stat().st_mode)


def test_errors_of_a_stream_name_it():
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    with (
        pytest.raises(OSError, match="No space left on device: '/dev/full'"),
        atomic_write("/dev/full") as file,
    ):
        file.write("new")


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("redirection", [">", ">>"])
def test_standard_output_by_name_shares_its_place(tmp_path, name, redirection):
    # A shell's redirection must stay in force: what is printed before and after belongs to the same file.
    code = (
        "import sys; from treerep._core.io.files import atomic_write\n"
        "print('before')\n"
        "with atomic_write(sys.argv[1]) as file: file.write('new\\n')\n"
        "print('after')"
    )
    (tmp_path / "script.py").write_text(code)
    (tmp_path / "out.txt").write_text("old\n")
    line = f"{sys.executable} script.py {name} {redirection} out.txt"
    subprocess.run(["bash", "-c", line], check=True, cwd=tmp_path)
    kept = "old\n" if redirection == ">>" else ""
    assert (tmp_path / "out.txt").read_text() == kept + "before\nnew\nafter\n"


def test_several_files_are_written_together(tmp_path):
    (tmp_path / "a").write_text("old")
    write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert [(tmp_path / name).read_bytes() for name in names(tmp_path)] == [b"1", b"2"]
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("step", ["complete", "place", "after place"])
def test_several_files_or_none(tmp_path, monkeypatch, error, turn, step):
    (tmp_path / "a").write_text("old a")
    (tmp_path / "c").write_text("old c")
    turns = iter(range(3))
    done = getattr(files._Draft, step.removeprefix("after "))

    def fail(draft):
        failing = next(turns) == turn
        if step == "after place" or not failing:
            done(draft)
        if failing:
            raise error

    monkeypatch.setattr(files._Draft, step.removeprefix("after "), fail)
    with pytest.raises(type(error)) as raised:
        write_together({tmp_path / name: b"new" for name in "abc"})
    if isinstance(error, OSError):
        assert raised.value.filename == str(tmp_path / "abc"[turn])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a": "old a",
        "c": "old c",
    }
