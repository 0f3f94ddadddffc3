"""Colors of edges: an edge has the color of the points below it if they agree."""

from typing import TYPE_CHECKING

import numpy as np

from ...._core.extras import require
from ....tree.operations.distance_sums import subtree_sums
from ....tree.structure.rooted import Preorder
from ..._arrays import FloatArray
from .._colors import Colors
from .._picture import Picture

if TYPE_CHECKING:
    from matplotlib.typing import ColorType

# Many edges together look darker than few, so edges are drawn lighter if there are many.
_FEW = 200
EDGES = "#8C8C8C"
_MANY_EDGES = "#B4B4B4"


def plain_edges(picture: Picture) -> str:
    """Return the color of edges whose points have no common color."""
    return EDGES if len(picture.spots) <= _FEW else _MANY_EDGES


def edge_colors(picture: Picture, colors: Colors, wish: "ColorType | None") -> "ColorType | FloatArray":
    """Return one color for all edges, or one for each: see `draw`."""
    by_clade = isinstance(wish, str) and wish == "clade"
    if wish is not None and not by_clade:
        return wish
    if picture.parent is None or not (by_clade or colors.legend):
        return plain_edges(picture)
    first, second = picture.edges.T
    lower = np.where(picture.parent[first] == second, first, second)
    return clade_colors(picture, colors)[picture.kept[lower]]


def clade_colors(picture: Picture, colors: Colors) -> FloatArray:
    """Return the color of the clade at each node of the tree, as an array (N, 4).

    Categories that differ have the plain color of edges. Numbers have the color of their mean.
    """
    if len(colors.rgba) > picture.n_points or picture.view is None:
        return colors.rgba
    view = picture.view
    mixed = require("matplotlib.colors", "draw").to_rgba(plain_edges(picture))
    if colors.numbers is not None and colors.scale is not None:
        means = _mean_below(view, colors.numbers)
        painted = np.asarray(colors.scale.to_rgba(np.nan_to_num(means)), np.float64)
        painted[np.isnan(means)] = mixed
    else:
        painted = _agreed(view, colors.rgba, np.asarray(mixed))
    return painted[view.position]


def _mean_below(view: Preorder, numbers: FloatArray) -> FloatArray:
    """Return the mean of the known numbers below each position, NaN if there are none."""
    values = np.zeros(len(view.order))
    known = np.zeros(len(view.order))
    at = view.position[: len(numbers)]
    finite = np.isfinite(numbers)
    values[at] = np.where(finite, numbers, 0.0)
    known[at] = finite
    count = subtree_sums(view, known)
    total = subtree_sums(view, values)
    mean = np.full(len(count), np.nan)
    return np.divide(total, count, out=mean, where=count > 0)


def _agreed(view: Preorder, rgba: FloatArray, mixed: FloatArray) -> FloatArray:
    """Return the color of all points below each position, or `mixed`."""
    is_point = view.order < len(rgba)
    in_order = rgba[view.order[is_point]]
    changed = np.zeros(len(in_order) + 1, np.int64)
    differs = in_order[1:] != in_order[:-1]
    changed[2:] = np.cumsum(differs.any(axis=1))
    # The points below a position are a range of the points in preorder.
    before = np.concatenate([[0], np.cumsum(is_point)])
    first = before[:-1]
    last = before[np.arange(len(view.order)) + view.size]
    second = np.minimum(first + 1, last)
    same = (last > first) & (changed[last] == changed[second])
    painted = np.tile(mixed, (len(view.order), 1))
    painted[same] = in_order[first[same]]
    return painted
