"""Names that are imported when they are first used.

Tables of names let a package offer functions without importing them. They also let a package
use functions of packages above it, which import it themselves.
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
        Its `__name__`. It has an `__all__`.
    homes : mapping
        The module of each name, relative to the package of this one.
    submodules : collection of str
        Modules of the package that are public as they are.
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
        setattr(this, name, value)  # so that `find` is called once per name
        return value

    return find, listed.copy
