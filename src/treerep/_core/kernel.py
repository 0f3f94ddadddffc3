"""`@kernel`: compile on first use, with an on-disk cache that is never stale.

Numba stamps a cache entry with the file that defines the function. Our kernels inline helpers from
other files, such as `distance`, so after an edit in another file, old machine code would stay in
use. `kernel` stamps each entry with one hash of all kernel sources instead. The hash is part of the
file name, so an index of classes that no longer exist is never opened.

If the cache cannot be read or written, kernels are compiled in every process.
"""

import hashlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler_lock import global_compiler_lock

_PACKAGE = Path(__file__).resolve().parents[1]


def source_stamp(package: Path = _PACKAGE) -> str:
    """Hash the files that kernels depend on: all `*kernels.py`, the oracles and `Preorder`."""
    digest = hashlib.sha256()
    classes = ("metric/oracle/classes.py", "tree/structure/rooted.py")
    for path in sorted([*package.rglob("*kernels.py"), *(package / name for name in classes)]):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = source_stamp()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on first use, without the GIL, with an on-disk cache."""
    compiled = _compiled(function)
    # Numba has no public way to declare the dependencies of a cache entry;
    # tests/_core/test_kernel.py guards this line.
    try:
        compiled._cache = _Cache(function)
    except (RuntimeError, OSError) as error:  # no writable folder
        _warn_once(error)
    return compiled


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call. Its machine code is cached with its callers."""
    # Without entry points for Python or C, less code is compiled. A helper of a borrower would
    # inherit its `_nrt=False`.
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=True)


def borrower(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a helper that only borrows the arrays of its caller, without counting references.

    Numba counts the references to every array of every argument, on every call, with atomic
    instructions. In TreeRep, this took almost half of the time. A borrower that allocates or returns an
    array is not compiled.
    """
    compiled = _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
    compile_it = compiled.compile

    @wraps(compile_it)
    def compile_and_check(signature: object) -> object:
        entry = compile_it(signature)
        for overload in compiled.overloads.values():
            if _has_array(overload.signature.return_type):
                raise TypeError(f"{function.__name__} returns an array: make it a helper")
        return entry

    compiled.compile = compile_and_check
    return compiled


def _has_array(kind: Any) -> bool:
    parts = kind.types if isinstance(kind, types.BaseTuple) else [kind]
    return any(isinstance(part, types.Array) for part in parts)


def _compiled(function: Callable[..., Any], **options: bool) -> Any:
    """Return numba's dispatcher of a function, even if NUMBA_DISABLE_JIT is set.

    Some functions of this package exist only as machine code, so they cannot run uncompiled.
    """
    with _jit_enabled():
        compiled = numba.njit(nogil=True, **options)(function)
    if numba.config.DISABLE_JIT:
        compile_it = compiled.compile

        @wraps(compile_it)
        def compile_anyway(signature: object) -> object:
            with _jit_enabled():
                return compile_it(signature)

        compiled.compile = compile_anyway
    return compiled


@contextmanager
def _jit_enabled() -> Iterator[None]:
    before = numba.config.DISABLE_JIT
    if not before:
        yield
        return
    with global_compiler_lock:  # the setting is shared by all threads
        before = numba.config.DISABLE_JIT
        numba.config.DISABLE_JIT = 0
        try:
            yield
        finally:
            numba.config.DISABLE_JIT = before


class _Cache(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel. Errors of the cache are not raised."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        name = f"{self._impl.filename_base}-{_STAMP[:16]}"
        self._cache_file = _CacheFile(
            cache_path=self._cache_path, filename_base=name, source_stamp=_STAMP
        )

    def load_overload(self, sig: object, target_context: object) -> object:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file may raise anything: compile and write it again
            return None

    def save_overload(self, sig: object, data: object) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_once(error)


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's cache files of one kernel, safe for processes that compile at the same time.

    Numba numbers the files of machine code. Two processes that compile for different types may
    take the same number, and the index then maps the types of one process to the code of the
    other. Here the name of a file is a hash of its key.
    """

    def save(self, key: object, data: object) -> None:
        name = self._data_name_pattern.replace(
            "{number:d}", hashlib.sha256(self._dump(key)).hexdigest()[:16]
        )
        self._save_data(name, data)  # before the index, which must list only existing files
        self._save_index({**self._load_index(), key: name})

    def _load_index(self) -> dict[object, str]:
        try:
            return super()._load_index()
        except OSError:
            raise
        except Exception:  # truncated, perhaps by a power failure
            return {}


_warned = False


def _warn_once(error: Exception) -> None:
    global _warned
    if not _warned:
        _warned = True
        reason = " ".join(str(error).split())
        warnings.warn(
            f"compiled code cannot be stored ({reason}), so every run compiles again: set "
            "NUMBA_CACHE_DIR to a writable folder",
            RuntimeWarning,
            stacklevel=3,
        )
