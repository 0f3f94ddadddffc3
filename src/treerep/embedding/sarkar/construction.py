"""Sarkar's construction: embed a weighted tree in hyperbolic space with bounded distortion.

R. Sarkar, Low distortion Delaunay embedding of trees in hyperbolic plane (Graph Drawing 2011).
For higher dimensions and codes: F. Sala, C. De Sa, A. Gu, C. Ré, Representation tradeoffs for
hyperbolic embeddings (ICML 2018).
"""

from ..._core.checks import number_above, number_from, positive_scale
from ..._core.memory import check_memory
from ...metric.base import Metric, read_only
from ...tree.structure.rooted import rerooted
from ...tree.tree import Tree
from ..tree_embedding import TreeEmbedding
from ._directions import place_edges
from ._scale import scale_for

#: Default if neither a scale nor a distortion is given.
_DISTORTION = 1.05
#: Default of `exponent`.
_EXPONENT = 0.4


def sarkar(
    tree: Metric,
    *,
    dim: int = 2,
    scale: float | None = None,
    distortion: float | None = None,
    exponent: float | None = None,
    root: int | str | None = None,
) -> TreeEmbedding:
    """Embed a tree in hyperbolic space by Sarkar's construction.

    Edges have their exact lengths, and other distances are slightly shortened.

    Parameters
    ----------
    tree : Tree
        The tree to embed.
    dim : int
        Dimension of the space, at least 2.
    scale : float, optional
        Hyperbolic length of one unit of the tree. Distances are shortened by about a constant /
        scale.
    distortion : float, optional
        Choose the scale so that each distance between data points lies between the tree
        distance / distortion and the tree distance. `worst_distortion` is then at most this
        number. The default is 1.05, unless a scale is given.
    exponent : float, optional
        A branch of t data points has weight t^exponent, 0.4 by default. 0 separates all edges at a
        node as far as possible. Larger exponents separate branches with many data points more,
        which usually lowers the average distortion considerably; 1 is best for it at large scales.
        But they make small angles between light branches, which lower the precision of
        neighborhoods at small scales.
    root : int or label, optional
        The node at the origin; by default the center of the tree.

    Returns
    -------
    TreeEmbedding
        It keeps local frames of the tree, so its distances are exact in float64 at any scale.

    See Also
    --------
    embed : Embed a tree or a metric by any method.
    TreeEmbedding : The result.

    Notes
    -----
    O(N dim^2) time for the coordinates, and O(N dim) for everything else. The directions around
    large nodes are in closed form. Nodes joined by edges of length 0 are placed at one point.
    Sarkar, Graph Drawing 2011.

    Examples
    --------
    >>> star = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0])
    >>> embedding = sarkar(star, dim=2, scale=10.0)
    >>> embedding.pairs(0, [1, 2, 3])  # 2 + 2 ln sin(60 degrees) / 10, twice, and an edge
    array([1.97123179, 1.97123179, 1.        ])
    """
    if not isinstance(tree, Tree):
        raise TypeError("method='sarkar' embeds trees: fit a tree to the data first")
    if dim < 2:
        raise ValueError(f"dim={dim} is too small: embedding a tree needs at least 2 dimensions")
    power = _EXPONENT if exponent is None else exponent
    power = number_from(0, power, "exponent must be a number from 0 to 2", high=2)
    if scale is not None and distortion is not None:
        raise ValueError("set scale or distortion, not both: each determines the other")
    wanted = _DISTORTION if distortion is None else distortion
    wanted = number_above(1, wanted, "distortion must be a number above 1")
    # The directions of all edges and nodes, and the pending frames of `polar_coordinates`.
    nodes = tree.n_nodes
    needed = 8 * dim * (2 * nodes + (nodes.bit_length() + 1) * dim)
    check_memory(needed, f"a tree of {nodes:,} nodes in {dim:,} dimensions", "use a smaller dim")
    node = center(tree) if root is None else tree._node(root)
    view = rerooted(tree._view, int(tree._view.position[node]))
    around = place_edges(view, tree.n_points, dim, power)
    if scale is None:
        factor = scale_for(wanted, view, tree.n_points, around)
    else:
        factor = positive_scale(scale)
    turns = read_only(around.turns)
    return TreeEmbedding._of_view(view, turns, factor, tree.n_points, tree.labels)


def center(tree: Tree) -> int:
    """Return the node of least eccentricity, the one with the smallest id if tied. O(N)."""
    from ...tree.structure.preorder_kernels import find_center

    view = tree._view
    return int(view.order[find_center(view.order, view.up, view.length)])
