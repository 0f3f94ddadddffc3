"""What the page knows of a tree: small arrays, as text."""

import base64
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.typing import MetricLike
from ...embedding.sarkar.construction import sarkar
from ...embedding.tree_embedding import TreeEmbedding
from ...metric._matching import matched, values_in_order
from ...metric.as_metric import as_metric
from ...tree.tree import Tree

#: With more points than this the page has no true distances: they would be most of it.
MOST_DISTANCES = 1000
#: Whole numbers with at most so many values are categories; so many categories have a color of
#: their own.
MOST_COLORS = 20
# How the page can draw the lengths of edges: a power of them. Noisy data have long ends that
# hide all else.
_POWERS = {"as they are": 1.0, "square roots": 0.5, "all equal": 0.0}
# Hyperbolic length of the longest edge: at first, at most, and where the slider ends.
_LONGEST_AT_FIRST = 16.0
_LONGEST = 60.0
_LONGEST_BY_SLIDER = 40.0


def encoded(values: NDArray[Any], dtype: str) -> str:
    """Little-endian numbers in base 64."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")


def tree_fields(tree: Tree, scale: float | None) -> dict[str, Any]:
    """Nodes in preorder from the center of the tree: ids, parents, lengths, and directions as angles."""
    hung = sarkar(tree, dim=2, scale=1.0)
    order = hung._order
    lengths = hung._lengths
    longest = float(lengths.max())
    if scale is not None and scale * longest > _LONGEST:
        raise ValueError(
            f"scale={scale:.4g} makes the longest edge too long: give {_LONGEST / longest:.4g} or less"
        )
    return {
        "points": tree.n_points,
        "node": encoded(order, "<i4"),
        "up": encoded(hung.oracle.up, "<i4"),
        "length": encoded(lengths, "<f8"),
        "angle": encoded(edge_angles(hung), "<f8"),
        "shapes": [
            _shape(tree, int(order[0]), name, power, scale) for name, power in _POWERS.items()
        ],
    }


def _shape(
    tree: Tree, root: int, name: str, power: float, scale: float | None
) -> dict[str, Any]:
    """How lengths are drawn: scale * length^power."""
    drawn = np.where(tree.weights > 0, tree.weights**power, 0.0)
    longest = float(drawn.max(initial=0.0))
    factor = (
        scale
        if scale is not None and power == 1
        else _good_scale(tree.with_weights(drawn), root, longest)
    )
    drawn_longest = factor * longest
    most = 4.0 if drawn_longest == 0 else max(1.0, min(4.0, _LONGEST_BY_SLIDER / drawn_longest))
    return {"name": name, "power": power, "scale": factor, "most_spread": most}


def edge_angles(hung: TreeEmbedding) -> NDArray[np.float64]:
    """Direction of the edge to each position, as an angle in the frame of its upper end.

    The frames of an embedding are carried along an edge by a reflection, so every other one is
    left-handed; those of the page are all right-handed: angles count backwards in the others.
    An edge straight on reflects nothing.
    """
    turns = hung.oracle.turns
    reflects = ((turns[:, 0] < 0) | (turns[:, 1] != 0)).tolist()
    up = hung.oracle.up.tolist()
    left = [False] * len(up)
    for k in range(1, len(up)):
        left[k] = left[up[k]] != reflects[k]
    upper_is_left = np.array(left)[np.maximum(hung.oracle.up, 0)]
    angles = np.arctan2(turns[:, 1], turns[:, 0])
    return np.where(upper_is_left, -angles, angles)


def _good_scale(tree: Tree, root: int, longest: float) -> float:
    """A scale that suits the eye: median and largest radius grow with the logarithm of the number of points."""
    depth = tree.rooted(root).depth
    typical = float(np.median(depth[: tree.n_points]))
    farthest = float(depth.max())
    if farthest < 1e-300:  # nothing to see, and a scale for it would overflow
        return 1.0
    size = math.log(tree.n_points)
    return min(
        (2.2 + 0.65 * size) / max(typical, 1e-9 * farthest),
        (1.5 + 1.6 * size) / farthest,
        _LONGEST_AT_FIRST / longest,
    )


def shown_labels(tree: Tree, labels: Iterable[object] | None) -> list[str] | None:
    """Labels as text: those given, or the tree's."""
    if labels is None:
        return None if tree.labels is None else list(tree.labels)
    names = [str(label) for label in labels]
    if len(names) != tree.n_points:
        raise ValueError(
            f"labels has {len(names)} entries for {tree.n_points} points: give one per point"
        )
    if len(set(names)) < len(
        names
    ):  # the page finds points by their names, and exports them by these
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(
            f"labels names two points {twice!r}: make the names unique; groups of points go into table="
        )
    return names


def true_distances(tree: Tree, data: MetricLike) -> str | None:
    """The upper triangle of the true distances, row by row; None where there are too many."""
    if data is None:
        return None
    n = tree.n_points
    metric = matched(as_metric(data), tree, ("data", "the tree"))
    if n > MOST_DISTANCES:
        return None
    return encoded(metric.block(np.arange(n), np.arange(n))[np.triu_indices(n, 1)], "<f8")


def attribute_fields(tree: Tree, table: Any, color: Any) -> tuple[list[dict[str, Any]], int]:
    """All attributes of the points, and the number of the one to color by."""
    columns = _columns(tree, table)
    name = color if isinstance(color, str) else None
    if name is not None and name not in columns:
        known = ", ".join(map(repr, columns)) or "no column at all"
        raise ValueError(
            f"color={name!r} is no column of the table, which has {known}: name one, or give values"
        )
    if color is not None and name is None:
        name = str(getattr(color, "name", None) or "color")
        while name in columns:  # the table keeps its own
            name += " (given)"
        columns = {name: values_in_order(color, tree.labels), **columns}
    attributes = [_attribute(tree, key, values) for key, values in columns.items()]
    clusters = min(8, max(1, tree.n_points // 4))
    attributes.append(_attribute(tree, f"cut into {clusters}", tree.cut(clusters) + 1))
    return attributes, 0 if name is None else list(columns).index(name)


def _columns(tree: Tree, table: Any) -> dict[str, Any]:
    if table is None:
        return {}
    if not hasattr(table, "keys"):
        kind = type(table).__name__
        raise TypeError(f"table is a DataFrame, or a dict of columns by name, not {kind}")
    return {str(key): values_in_order(table[key], tree.labels) for key in table.keys()}  # noqa: SIM118 - of a DataFrame: its columns


def _attribute(tree: Tree, name: str, column: Any) -> dict[str, Any]:
    values = np.asanyarray(column)  # of a masked array, what is masked becomes None below
    if values.shape != (tree.n_points,):
        raise ValueError(
            f"column {name!r} has shape {values.shape} for {tree.n_points} points: give one value per point"
        )
    if values.dtype.kind in "mM":
        values = _times(values)
    entries = [None if _is_missing(value) else value for value in values.tolist()]
    present = [value for value in entries if value is not None]
    own = getattr(getattr(column, "dtype", None), "categories", None)  # of a pandas Categorical
    if own is None and _are_numbers(present):
        return {
            "name": name,
            "kind": "number",
            "values": encoded(_numbers(name, entries), "<f8"),
        }
    categories = _categories(present) if own is None else list(own)
    codes = {category: i for i, category in enumerate(categories)}
    coded = [-1 if value is None else codes[value] for value in entries]
    return {
        "name": name,
        "kind": "category",
        "categories": [str(category) for category in categories],
        "values": encoded(np.array(coded), "<i4"),
    }


def _times(values: NDArray[Any]) -> NDArray[Any]:
    """Dates as text whose order is theirs, spans of time as seconds: their own whole numbers say nothing."""
    if values.dtype.kind == "m":
        return values / np.timedelta64(1, "s")
    absent = np.isnat(values)
    for unit in ("D", "s"):  # no digits that are all zero
        coarse = values.astype(f"M8[{unit}]")
        if (absent | (coarse == values)).all():
            values = coarse
            break
    texts = np.datetime_as_string(values).astype(object)
    texts[absent] = None
    return texts


def _are_numbers(present: list[Any]) -> bool:
    if not present or not all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in present
    ):
        return False
    return any(isinstance(value, float) for value in present) or len(set(present)) > MOST_COLORS


def _numbers(name: str, entries: list[Any]) -> NDArray[np.float64]:
    numbers = np.array([math.nan if value is None else float(value) for value in entries])
    infinite = np.isinf(numbers)
    if infinite.any():
        raise ValueError(
            f"column {name!r} is infinite at point {np.argmax(infinite)}: give numbers, NaN where missing"
        )
    return numbers


def _categories(present: list[Any]) -> list[Any]:
    """In their own order while each has a color; otherwise the most frequent first."""
    counts = Counter(present)
    try:
        by_name = sorted(counts)
    except TypeError:  # of several kinds, or of one without an order
        by_name = sorted(counts, key=str)
    return (
        by_name
        if len(by_name) <= MOST_COLORS
        else sorted(by_name, key=lambda value: -counts[value])
    )


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )
