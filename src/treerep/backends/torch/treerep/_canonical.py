"""Canonical form of a tree with many millions of nodes, computed on a device.

The reference implementation is tree/structure/canonical.py. Walking along the tree would take
as many steps as the tree is deep. Instead:

- An Euler tour, ranked by doubling, roots the tree.
- Subtrees are intervals of the tour, so their smallest points are minima of intervals.
- Positions of the nodes in preorder are sums along the paths to the root, also by doubling.
"""

from typing import NamedTuple

from ...._core.extras import require
from ...._core.typing import Tensor


def canonical_edges(n: int, edges: Tensor, weights: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
    """Number Steiner nodes in depth-first order from point 0, and sort the edges.

    Children are visited in the order of the smallest point below them.

    Parameters
    ----------
    n : int
        Number of data points, at least 2. Every leaf is a data point.
    edges : (E, 2) int32 tensor
        Nodes are below 2 n. Nodes from n on are Steiner nodes, with gaps.
    weights : (E,) tensor
    nodes : (n,) int32 tensor
        The node of each point.

    Returns
    -------
    edges : (E, 2) int64 tensor, weights : (E,) tensor
    """
    torch = require("torch", "embed")
    number = _compact(n, edges, nodes)
    ends = number[edges.T.long()]  # (2, E)
    rooted = _rooted(ends)
    smallest = _smallest_points(n, rooted)
    position = _positions(rooted, smallest)
    # Steiner nodes are numbered in the order of their positions.
    is_steiner = torch.ones_like(position, dtype=torch.int32)
    is_steiner[position[:n]] = 0
    at_position = n - 1 + is_steiner.cumsum(0, dtype=torch.int32)
    final = at_position[position]
    final[:n] = torch.arange(n, dtype=torch.int32, device=final.device)
    # Sort the edges by lower end, then by upper end, as one number.
    lower, upper = final[ends].sort(dim=0)[0].long()
    base = 2 * n
    key, order = (lower * base + upper).sort()
    return torch.stack([key // base, key % base], dim=1), weights[order]


class _Rooted(NamedTuple):
    """A tree with root 0, by node."""

    parent: Tensor
    size: Tensor  # size of the subtree
    order: Tensor  # position in some preorder


def _compact(n: int, edges: Tensor, nodes: Tensor) -> Tensor:
    """Number the nodes without gaps: points 0 ... n-1, Steiner nodes from n on."""
    torch = require("torch", "embed")
    used = torch.zeros(2 * n, dtype=torch.int32, device=edges.device)
    used[edges.reshape(-1)] = 1
    used[:n] = 0
    number = used.cumsum(0, dtype=torch.int32) + (n - 1)
    number[nodes] = torch.arange(n, dtype=torch.int32, device=edges.device)
    return number


def _rooted(ends: Tensor) -> _Rooted:
    """Root the tree at node 0, by the Euler tour."""
    torch = require("torch", "embed")
    n_edges = ends.shape[1]
    device = ends.device
    tour = _euler_tour(ends)
    there = tour[:n_edges]  # u -> v
    back = tour[n_edges:]  # v -> u
    u, v = ends
    is_down = there < back  # if u -> v is before v -> u, then u is the parent
    child = torch.where(is_down, v, u)
    above = torch.where(is_down, u, v)
    enters = torch.minimum(there, back)
    leaves = torch.maximum(there, back)
    parent = torch.zeros(n_edges + 1, dtype=torch.int32, device=device)
    parent[child] = above
    size = torch.full_like(parent, n_edges + 1)
    size[child] = (leaves - enters + 1) // 2
    downwards = torch.zeros(2 * n_edges, dtype=torch.int32, device=device)
    downwards[enters] = 1
    order = torch.zeros_like(parent)
    order[child] = downwards.cumsum(0, dtype=torch.int32)[enters]
    return _Rooted(parent, size, order)


def _euler_tour(ends: Tensor) -> Tensor:
    """Return the position of each arc in the Euler tour from node 0.

    Edge e = (u, v) is two arcs: u -> v is arc e, and v -> u is arc E + e. After u -> v, the
    tour takes the arc of v that follows v -> u in the list of the arcs of v.
    """
    torch = require("torch", "embed")
    n_edges = ends.shape[1]
    device = ends.device
    source, arcs = ends.reshape(-1).sort(stable=True)
    arcs = arcs.int()
    # The next arc in the list of a node; the first arc follows the last.
    is_last = torch.ones_like(source, dtype=torch.bool)
    is_last[:-1] = source[1:] != source[:-1]
    nodes = torch.arange(n_edges + 1, dtype=torch.int32, device=device)
    first = torch.searchsorted(source, nodes)
    follows = torch.where(is_last, arcs[first[source]], arcs.roll(-1))
    successor = torch.empty_like(arcs)
    successor[arcs] = follows
    opposite = torch.arange(2 * n_edges, dtype=torch.int32, device=device).roll(n_edges)
    after = successor[opposite]
    start = arcs[0]  # the first arc of node 0
    end = torch.nonzero(after == start)[0, 0]
    return 2 * n_edges - 1 - _distances_to_end(after, end)


def _distances_to_end(after: Tensor, end: Tensor) -> Tensor:
    """Return the number of steps from each arc to the last arc, by doubling: O(m log m).

    Overwrites `after`.
    """
    torch = require("torch", "embed")
    steps = torch.ones_like(after)
    steps[end] = 0
    after[end] = end.int()
    for _ in range((len(after) - 1).bit_length()):
        steps += steps[after]
        after = after[after]
    return steps


def _smallest_points(n: int, rooted: _Rooted) -> Tensor:
    """Return the smallest point in the subtree of each node.

    This point is the minimum over the size[v] positions from order[v] on, computed as the smaller
    of two minima over 2^k positions each. In each round, k grows by one.
    """
    torch = require("torch", "embed")
    size = rooted.size
    order = rooted.order
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


def _positions(rooted: _Rooted, smallest: Tensor) -> Tensor:
    """Return the position of each node in the preorder that visits children by smallest point."""
    torch = require("torch", "embed")
    parent = rooted.parent
    # Sort children by parent and smallest point.
    key = parent.long() * len(parent) + smallest
    key[0] = -1  # the root has no parent
    child = key.sort()[1][1:]
    sizes = rooted.size[child].long()
    before = sizes.cumsum(0) - sizes
    above = parent[child]
    is_first = torch.ones_like(above, dtype=torch.bool)
    is_first[1:] = above[1:] != above[:-1]
    # The position of a child is after its parent and after the subtrees of earlier siblings.
    family = is_first.cumsum(0) - 1
    position = torch.zeros_like(parent)
    position[child] = (before - before[is_first][family] + 1).int()
    # Add the positions along the path to the root, by doubling.
    up = parent
    while bool(up.any()):
        position = position + position[up]
        up = up[up]
    return position
