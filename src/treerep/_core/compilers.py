"""Numba's compiler for kernels and for their helpers, with less work (docs/developers/compilation.md).

- Flags are compared quickly. They are part of the key under which numba stores how a call is
  compiled. A lookup compares them with those of all earlier callers, about 35 options each.
- Operators are resolved once per process. numba tries about ten templates for each occurrence.
- Helpers are compiled for fewer types: constants and int32 are passed as int64.
- Helpers get no machine code, which only kernels need. A kernel includes the LLVM code of its
  helpers, and optimizes it again in its own context. numba also generates machine code for each
  helper, which nothing calls, and optimizes each function of a helper twice.
- Two passes run only for functions that they can change.

numba lets a pipeline replace passes. Here, a pass also replaces the library of its function.
"""

from functools import cache
from types import CodeType
from typing import Any

from numba import _dynfunc, types
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.typing import Context
from numba.core.untyped_passes import InlineClosureLikes

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


# Expressions that only return a part of an array.
_SLICES = ("getitem", "static_getitem")
# Signatures of calls to functions of numba, by the function, the types of the arguments, and whether
# references are counted. Borrowers, which do not count them, cannot call functions that allocate.
_resolved: dict[Any, Any] = {}


class _QuickContext(Context):  # type: ignore[misc]
    """Numba's typing context, with quick answers for calls. All other state is numba's own."""

    def __init__(self, context: Context) -> None:
        self.__dict__ = context.__dict__

    def _resolve_user_function_type(self, func: Any, args: Any, kws: Any, literals: Any = None) -> Any:
        function = self._lookup_global(func) or func
        if isinstance(function, types.Dispatcher) and _is_helper(function.dispatcher):
            args = tuple(map(_common_type, args))
        if kws or not isinstance(function, types.Function):
            return super()._resolve_user_function_type(func, args, kws, literals)
        flags = ConfigStack.top_or_none()
        # A function that has received more templates is not equal to its earlier version.
        key = function, args, flags is not None and flags.nrt
        found = _resolved.get(key)
        if found is None:
            found = super()._resolve_user_function_type(func, args, kws, literals)
            _resolved[key] = found
        return found


@cache  # numba also remembers what it compiled for a context
def _quick_context(context: Context) -> _QuickContext:
    return _QuickContext(context)


def _is_helper(dispatcher: Any) -> bool:
    return dispatcher._compiler.pipeline_class is HelperCompiler


def _common_type(kind: Any) -> Any:
    """Return the type as which a helper receives an argument.

    Arithmetic with int32 gives int64 in numba, so the results are the same.
    """
    if isinstance(kind, types.IntegerLiteral):
        kind = kind.literal_type
    return types.int64 if kind == types.int32 else kind


@register_pass(mutates_CFG=True, analysis_only=False)
class _InlineClosures(InlineClosureLikes):  # type: ignore[misc]
    """Numba's pass for functions within a function."""

    _name = "inline_closures"

    def run_pass(self, state: Any) -> bool:
        """Inline the inner functions, if there are any."""
        constants = state.func_id.code.co_consts
        if not any(isinstance(constant, CodeType) for constant in constants):
            return False
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _FuseArrays(NopythonRewrites):  # type: ignore[misc]
    """Numba's pass for expressions of whole arrays."""

    _name = "fuse_arrays"

    def run_pass(self, state: Any) -> bool:
        """Fuse the expressions into one loop, if there are any."""
        if not any(
            isinstance(expression, ir.Expr)
            and expression.op not in _SLICES
            and isinstance(getattr(signature, "return_type", None), types.Array)
            for expression, signature in state.calltypes.items()
        ):
            return False
        return bool(super().run_pass(state))


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with quick flags and calls, and without passes that change nothing."""

    _passes: dict[type, type] = {  # noqa: RUF012 - never changed
        InlineClosureLikes: _InlineClosures,
        NopythonRewrites: _FuseArrays,
    }

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
        context = _quick_context(typingctx)
        quick = _QuickFlags(flags)
        super().__init__(context, targetctx, library, args, return_type, quick, local_types)

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's pipeline with other versions of some passes."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline = PassManager(type(self).__name__)
        for compiler_pass, description in usual.passes:
            pipeline.add_pass(self._passes.get(compiler_pass, compiler_pass), description)
        pipeline.finalize()
        return [pipeline]


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

    _passes: dict[type, type] = {  # noqa: RUF012 - never changed
        **KernelCompiler._passes,
        NativeLowering: _HelperLowering,
    }


def link_environments(result: Any) -> None:
    """Give a compiled kernel the constants of its helpers, from which errors are made.

    numba does the same with the machine code of a helper, or when it loads a kernel.
    """
    for environment in result._find_referenced_environments():
        result.library.codegen.set_env(environment.env_name, environment)
