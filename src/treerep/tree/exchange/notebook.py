"""Trees in notebooks."""

from typing import TYPE_CHECKING

from ..._core.lazy import load

if TYPE_CHECKING:
    from ..tree import Tree

# The drawing package imports this package, so its function is given by name and not imported.
_HTML = "treerep.drawing.page.write:tree_html"


def rendered(tree: "Tree") -> str:
    """Return the tree as HTML."""
    html: str = load(_HTML)(tree)
    return html
