"""Imports of optional dependencies, with a one-line error if a dependency is missing."""

import importlib
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or raise an ImportError that names its extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(
            f"this needs {name}, which is not installed: pip install 'treerep[{extra}]'"
        ) from error
