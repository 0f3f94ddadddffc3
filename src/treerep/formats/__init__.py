"""Room `formats`: files in and out, one file per format. Importing it imports none of them."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .reading import DATA_FORMATS as DATA_FORMATS
    from .reading import read as read
    from .trees import TREE_FORMATS as TREE_FORMATS
    from .trees import read_tree as read_tree
    from .trees import write_tree as write_tree
    from .writing import write_distances as write_distances

# Where each public name lives: never in a file of its own name, which would hide it.
_HOMES = {
    "DATA_FORMATS": "reading",
    "TREE_FORMATS": "trees",
    "read": "reading",
    "read_tree": "trees",
    "write_distances": "writing",
    "write_tree": "trees",
}

__all__ = [*_HOMES, "register"]


def register() -> None:
    """Tell `as_metric` about files: a string or a path names one."""
    from ..metric.registry import register_converter

    register_converter("builtins.str", _read)
    register_converter("pathlib.PurePath", _read)


def _read(path: Any, metric: str | None, **options: Any) -> Any:
    from .reading import read

    return read(path, metric=metric, **options)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
