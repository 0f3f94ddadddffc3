"""Names that are imported on first use.

Tables of names let a package offer functions without importing them. A package can also use
functions from higher-level packages that import it.
"""

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any


def load(address: str) -> Any:
    """Import an object given as "module:name".

    >>> load("math:gcd")(12, 8)
    4
    """
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


def attach(
    module: str, homes: Mapping[str, str], submodules: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a module that imports its names lazily (SPEC 1).

    Parameters
    ----------
    module : str
        The module's `__name__`. The module must define `__all__`.
    homes : mapping
        The module that defines each name, relative to the package of `module`.
    submodules : collection of str
        Public modules of the package.
    """
    this = sys.modules[module]
    package = this.__package__
    listed = sorted(this.__all__)

    def find(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f".{name}", package)
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{homes[name]}", package), name)
        setattr(this, name, value)  # so that `find` runs once per name
        return value

    return find, listed.copy
