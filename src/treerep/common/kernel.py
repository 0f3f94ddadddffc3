"""`@kernel`: compiled on first use, kept on disk, and never stale.

Numba stamps an on-disk cache entry with the file that defines the function alone. Our kernels inline `distance` and
other helpers from other files, so an edit there would leave old machine code in use. `kernel` stamps every entry with
one hash over all kernel sources instead, and puts it into the file's name, so that an index which names classes that
are gone is not even opened.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

_PACKAGE = Path(__file__).resolve().parents[1]


def source_stamp(package: Path = _PACKAGE) -> str:
    """Hash of every file whose code can end up inside a kernel: all `*kernels.py`, and the oracle classes."""
    digest = hashlib.sha256()
    for path in sorted([*package.rglob("*kernels.py"), package / "metric" / "oracles.py"]):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = source_stamp()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use, without the GIL, with an on-disk cache stamped by all kernel sources."""
    compiled = numba.njit(cache=True, nogil=True)(function)
    # Numba offers no public way to say what a cache entry depends on; tests/common/test_kernel.py guards these lines.
    cache = compiled._cache
    name = f"{cache._impl.filename_base}-{_STAMP[:16]}"
    cache._cache_file = IndexDataCacheFile(cache_path=cache._cache_path, filename_base=name, source_stamp=_STAMP)
    return compiled


def helper(function: Callable[..., Any]) -> Any:
    """Compile a piece of a kernel: it is inlined into its callers' cache entries and has none of its own."""
    # No entry points for Python or C: less to compile.
    return numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
