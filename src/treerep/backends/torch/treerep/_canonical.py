"""Compute the canonical form of a tree on a device, where trees have many millions of nodes.

The reference is tree/structure/canonical.py. Nothing here walks along the tree: that would take
as many steps as the tree is deep. Instead an Euler tour, ranked by doubling, roots it; subtrees
are intervals of the tour, so their smallest points are minima of intervals; and the places of
the nodes are sums along the paths to the root, by doubling again.
"""

from ...._core.extras import require
from ...._core.typing import Tensor


def canonical_edges(
    n: int, edges: Tensor, weights: Tensor, nodes: Tensor
) -> tuple[Tensor, Tensor]:
    """Number Steiner nodes in depth-first order from point 0, children by smallest data point, and sort the edges.

    Parameters
    ----------
    n : int
        Number of data points, at least 2. Every leaf is one of them.
    edges : (E, 2) int32 tensor
        Nodes are below 2 n; those from n on are Steiner nodes, with gaps.
    weights : (E,) tensor
    nodes : (n,) int32 tensor
        Which node each point is.

    Returns
    -------
    edges : (E, 2) int64 tensor, weights : (E,) tensor
    """
    torch = require("torch", "embed")
    names = _compact(n, edges, nodes)
    ends = names[edges.T.long()]  # (2, E)
    parent, size, order = _rooted(ends)
    smallest = _smallest_points(n, size, order)
    preorder = _preorder(parent, size, smallest)
    # Steiner nodes are numbered in the order in which they come.
    is_steiner = torch.ones_like(preorder, dtype=torch.int32)
    is_steiner[preorder[:n]] = 0
    number = n - 1 + is_steiner.cumsum(0, dtype=torch.int32)
    final = number[preorder]
    final[:n] = torch.arange(n, dtype=torch.int32, device=final.device)
    lower, upper = final[ends].sort(dim=0)[0].long()
    key, by = (lower * (2 * n) + upper).sort()
    return torch.stack([key // (2 * n), key % (2 * n)], dim=1), weights[by]


def _compact(n: int, edges: Tensor, nodes: Tensor) -> Tensor:
    """A number for every node: points their own, Steiner nodes from n on without gaps."""
    torch = require("torch", "embed")
    used = torch.zeros(2 * n, dtype=torch.int32, device=edges.device)
    used[edges.reshape(-1)] = 1
    used[:n] = 0
    names = used.cumsum(0, dtype=torch.int32) + (n - 1)
    names[nodes] = torch.arange(n, dtype=torch.int32, device=edges.device)
    return names


def _rooted(ends: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Root the tree at node 0: the parents of the nodes, the sizes of their subtrees, and their places in a preorder.

    Every edge is two arcs, there and back. After the arc u -> v the Euler tour takes the arc of
    v that follows v -> u.
    """
    torch = require("torch", "embed")
    n_edges = ends.shape[1]
    device = ends.device
    source = ends.reshape(-1)
    back = torch.arange(2 * n_edges, dtype=torch.int32, device=device).roll(n_edges)
    source_sorted, arcs = source.sort(stable=True)
    arcs = arcs.int()
    # The arc that follows in the list of its source: the next, or the first where the list
    # ends.
    last = torch.ones_like(source_sorted, dtype=torch.bool)
    last[:-1] = source_sorted[1:] != source_sorted[:-1]
    first = torch.searchsorted(
        source_sorted, torch.arange(n_edges + 1, dtype=torch.int32, device=device)
    )
    follows = torch.where(last, arcs[first[source_sorted]], arcs.roll(-1))
    successor = torch.empty_like(arcs)
    successor[arcs] = follows
    after = successor[back]
    start = arcs[0]  # the first arc of node 0
    place = 2 * n_edges - 1 - _distances_to_end(after, torch.nonzero(after == start)[0, 0])
    there = place[:n_edges]
    again = place[n_edges:]
    down = there < again  # u -> v comes before v -> u: then u is the parent
    child = torch.where(down, ends[1], ends[0])
    above = torch.where(down, ends[0], ends[1])
    enters = torch.minimum(there, again)
    leaves = torch.maximum(there, again)
    parent = torch.zeros(n_edges + 1, dtype=torch.int32, device=device)
    parent[child] = above
    size = torch.full_like(parent, n_edges + 1)
    size[child] = (leaves - enters + 1) // 2
    downwards = torch.zeros(2 * n_edges, dtype=torch.int32, device=device)
    downwards[enters] = 1
    order = torch.zeros_like(parent)
    order[child] = downwards.cumsum(0, dtype=torch.int32)[enters]
    return parent, size, order


def _distances_to_end(after: Tensor, end: Tensor) -> Tensor:
    """Number of steps from each arc to the last one, by doubling: O(m log m).

    `after` is overwritten.
    """
    torch = require("torch", "embed")
    steps = torch.ones_like(after)
    steps[end] = 0
    after[end] = end.int()
    for _ in range((len(after) - 1).bit_length()):
        steps += steps[after]
        after = after[after]
    return steps


def _smallest_points(n: int, size: Tensor, order: Tensor) -> Tensor:
    """The smallest data point in the subtree of each node: a minimum over size[v] places from order[v] on.

    It is the smaller of two minima over a power of two places, which are doubled from round to
    round.
    """
    torch = require("torch", "embed")
    minima = torch.full_like(order, n)
    minima[order[:n]] = torch.arange(n, dtype=torch.int32, device=order.device)
    smallest = torch.empty_like(order)
    width = 1
    while width <= len(order):
        which = torch.nonzero((size >= width) & (size < 2 * width))[:, 0]
        begin = order[which]
        length = size[which]
        smallest[which] = torch.minimum(minima[begin], minima[begin + length - width])
        minima[:-width] = torch.minimum(minima[:-width], minima[width:])
        width *= 2
    return smallest


def _preorder(parent: Tensor, size: Tensor, smallest: Tensor) -> Tensor:
    """The place of each node in the preorder that visits children by their smallest points."""
    torch = require("torch", "embed")
    nodes = len(parent)
    key = parent.long() * nodes + smallest
    key[0] = -1  # the root is nobody's child
    by = key.sort()[1][1:]
    sizes = size[by].long()
    before = sizes.cumsum(0) - sizes
    above = parent[by]
    first = torch.ones_like(above, dtype=torch.bool)
    first[1:] = above[1:] != above[:-1]
    # A child comes after its parent and its earlier siblings.
    family = first.cumsum(0) - 1
    place = torch.zeros_like(parent)
    place[by] = (before - before[first][family] + 1).int()
    up = parent
    while bool(up.any()):
        place = place + place[up]
        up = up[up]
    return place
