"""Sarkar's construction: a weighted tree in hyperbolic space, every edge exact, every distance as exact as wished.

R. Sarkar, Low distortion Delaunay embedding of trees in hyperbolic plane (Graph Drawing 2011); in more dimensions and
with codes: F. Sala, C. De Sa, A. Gu, C. Ré, Representation tradeoffs for hyperbolic embeddings (ICML 2018).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metric.base import Metric, frozen
from ..scoring.streaming import check_choice
from ..tree.rooted import Preorder
from ..tree.tree import Tree
from .directions import RULES, Around, place_edges
from .tree_embedding import TreeEmbedding


def sarkar(
    tree: Metric,
    *,
    dim: int = 2,
    scale: float | None = None,
    distortion: float | None = None,
    directions: str = "traffic",
    exponent: float = 0.5,
    root: int | str | None = None,
) -> TreeEmbedding:
    """Embed."""
    if not isinstance(tree, Tree):
        raise TypeError("sarkar embeds a tree: fit one first, e.g. tr.embed(tr.fit(data))")
    view = tree._view
    at = _center(view) if root is None else tree._node(root)
    if at != view.order[0]:
        view = tree._view_from(at)
    around = place_edges(view, tree.n_points, dim, directions, exponent)
    from .scale import scale_for
    tau = scale if scale is not None else scale_for(distortion or 1.05, view, tree.n_points, around)
    return TreeEmbedding._placed(view, around.turns, tau, tree.n_points, tree.labels)


def _center(view: Preorder) -> int:
    from .sarkar_kernels import find_center

    return int(find_center(view.order, view.up, view.length))
