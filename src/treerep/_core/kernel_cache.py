"""The on-disk cache of compiled kernels: never stale, shared, and kept across upgrades.

Numba stamps a cache entry with the file that defines the function. Our kernels inline helpers from
other files, such as `distance`, so after an edit in another file, old machine code would stay in
use. Here the name of an entry contains a hash of everything that the machine code depends on: the
source of the kernel and of all kernels that it imports, the argument types, the CPU, and the
versions of Python and numba. An entry is therefore valid for every installation with the same
kernel, and an upgrade compiles only what has changed.

Entries are in the folder NUMBA_CACHE_DIR, if it is set, and otherwise in the user's cache folder,
or beside the package if the user has no such folder. If several processes need the same kernel at
once, one compiles it and the others wait. If the cache cannot be read or written, kernels are
compiled in every process.

Loading an entry runs code. Therefore folders are created for the user alone, and entries that another
user (except root) owns or may write are ignored.
"""

import hashlib
import os
import pickle
import re
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from .io.user_cache import user_cache

try:
    import fcntl
except ImportError:  # Windows: processes do not wait for each other
    fcntl = None  # type: ignore[assignment]

_PACKAGE = Path(__file__).resolve().parents[1]
_DAY = 86_400.0
#: Entries that were not used for this many days are removed when their kernel is compiled again.
_KEPT_DAYS = 60
#: Seconds to wait for another process that compiles the same kernel, and between two looks.
_PATIENCE = 60.0
_PAUSE = 0.02
_IMPORT = re.compile(r"^\s*from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


class KernelCache(NullCache):  # type: ignore[misc]
    """The cache of one kernel, with one file per specialization."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._held = threading.local()

    @property
    def cache_path(self) -> str:
        """Folder of the entries."""
        return str(_folder())

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """Return the machine code for these types, or None if it must be compiled.

        If None is returned, other processes that need the same code wait until `released` ends.
        """
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        found = _load(path, sig, target_context)
        if found is None:
            self._held.lock = _lock(path)
            # Another process may have stored the code in the meantime.
            found = _load(path, sig, target_context)
        return found

    def save_overload(self, sig: object, data: Any) -> None:
        """Store machine code, unless it refers to memory of this process."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        path = self._path(sig, data.codegen)
        try:
            _write(path, dumps((sig, data._reduce())))
            _remove_unused(path)
        except OSError as error:
            reason = " ".join(str(error).split())
            _warn_once(
                f"compiled code cannot be stored ({reason}), so every run compiles again: set "
                "NUMBA_CACHE_DIR to a writable folder"
            )

    @contextmanager
    def released(self) -> Iterator[None]:
        """Let other processes compile or load this kernel when the block ends."""
        before = getattr(self._held, "lock", None)
        self._held.lock = None
        try:
            yield
        finally:
            if self._held.lock is not None:
                _unlock(self._held.lock)
            self._held.lock = before

    def _path(self, sig: Any, codegen: Any) -> Path:
        """Return the file for these types. Its name holds a hash of all that the code depends on."""
        function = self._function
        fields = [getattr(kind, "fields", None) for kind in getattr(sig, "args", sig)]
        digest = hashlib.sha256(function.__code__.co_code)
        for part in (
            source_stamp(Path(function.__code__.co_filename)),
            str(sig),
            str(fields),  # the names of tuples' fields, which are not part of `sig`
            str(codegen.magic_tuple()),  # the CPU
            f"{sys.version_info[:2]} {numba.__version__}",
        ):
            digest.update(b"\0" + part.encode())
        digest.update(_variables(function))
        return _folder() / f"{_name(function)}-{digest.hexdigest()[:32]}.nbc"


def _variables(function: Callable[..., Any]) -> bytes:
    """Return the variables of a closure."""
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    return dumps(cells) if cells else b""


def source_stamp(path: Path) -> str:
    """Hash a file of kernels and the files that it imports, directly or through other kernels."""
    digest = hashlib.sha256()
    for file in sorted(_sources(path.resolve())):
        digest.update(_file_hash(file))
    return digest.hexdigest()


@cache
def _sources(path: Path) -> frozenset[Path]:
    """Return a file and the files of the package that it imports.

    The imports of other files count only if those hold kernels, the classes of oracles, or the
    decorators of kernels, which import the compiler. Other imported files define types.
    """
    found = {path}
    waiting = [path]
    while waiting:
        for file in _imported(waiting.pop()):
            if file not in found:
                found.add(file)
                if file.name.endswith(("kernels.py", "classes.py", "kernel.py")):
                    waiting.append(file)
    return frozenset(found)


def _imported(path: Path) -> Iterator[Path]:
    """Yield the files of modules that a file imports by relative imports."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # a notebook, or a file that has been removed
        return
    for dots, module, names in _IMPORT.findall(text):
        folder = path.parents[len(dots) - 1].joinpath(*filter(None, module.split(".")))
        yield from (file for file in [folder.with_suffix(".py")] if file.is_file())
        for name in re.findall(r"\w+", names):
            if (folder / f"{name}.py").is_file():
                yield folder / f"{name}.py"


@cache
def _file_hash(path: Path) -> bytes:
    """Hash the text of a file. Its place counts only within the package."""
    inside = path.is_relative_to(_PACKAGE)
    name = path.relative_to(_PACKAGE).as_posix() if inside else path.name
    try:
        text = path.read_bytes()
    except OSError:
        text = b""
    return hashlib.sha256(name.encode() + b"\0" + text).digest()


def _name(function: Callable[..., Any]) -> str:
    """Return the first part of the names of a kernel's files."""
    return re.sub(r"[^\w.]", "", f"{function.__module__}.{function.__qualname__}")[-80:]


def _folder() -> Path:
    """Return the folder of the cache."""
    named = numba.config.CACHE_DIR
    return _named_folder(named) if named else _default_folder()


def has_entries() -> bool:
    """Return whether any kernel is stored, perhaps for other types or in another version."""
    return any(_folder().glob("*.nbc"))


@cache
def _named_folder(named: str) -> Path:
    """Return the folder in NUMBA_CACHE_DIR. If another user owns "treerep", each user has a folder."""
    folder = Path(named) / "treerep"
    return folder if _make_private(folder) else folder.with_name(f"treerep-{_user()}")


@cache
def _default_folder() -> Path:
    """Return the first folder that can be written: in the user's cache, or beside the package."""
    beside = _PACKAGE / "__pycache__" / "kernels"
    try:
        folder = user_cache("kernels")
    except RuntimeError:  # there is no home folder
        return beside
    return folder if _make_private(folder) and os.access(folder, os.W_OK) else beside


def _make_private(folder: Path) -> bool:
    """Create a folder for this user alone. Return whether only this user or root may write there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if not _is_private(status) and status.st_uid == _user():
            folder.chmod(0o700)
        return _is_private(folder.stat())
    except OSError:
        return False


def _user() -> int:
    """Return the number of the user. On Windows, return 0."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _is_private(status: os.stat_result) -> bool:
    """Return whether only this user or root may write a file or folder. On Windows, return True."""
    if not hasattr(os, "geteuid"):
        return True
    return status.st_uid in (0, _user()) and not status.st_mode & 0o022


def _load(path: Path, sig: object, target_context: Any) -> Any:
    """Return the code in a file, or None if it is missing, damaged or for other types."""
    try:
        with path.open("rb") as file:
            private = _is_private(os.fstat(file.fileno()))
            content = file.read() if private else b""
    except OSError:
        return None
    if not private:
        _warn_once(
            f"compiled code in {path.parent} is not used, because other users may write it: set "
            "NUMBA_CACHE_DIR to another folder"
        )
        return None
    try:
        stored, payload = pickle.loads(content)
        if stored != sig:
            return None
        found = CompileResult._rebuild(target_context, *payload)
        _mark_used(path)
    except Exception:  # a damaged file may raise anything: compile and write it again
        return None
    return found


def _mark_used(path: Path) -> None:
    """Set the time of a file, at most once a day."""
    if time.time() - path.stat().st_mtime > _DAY:
        with suppress(OSError):  # the cache of another user
            os.utime(path)


def _remove_unused(path: Path) -> None:
    """Remove old entries of the same kernel."""
    kernel_name = path.name.rpartition("-")[0]
    for other in path.parent.glob(f"{kernel_name}-*.nbc"):
        with suppress(OSError):  # another process removes it as well
            if time.time() - other.stat().st_mtime > _KEPT_DAYS * _DAY:
                other.unlink()


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole, so that no other process reads a part of it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _lock(path: Path) -> Any:
    """Wait until no other process compiles this entry, and return an open file that locks it.

    Return None if files cannot be locked here. The wait is limited: a process that was stopped
    by a debugger would otherwise stop all others.
    """
    if fcntl is None:
        return None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = path.with_suffix(".lock").open("ab")  # closed by `released`
    except OSError:
        return None
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            time.sleep(_PAUSE)
        except OSError:  # a file system without locks
            break
    file.close()
    return None


def _unlock(file: Any) -> None:
    """Release a lock and remove its file.

    A process that waits for this file looks for the stored code next. Nothing needs the file then.
    """
    Path(file.name).unlink(missing_ok=True)
    file.close()


_warned = False


def _warn_once(text: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(text, RuntimeWarning, stacklevel=3)
