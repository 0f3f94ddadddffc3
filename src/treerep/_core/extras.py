"""Optional dependencies: imported where they are used, with one clear line when absent."""

import importlib
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import an optional dependency or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(
            f"this needs {name}, which is not installed: pip install 'treerep[{extra}]'"
        ) from error
