"""Numba's compiler for kernels and for their helpers, with less work (docs/developers/compilation.md).

- Flags are compared quickly. They are part of the key under which numba stores how a call is
  compiled. A lookup compares them with those of all earlier callers, about 35 options each.
- Helpers get no machine code, which only kernels need. A kernel includes the LLVM code of its
  helpers, and optimizes it again in its own context. numba also generates machine code for each
  helper, which nothing calls, and optimizes each function of a helper twice.

numba lets a pipeline replace passes. Here, a pass also replaces the library of its function.
"""

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering

_DEFAULTS = Flags().values()
_HASH = hash(Flags())  # numba's hash depends only on the names of the options


class _QuickFlags(Flags):  # type: ignore[misc]
    """Numba's flags, equal to the same ones as before, without a Python call for each option."""

    def values(self) -> dict[str, Any]:
        """Return the values of all options."""
        return {**_DEFAULTS, **self._values}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _QuickFlags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))

    def __hash__(self) -> int:
        return _HASH


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with quick flags."""

    def __init__(
        self,
        typingctx: Any,
        targetctx: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Flags,
        local_types: Any,
    ) -> None:
        quick = _QuickFlags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, quick, local_types)


class _HelperLibrary(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code that is linked into kernels, and never loaded."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _HelperLowering(NativeLowering):  # type: ignore[misc]
    """Numba's translation to LLVM, into a library that is not loaded."""

    _name = "helper_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate the function of a pipeline."""
        context = state.targetctx  # a copy for this function
        state.library = _HelperLibrary(context.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        context.get_executable = _entry_point
        try:
            return bool(super().run_pass(state))
        finally:
            del context.get_executable


def _entry_point(library: Any, description: Any, environment: Any) -> Any:
    """Return a callable with the address 0. It is the key of a helper, and never called."""
    library._ensure_finalized()
    module = description.lookup_module()
    return _dynfunc.make_function(module, "helper", "", 0, environment, (library,))


class HelperCompiler(KernelCompiler):
    """The same, with `_HelperLowering` as its last large pass."""

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's pipeline with another translation to LLVM."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline = PassManager("helper")
        for compiler_pass, description in usual.passes:
            is_lowering = compiler_pass is NativeLowering
            pipeline.add_pass(_HelperLowering if is_lowering else compiler_pass, description)
        pipeline.finalize()
        return [pipeline]


def link_environments(result: Any) -> None:
    """Give a compiled kernel the constants of its helpers, from which errors are made.

    numba does the same with the machine code of a helper, or when it loads a kernel.
    """
    for environment in result._find_referenced_environments():
        result.library.codegen.set_env(environment.env_name, environment)
