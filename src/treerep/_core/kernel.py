"""`@kernel`: compile on first use and store the machine code on disk (see `kernel_cache`)."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numba
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import overload

from .compilers import HelperCompiler, KernelCompiler, link_environments
from .kernel_cache import KernelCache

# Without an entry point for C, which nothing uses, less code is compiled.
_KERNEL: dict[str, Any] = {
    "nogil": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": KernelCompiler,
}
_HELPER: dict[str, Any] = {
    **_KERNEL,
    "no_cpython_wrapper": True,
    "pipeline_class": HelperCompiler,
    "_nrt": True,  # or a helper of a borrower would inherit its `_nrt=False`
}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use, without the GIL, with an on-disk cache."""
    compiled = _compiled(function, **_KERNEL)
    # Numba has no public way to replace the cache; tests/_core/test_kernel.py guards this line.
    compiled._cache = cache = KernelCache(function)
    _around_compilation(compiled, cache.released)
    _around_compilation(compiled, _without_garbage_collection)

    @contextmanager
    def linked() -> Iterator[None]:
        yield
        link_environments(next(reversed(compiled.overloads.values())))

    _around_compilation(compiled, linked)
    return compiled


def helper(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call. Its machine code is cached with its callers."""
    return _compiled(function, **_HELPER)


def borrower(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a helper that only borrows the arrays of its caller, without counting references.

    Numba counts the references to every array of every argument, on every call, with atomic
    instructions. In TreeRep, this took almost half of the time. A borrower that allocates or returns an
    array is not compiled.
    """
    compiled = _compiled(function, **{**_HELPER, "_nrt": False})

    @contextmanager
    def checked() -> Iterator[None]:
        yield
        for compiled_for in compiled.overloads.values():
            if _has_array(compiled_for.signature.return_type):
                raise TypeError(f"{function.__name__} returns an array: make it a helper")

    _around_compilation(compiled, checked)
    return compiled


def specialized(function: Callable[..., Any]) -> Any:
    """Choose, by the types of the arguments, the helper that stands for `function` in kernels.

    It decorates a function that receives the types and returns the helper, still as Python.
    """
    return overload(function, jit_options=_HELPER)


def _has_array(kind: Any) -> bool:
    parts = kind.types if isinstance(kind, types.BaseTuple) else [kind]
    return any(isinstance(part, types.Array) for part in parts)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Return numba's dispatcher of a function, even if NUMBA_DISABLE_JIT is set.

    Some functions of this package exist only as machine code, so they cannot run uncompiled.
    """
    with _jit_enabled():
        compiled = numba.njit(**options)(function)
    if numba.config.DISABLE_JIT:
        _around_compilation(compiled, _jit_enabled)
    return compiled


def _around_compilation(compiled: Any, context: Callable[[], Any]) -> None:
    """Enter a context whenever numba compiles a function for new types."""
    compile_it = compiled.compile

    @wraps(compile_it)
    def compile_inside(signature: object) -> object:
        with context():
            return compile_it(signature)

    compiled.compile = compile_inside


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector, which finds nothing while numba builds large trees of objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
