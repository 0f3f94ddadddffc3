"""How notebooks show a tree. A room above draws it and says so here, so that this room imports no other."""

from collections.abc import Callable
from typing import Any

_RENDERERS: dict[str, Callable[[Any], str]] = {}


def register_renderer(render: Callable[[Any], str]) -> None:
    """Let notebooks show a tree as the HTML that `render(tree)` returns."""
    _RENDERERS["html"] = render


def rendered(tree: Any) -> str | None:
    """The tree as HTML, or None where nobody draws it: a notebook then takes its `repr`."""
    return _RENDERERS["html"](tree) if "html" in _RENDERERS else None
