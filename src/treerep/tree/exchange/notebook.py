"""How notebooks show a tree."""

from typing import Any

from ..._core.lazy import load

# The drawing package imports this one, so its function is named here and not imported.
_HTML = "treerep.drawing.page.write:tree_html"


def rendered(tree: Any) -> str:
    """Return the tree as HTML."""
    html: str = load(_HTML)(tree)
    return html
