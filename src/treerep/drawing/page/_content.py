"""The data of a page: a tree, its labels and distances, encoded as text."""

import base64
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._core.typing import MetricLike
from ...embedding.sarkar.construction import sarkar
from ...embedding.tree_embedding import TreeEmbedding
from ...metric._matching import matched
from ...metric._missing import refuse_missing
from ...metric.as_metric import as_metric
from ...tree.tree import Tree
from .._arrays import FloatArray
from ._edge_support import edge_support, support_words
from ._first_view import LENGTH_POWERS

#: With more points, a page does not store the true distances, which would be most of the file.
MOST_DISTANCES = 1000
# Hyperbolic length of the longest edge.
_LONGEST_AT_FIRST = 16.0
_LONGEST = 60.0  # maximum
_LONGEST_BY_SLIDER = 40.0  # at the end of the slider

#: Values by name: fields of the page, which become JSON.
Fields: TypeAlias = dict[str, object]


def encode(values: NDArray[Any], dtype: str) -> str:
    """Return numbers of a dtype in base 64."""
    content = np.ascontiguousarray(values, dtype=dtype).tobytes()
    return base64.b64encode(content).decode("ascii")


def tree_fields(tree: Tree, scale: float | None, root: int) -> Fields:
    """Return the nodes in preorder from the root: ids, parents, lengths and angles."""
    embedding = sarkar(tree, dim=2, scale=1.0, root=root)
    longest = float(embedding._lengths.max())
    if scale is not None and scale * longest > _LONGEST:
        raise ValueError(
            f"scale={scale:.4g} makes the longest edge too long: use at most {_LONGEST / longest:.4g}"
        )
    shapes = [_shape(tree, root, name, power, scale) for name, power in LENGTH_POWERS.items()]
    # Children are in the order of the pictures of `draw`. The embedding has its own order.
    view = tree._view_from(root)
    place = np.empty(tree.n_nodes, np.int64)
    place[embedding._order] = np.arange(tree.n_nodes)
    return {
        "points": tree.n_points,
        "node": encode(view.order, "<i4"),
        "up": encode(view.up, "<i4"),
        "length": encode(view.length, "<f8"),
        "angle": encode(edge_angles(embedding)[place[view.order]], "<f8"),
        "shapes": shapes,
        **support_fields(tree, view.position),
    }


def support_fields(tree: Tree, position: NDArray[np.integer]) -> Fields:
    """Return the support of the edge above each position, and the names of clades by node."""
    support = edge_support(tree, position)
    return {
        "support": None if support is None else encode(support, "<f8"),
        "support_texts": support_words(tree, position),
        "clades": {str(node): name for node, name in tree.clade_names.items()},
    }


def _shape(tree: Tree, root: int, name: str, power: float, scale: float | None) -> Fields:
    """Return how edge lengths are drawn: as scale * length^power."""
    drawn = np.where(tree.weights > 0, tree.weights**power, 0.0)
    longest = float(drawn.max(initial=0.0))
    if scale is not None and power == 1:
        factor = scale
    else:
        factor = _good_scale(tree.with_weights(drawn), root, longest)
    most = 4.0
    if factor * longest > 0:
        most = max(1.0, min(4.0, _LONGEST_BY_SLIDER / (factor * longest)))
    return {"name": name, "power": power, "scale": factor, "most_spread": most}


def edge_angles(embedding: TreeEmbedding) -> FloatArray:
    """Return the direction of the edge to each position, as an angle at its upper end.

    An embedding transports frames along an edge by a reflection, so some of its frames are
    left-handed. All frames of the page are right-handed. Angles in left-handed frames therefore
    change their sign. An edge straight ahead does not reflect.
    """
    turns = embedding.oracle.turns
    reflects = ((turns[:, 0] < 0) | (turns[:, 1] != 0)).tolist()
    up = embedding.oracle.up.tolist()
    left = [False] * len(up)
    for k in range(1, len(up)):
        left[k] = left[up[k]] != reflects[k]
    upper_is_left = np.array(left)[np.maximum(embedding.oracle.up, 0)]
    angles = np.arctan2(turns[:, 1], turns[:, 0])
    return np.where(upper_is_left, -angles, angles)


def _good_scale(tree: Tree, root: int, longest: float) -> float:
    """Return a scale for pictures. Radii grow with the logarithm of the number of points."""
    depth = tree.rooted(root).depth
    typical = float(np.median(depth[: tree.n_points]))
    farthest = float(depth.max())
    if farthest < 1e-300:  # the scale would overflow
        return 1.0
    size = math.log(tree.n_points)
    return min(
        (2.2 + 0.65 * size) / max(typical, 1e-9 * farthest),
        (1.5 + 1.6 * size) / farthest,
        _LONGEST_AT_FIRST / longest,
    )


def shown_labels(tree: Tree, labels: Iterable[object] | None) -> list[str] | None:
    """Return the given labels, or the labels of the tree, as text."""
    if labels is None:
        return None if tree.labels is None else list(tree.labels)
    names = [str(label) for label in labels]
    if len(names) != tree.n_points:
        raise ValueError(
            f"labels has {len(names)} entries for {tree.n_points} points: there must be one label per point"
        )
    if len(set(names)) < len(names):  # the page finds and exports points by label
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(
            f"the label {twice!r} occurs more than once: make labels unique, and put groups into the table"
        )
    return names


def true_distances(tree: Tree, data: MetricLike) -> str | None:
    """Return the upper triangle of the true distances, or None if there are too many points."""
    if data is None:
        return None
    n = tree.n_points
    metric = matched(as_metric(data), tree, ("data", "the tree"))
    refuse_missing(metric, "the page", "leave out data")
    if n > MOST_DISTANCES:
        return None
    points = np.arange(n)
    square = metric.block(points, points)
    return encode(square[np.triu_indices(n, 1)], "<f8")
