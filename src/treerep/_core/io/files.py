"""Files are written completely or not at all. Devices and pipes are written directly."""

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

Name = str | os.PathLike[str]

_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")
_MOST_LINKS = 40  # as in the Linux kernel
_READ_ONLY = "it is read-only: make it writable (chmod u+w), or choose another name"
_ACL = "system.posix_acl_access"


@contextmanager
def atomic_write(path: Name, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file for writing, and rename it to `path` once it is complete.

    If anything fails, the temporary file is removed and an existing file at `path` is left
    unchanged. The new file has the permissions of the existing file, and the temporary file never
    has more permissions. Read-only files raise an error. If `path` is a symbolic link, its target
    is replaced. Hard links are not followed: other names of the existing file keep the old content.

    A device, a FIFO or a descriptor such as /dev/stdout is written directly and never replaced.
    Such a target may receive a part of the output before an error.

    Errors name `path`, including the error for text that UTF-8 cannot encode.
    """
    with _errors_named(path):
        if is_stream(path):
            with _open_stream(path, mode) as file:
                yield file
            return
        draft = _Draft(path)
        try:
            yield draft.open(mode)
            draft.complete()
            draft.place()
        except BaseException:
            draft.take_back()
            raise
        draft.close()


def write_together(contents: Mapping[Name, bytes]) -> None:
    """Write either all of several files or none of them.

    All contents are on disk before the first file is renamed. If a rename fails, the files renamed
    earlier get their old content back. Only a process that is killed between two renames leaves
    some files new and some old. Each of these files is complete.
    """
    drafts = [_Draft(path) for path in contents if not is_stream(path)]
    try:
        for draft in drafts:
            with _errors_named(draft.path):
                draft.open("wb").write(contents[draft.path])
                draft.complete()
        for draft in drafts if len(drafts) > 1 else ():
            draft.keep_earlier()
        for draft in drafts:
            with _errors_named(draft.path):
                draft.place()
        for path in filter(is_stream, contents):
            with _errors_named(path), _open_stream(path, "wb") as file:
                file.write(contents[path])
    except BaseException:
        for draft in reversed(drafts):
            draft.take_back()
        raise
    finally:
        for draft in drafts:
            draft.close()


def is_stream(path: Name) -> bool:
    """Tell whether `path` is a device, a FIFO or an open descriptor.

    >>> is_stream("/dev/null"), is_stream("/dev/stdout"), is_stream("tree.nwk")
    (True, True, False)
    """
    if _descriptor(path) is not None:
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_writable(path: Name) -> os.stat_result | None:
    """Raise an OSError if `path` cannot be written; return the status of an existing file.

    Folders, disks and read-only files raise an error. The permission bits decide, even for
    root.
    """
    try:
        earlier = Path(path).stat()
    except FileNotFoundError:
        return None
    name = os.fspath(path)
    mode = earlier.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if stat.S_ISBLK(mode):
        raise PermissionError(errno.EACCES, "it is a block device: choose a file instead", name)
    if _descriptor(path) is not None:
        return earlier  # already open, possibly for writing
    bits = stat.S_IWUSR if earlier.st_uid == os.geteuid() else stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
    if not mode & bits or not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, _READ_ONLY, name)
    return earlier


def open_file(path: Name) -> IO[bytes]:
    """Open a file for reading. Devices and pipes raise an error, because they may never end."""
    mode = Path(path).stat().st_mode
    # Folders pass, because opening a folder raises the right error.
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError(f"{os.fspath(path)} is a device or a pipe: use a file")
    return Path(path).open("rb")


def is_of_the_machine(error: OSError) -> bool:
    """Tell whether an error was caused by the machine rather than by the file's content.

    A full disk, for example, is an error of the machine.

    >>> (
    ...     is_of_the_machine(OSError(errno.ENOSPC, "No space left on device")),
    ...     is_of_the_machine(OSError("not gzip")),
    ... )
    (True, False)
    """
    # EINVAL is excluded: damaged indexes cause seeks before the beginning.
    return error.errno not in (None, errno.EINVAL)


def as_utf8(text: str, path: Name) -> bytes:
    """Encode a text for writing it to a file."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _unwritable(error, path) from error


def _unwritable(error: UnicodeEncodeError, path: Name) -> ValueError:
    wrong = error.object[error.start]
    return ValueError(f"{os.fspath(path)}: UTF-8 cannot encode the character {wrong!r}: remove it")


class _Draft:
    """A temporary file in the same folder that replaces the target once it is complete."""

    def __init__(self, path: Name) -> None:
        self.path = path
        with _errors_named(path):
            self.earlier = check_writable(path)
        self.target = Path(path).resolve()
        self.temporary = self._neighbor()
        self.backup: Path | None = None  # second name of the existing file
        self.file: IO[Any] | None = None

    def _neighbor(self) -> Path:
        # A short name, which is valid however long the target's name is.
        return self.target.parent / f".treerep-{secrets.token_hex(8)}.part"

    def open(self, mode: str) -> IO[Any]:
        # A new file gets the default permissions, including the umask.
        access = 0o666 if self.earlier is None else self.earlier.st_mode & 0o600

        def create(name: str, flags: int) -> int:
            return os.open(name, flags, access)

        encoding = None if "b" in mode else "utf-8"
        new = mode.replace("w", "x")
        self.file = open(self.temporary, new, encoding=encoding, opener=create)  # noqa: SIM115
        return self.file

    def complete(self) -> None:
        """Flush all bytes to disk, and copy the access rights of the existing file."""
        assert self.file is not None
        self.file.flush()
        if self.earlier is not None:
            _copy_access(self.file.fileno(), self.target, self.earlier)
        os.fsync(self.file.fileno())

    def keep_earlier(self) -> None:
        """Link the existing file to a second name, to restore it later, if links are supported."""
        if self.earlier is not None:
            self.backup = self._neighbor()
            with contextlib.suppress(OSError):
                os.link(self.target, self.backup)

    def place(self) -> None:
        self.temporary.replace(self.target)

    def take_back(self) -> None:
        """Restore the previous state."""
        # An interrupt may arrive right after the rename.
        placed = self.file is not None and not self.temporary.exists()
        if placed and self.backup is not None and self.backup.exists():
            self.backup.replace(self.target)
        elif placed and self.earlier is None:
            self.target.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Close the file, and remove the temporary files."""
        if self.file is not None:
            # A full disk was already reported when the bytes were written.
            with contextlib.suppress(OSError):
                self.file.close()
        for path in (self.temporary, self.backup):
            with contextlib.suppress(OSError):
                if path is not None:
                    path.unlink()


def _copy_access(descriptor: int, target: Path, earlier: os.stat_result) -> None:
    """Copy owner, group, access list and permissions of the existing file, as far as possible."""
    mode = stat.S_IMODE(earlier.st_mode) & 0o777
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (earlier.st_uid, earlier.st_gid):
        try:
            os.fchown(descriptor, earlier.st_uid, earlier.st_gid)
        except OSError:
            try:
                os.fchown(descriptor, -1, earlier.st_gid)
            except OSError:
                mode &= ~0o070  # these permissions were granted to another group
    access_list = _access_list(target)
    if access_list is not None:
        try:
            os.setxattr(descriptor, _ACL, access_list)
        except OSError:
            mode &= ~0o070  # without the list, these permissions would apply to the whole group
    os.fchmod(descriptor, mode)


def _access_list(path: Path) -> bytes | None:
    try:
        return os.getxattr(path, _ACL)
    except (AttributeError, OSError):  # not available on this system or for this file
        return None


def _descriptor(path: Name) -> int | None:
    """Return the descriptor behind a path such as /dev/stdout or /dev/fd/63, or None."""
    place = Path(path).absolute()
    for _ in range(_MOST_LINKS):
        found = _DESCRIPTOR.fullmatch(str(place))
        if found or str(place) in _STANDARD:
            return int(found[1]) if found else _STANDARD[str(place)]
        try:
            place = place.parent / place.readlink()
        except OSError:
            return None
    return None


def _open_stream(path: Name, mode: str) -> IO[Any]:
    """Open a device, a FIFO or a descriptor for writing, without creating or truncating it."""
    check_writable(path)
    encoding = None if "b" in mode else "utf-8"
    number = _descriptor(path)
    if number is not None:
        for printed in filter(None, (sys.stdout, sys.stderr)):
            printed.flush()  # keeps the order of the output
        # A duplicate shares its position with other writers, such as the shell. A newly opened
        # file would not.
        return os.fdopen(os.dup(number), mode, encoding=encoding)
    return open(path, mode, encoding=encoding, opener=lambda name, _: os.open(name, os.O_WRONLY))


@contextmanager
def _errors_named(path: Name) -> Iterator[None]:
    """Put the caller's path into errors raised while writing."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise _unwritable(error, path) from error
    except OSError as error:
        # Errors raised while writing name no file, or the temporary file. Errors about other files
        # are raised unchanged.
        ours = error.filename is None or Path(str(error.filename)).match(".treerep-*.part")
        if error.errno is None or not ours:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
