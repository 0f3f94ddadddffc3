"""`page`: the tree in the Poincaré disk, to be explored in a browser; one file that needs nothing else.

The page itself is plain HTML, CSS and JavaScript modules in the folder of the same name. They
are put into one file here: what belongs to `import` and `export` is left out, so all modules
share one scope.
"""

import html
import json
import os
import re
from functools import cache
from importlib.resources import files
from typing import Any

from ..._core.checks import number_above
from ..._core.io.files import atomic_write
from ..._core.typing import MetricLike
from ...tree.tree import Tree
from ._content import attribute_fields, shown_labels, tree_fields, true_distances

#: The style sheets; and the modules, each after those that it imports from.
STYLES = ("page", "cards")
MODULES = (
    *("geometry", "tree", "layout", "colors", "detail", "painter", "svg", "viewer"),
    *("search", "panel", "input", "main"),
)
#: Trees with more nodes than this are shown as a line of text in notebooks: every output stays
#: in the notebook's file.
MOST_IN_NOTEBOOK = 20_000
_IMPORT = re.compile(r'^import\b[^;]*? from "\./\w+\.js";\n', flags=re.MULTILINE)
_EXPORT = re.compile(r"^export ", flags=re.MULTILINE)
_SLOT = re.compile(r"\{\{(\w+)\}\}")


class Page:
    """A page made by `page`: its `html`, and itself as the output of a notebook."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.html = text
        self._about = repr(tree)

    def __repr__(self) -> str:
        return f"Page({self._about}, {len(self.html) / 1000:,.0f} kB)"

    def _repr_html_(self) -> str:
        # A frame of its own: neither sees the other's styles and names.
        style = "width:100%;height:600px;border:1px solid #8884;border-radius:8px"
        frame = f'<iframe title="{html.escape(self._about)}" sandbox="allow-scripts allow-downloads" style="{style}"'
        return f'{frame} srcdoc="{html.escape(self.html)}"></iframe>'


def page(
    tree: Tree,
    path: str | os.PathLike[str] | None = None,
    *,
    color: Any = None,
    labels: Any = None,
    table: Any = None,
    title: str | None = None,
    data: MetricLike = None,
    scale: float | None = None,
) -> Page:
    """Write a page that shows the tree in the Poincaré disk and lets a person explore it.

    One HTML file without server, network or further files: drag to move the focus, turn the
    wheel to zoom, click a node to bring it to the middle, search labels, color by attributes,
    measure paths, select and export. Its help panel lists the keys.

    Parameters
    ----------
    tree : Tree
    path : path of an HTML file, optional
        Written whole or not at all. Without it nothing is written: a notebook shows what is
        returned.
    color : str or one value per point, optional
        What to color by at first: a column of `table`, or values. By default clusters of the
        tree, by `cut`.
    labels : one name per point, optional
        The tree's labels by default, or else numbers.
    table : DataFrame or dict of columns, optional
        Attributes of the points, one row per point in their order (a DataFrame whose index has
        the tree's labels is put in that order). Numbers get a color bar; anything else, and
        whole numbers of at most 20 values, a legend. None, NaN and masked values are missing.
    title : str, optional
    data : anything `as_metric` takes, optional
        The true distances, which are then shown beside the lengths of paths. Up to 1,000
        points; beyond that the page says that they are not stored.
    scale : float, optional
        Hyperbolic length of one unit of the tree at first; the page has a slider for it. By
        default one that suits the size of the tree.

    Returns
    -------
    Page
        With the text of the page as `html`.

    Notes
    -----
    O(N). Nodes are placed by Sarkar's construction, from the focus outward, so nothing is lost
    at depth.

    Examples
    --------
    >>> tree = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels=["a", "b", "c"])
    >>> page(tree, table={"height": [1.5, 2.5, 4.0]}, color="height")
    Page(Tree(3 points, 1 Steiner node), ... kB)
    """
    if not isinstance(tree, Tree):
        raise TypeError(
            "page shows a tree: fit one first, e.g. tr.page(tr.fit(data), 'tree.html')"
        )
    rule = "scale must be a number above 0"
    factor = None if scale is None else number_above(0, scale, rule)
    heading = (
        f"Tree of {tree.n_points:,} point{'s' if tree.n_points != 1 else ''}"
        if title is None
        else str(title)
    )
    attributes, first = attribute_fields(tree, table, color)
    fields = {
        "title": heading,
        **tree_fields(tree, factor),
        "labels": shown_labels(tree, labels),
        "attributes": attributes,
        "color": first,
        "distances": true_distances(tree, data),
    }
    text = _assembled(heading, fields)
    if path is not None:
        with atomic_write(path) as file:
            file.write(text)
    return Page(text, tree)


def tree_html(tree: Tree) -> str:
    """What a notebook shows of a tree: the page, or a line about a large tree."""
    if tree.n_nodes > MOST_IN_NOTEBOOK:
        return f"<p>{html.escape(repr(tree))}; explore it with <code>tr.page(tree, 'tree.html')</code></p>"
    return page(tree)._repr_html_()


def _assembled(title: str, fields: dict[str, Any]) -> str:
    # "<" could end the script element, or begin a comment in it. All else is data to the
    # browser, and ASCII.
    data = json.dumps(fields, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    slots = {"title": html.escape(title), "style": _style(), "script": _script(), "data": data}
    return _SLOT.sub(lambda slot: slots[slot[1]], _source("page.html"))


@cache
def _style() -> str:
    return "\n".join(_source(f"{name}.css") for name in STYLES)


@cache
def _script() -> str:
    return "\n".join(
        _EXPORT.sub("", _IMPORT.sub("", _source(f"{name}.js"))).strip() for name in MODULES
    )


@cache
def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
