"""Room `formats`: files in and out, one file per format. Each name is loaded when it is first used."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .trees import TREE_FORMATS as TREE_FORMATS
    from .trees import read_tree as read_tree
    from .trees import write_tree as write_tree

_HOMES = {
    "TREE_FORMATS": "trees",
    "read_tree": "trees",
    "write_tree": "trees",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
