"""Kernels of minimum evolution on profiles: exchanges and moves of subtrees. See `_profile_spaces.py`."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from ..._core.kernel import helper, kernel, specialized
from ...metric.oracle.lane_kernels import sum_of_products, sum_of_squared_differences
from ._profile_spaces import BaseSpace, MatchSpace, VectorSpace


class Binary(NamedTuple):
    """A binary tree. Point 0 hangs above the top, and the other points are its leaves.

    Nodes 0 ... n-1 are the points, and the others are inner nodes. Row v of a space is the profile
    of the subtree below node v. Row v + n - 2 is the profile of everything else, if v is an inner
    node: see `above`.
    """

    left: NDArray[np.int64]  # -1 at leaves
    right: NDArray[np.int64]
    parent: NDArray[np.int64]  # -1 at the top


class Rounding(NamedTuple):
    """Savings that may be rounding errors are at most least + share * (sum of separations)."""

    least: float
    share: float


class Marks(NamedTuple):
    """State of the nodes in one pass."""

    done: NDArray[np.bool_]  # visited, or not to be visited
    open: NDArray[np.bool_]  # on the path from the node in work to the root of the pass
    changed: NDArray[np.bool_]  # next to an exchange or a move


def average(space: Any, k: Any, i: Any, j: Any) -> None:
    """Set profile k to the mean of profiles i and j."""
    raise TypeError("average() is for kernels")


def separation(space: Any, i: Any, j: Any) -> float:
    """Return the separation of profiles i and j."""
    raise TypeError("separation() is for kernels")


@helper
def _average_rows(table: Any, k: Any, i: Any, j: Any) -> None:
    half = table.dtype.type(0.5)
    for c in range(table.shape[1]):
        table[k, c] = half * (table[i, c] + table[j, c])


def _average_vectors(space: Any, k: Any, i: Any, j: Any) -> None:
    _average_rows(space.rows, k, i, j)


def _average_matches(space: Any, k: Any, i: Any, j: Any) -> None:
    _average_rows(space.states, k, i, j)
    _average_rows(space.known, k, i, j)


def _average_bases(space: Any, k: Any, i: Any, j: Any) -> None:
    _average_rows(space.purine, k, i, j)
    _average_rows(space.pyrimidine, k, i, j)
    _average_rows(space.of_purines, k, i, j)
    _average_rows(space.of_pyrimidines, k, i, j)
    _average_rows(space.known, k, i, j)


def _separate_vectors(space: Any, i: Any, j: Any) -> Any:
    return np.float64(sum_of_squared_differences(space.rows, i, j))


def _separate_matches(space: Any, i: Any, j: Any) -> Any:
    varying = space.sites[0] + np.float64(sum_of_products(space.known, i, j))
    known = varying + space.sites[1]
    if known <= 0.0:
        return _corrected(0.0, 0.0, 1.0, space.formula)
    same = np.float64(sum_of_products(space.states, i, j))
    return _corrected(0.0, 0.0, (varying - same) / known, space.formula)


def _separate_bases(space: Any, i: Any, j: Any) -> Any:
    varying = space.sites[0] + np.float64(sum_of_products(space.known, i, j))
    known = varying + space.sites[1]
    if known <= 0.0:
        return _corrected(0.0, 0.0, 1.0, space.formula)
    # Sites with two purines, and with two pyrimidines. (A + G)(A' + G') and (A - G)(A' - G') add
    # up to 2 (A A' + G G').
    purines = np.float64(sum_of_products(space.purine, i, j))
    pyrimidines = np.float64(sum_of_products(space.pyrimidine, i, j))
    p1 = 0.5 * (purines - np.float64(sum_of_products(space.of_purines, i, j)))
    p2 = 0.5 * (pyrimidines - np.float64(sum_of_products(space.of_pyrimidines, i, j)))
    q = varying - purines - pyrimidines
    return _corrected(p1 / known, p2 / known, q / known, space.formula)


# Positions in the row of constants, as written by `metric/sequences/models.py`.
_KIND, _GAMMA, _SQUARE, _WEIGHTS, _SLOPES = 0, 2, 4, 5, 8
_TERMS = 3
_LINEAR = 0
# Below this argument, the correction continues along its tangent, so that saturated profiles can
# still be compared.
_LEAST = 0.05


@helper
def _corrected(p1: Any, p2: Any, q: Any, formula: Any) -> Any:
    """Return sum over m of weight[m] g(1 - slope[m] . (P1, P2, Q) - square Q^2)."""
    total = 0.0
    for m in range(_TERMS):
        weight = formula[_WEIGHTS + m]
        slope = _SLOPES + 3 * m
        loss = formula[slope] * p1 + formula[slope + 1] * p2 + formula[slope + 2] * q
        loss += formula[_SQUARE] * q * q
        if formula[_KIND] == _LINEAR:
            total += weight * loss
            continue
        gamma = formula[_GAMMA]
        left = max(1.0 - loss, _LEAST)
        # g(w) = -ln w, or a (w^(-1/a) - 1) for gamma rates of shape a. g'(w) = -w^(-1/a - 1).
        rise = -math.log(left)
        slant = 1.0 / left
        if gamma != 0.0:
            slant *= math.exp(rise / gamma)
            rise = gamma * math.expm1(rise / gamma)
        total += weight * (rise + slant * (left - (1.0 - loss)))
    return total


_AVERAGES = {
    VectorSpace: _average_vectors,
    MatchSpace: _average_matches,
    BaseSpace: _average_bases,
}
_SEPARATIONS = {
    VectorSpace: _separate_vectors,
    MatchSpace: _separate_matches,
    BaseSpace: _separate_bases,
}


@specialized(average)
def _specialize_average(space: Any, k: Any, i: Any, j: Any) -> Any:
    return _AVERAGES.get(space.instance_class) if isinstance(space, types.BaseNamedTuple) else None


@specialized(separation)
def _specialize_separation(space: Any, i: Any, j: Any) -> Any:
    return _SEPARATIONS.get(space.instance_class) if isinstance(space, types.BaseNamedTuple) else None


@helper
def above(tree: Any, v: Any) -> Any:
    """Return the row of everything that is not below an inner node."""
    return v + len(tree.left) // 2 - 1


@helper
def sibling(tree: Any, v: Any) -> Any:
    p = tree.parent[v]
    return tree.left[p] if tree.right[p] == v else tree.right[p]


@helper
def _replace(tree: Any, p: Any, old: Any, new: Any) -> None:
    if tree.left[p] == old:
        tree.left[p] = new
    else:
        tree.right[p] = new
    tree.parent[new] = p


@helper
def _look_up(space: Any, tree: Any, v: Any) -> None:
    """Compute the profile above an inner node, from that above its parent."""
    if tree.left[v] >= 0:
        average(space, above(tree, v), above(tree, tree.parent[v]), sibling(tree, v))


@kernel
def preorder(tree: Any, root: Any, closed: Any, out: Any, stack: Any) -> int:
    """List the nodes below `root`, but not those below closed nodes; return their number."""
    count = 0
    height = 1
    stack[0] = root
    while height:
        height -= 1
        v = stack[height]
        out[count] = v
        count += 1
        if tree.left[v] >= 0 and not closed[v]:
            stack[height] = tree.right[v]
            stack[height + 1] = tree.left[v]
            height += 2
    return count


@kernel
def count_leaves(tree: Any, order: Any, size: Any) -> None:
    """Count the leaves below each node of a preorder."""
    for k in range(len(order) - 1, -1, -1):
        v = order[k]
        size[v] = 1 if tree.left[v] < 0 else size[tree.left[v]] + size[tree.right[v]]


@kernel
def gather(space: Any, tree: Any, order: Any, closed: Any) -> None:
    """Compute the profiles below the nodes of a preorder that are not closed."""
    for k in range(len(order) - 1, -1, -1):
        v = order[k]
        if tree.left[v] >= 0 and not closed[v]:
            average(space, v, tree.left[v], tree.right[v])


@kernel
def hand_down(space: Any, tree: Any, order: Any) -> None:
    """Compute the profiles above the nodes of a preorder, except the first node."""
    for k in range(1, len(order)):
        _look_up(space, tree, order[k])


@kernel
def mark_dirty(tree: Any, order: Any, changed: Any, dirty: Any) -> None:
    """Mark what a pass has to visit: changed nodes, their neighbors, and all nodes above them."""
    dirty[:] = False
    for v in order:
        if changed[v]:
            dirty[v] = True
            if tree.left[v] >= 0:
                dirty[tree.left[v]] = True
                dirty[tree.right[v]] = True
            if tree.parent[v] >= 0:
                dirty[sibling(tree, v)] = True
    for k in range(len(order) - 1, 0, -1):
        if dirty[order[k]]:
            dirty[tree.parent[order[k]]] = True


@kernel
def improve_clades(
    space: Any, tree: Any, marks: Any, roots: Any, reach: Any, rounding: Any, spare: Any
) -> int:
    """Improve the clades below some roots. Return the number of changes: see `_improve`."""
    count = 0
    for root in roots:
        count += _improve(space, tree, marks, root, reach, rounding, spare)
    return count


@helper
def _improve(space: Any, tree: Any, marks: Any, root: Any, reach: Any, rounding: Any, spare: Any) -> Any:
    """Visit the nodes below `root` that are not done, children first. Return the number of changes.

    An exchange or a move is made at once if it makes the tree shorter by more than rounding errors.
    On the way down, the profile above each node is computed again, so that all profiles in a
    comparison are those of the present tree. With a `reach` of 0, subtrees are exchanged but not
    moved. `spare` is a free row.
    """
    count = 0
    # The corrections of sequences are not linear, so that changes could go round in a circle.
    most = 2 * len(tree.left)
    path = np.empty(2 * reach + 4, np.int64)
    v = root
    marks.open[v] = True
    while True:
        if tree.left[v] >= 0:
            child = tree.left[v]
            if marks.done[child]:
                child = tree.right[v]
            if not marks.done[child]:
                _look_up(space, tree, child)
                v = child
                marks.open[v] = True
                continue
            average(space, v, tree.left[v], tree.right[v])
            if v != root and count < most and _exchange(space, tree, marks, v, rounding):
                _look_up(space, tree, v)
                count += 1
                continue
        marks.done[v] = True
        marks.open[v] = False
        if v == root:
            return count
        parent = tree.parent[v]
        if reach > 0 and parent != root and count < most:
            target = _best_edge(space, tree, v, root, reach, rounding, spare)
            if target >= 0:
                v = _move(space, tree, marks, v, target, path)
                count += 1
                continue
        v = parent


@helper
def _exchange(space: Any, tree: Any, marks: Any, v: Any, rounding: Any) -> Any:
    """Exchange a child of v with the sibling of v, if this makes the tree shorter."""
    p = tree.parent[v]
    a = tree.left[v]
    b = tree.right[v]
    c = sibling(tree, v)
    d = above(tree, p)
    # The edge between AB and CD has the length (AC + AD + BC + BD) / 4 - (AB + CD) / 2. With the
    # four edges beside it, the tree has the length (AB + CD) / 4 + what is the same for all
    # three ways to join the subtrees.
    now = separation(space, a, b) + separation(space, c, d)
    one = separation(space, a, c) + separation(space, b, d)
    two = separation(space, b, c) + separation(space, a, d)
    if min(one, two) >= now - (rounding.least + rounding.share * now):
        return False
    moved = b if one <= two else a
    _replace(tree, v, moved, c)
    _replace(tree, p, c, moved)
    for node in (v, p, a, b, c):
        marks.changed[node] = True
    return True


@helper
def _best_edge(space: Any, tree: Any, v: Any, root: Any, reach: Any, rounding: Any, spare: Any) -> Any:
    """Return the lower node of the edge where the subtree of v makes the tree shortest, or -1.

    The subtree walks up from its parent, and down into its sibling, always along the better of
    two edges. Each step is an exchange, so the savings add up.
    """
    p = tree.parent[v]
    s = sibling(tree, v)
    best = 0.0
    target = -1
    for direction in range(2):
        rises = direction == 0
        here = p if rises else s
        saved = -rounding.least
        behind = s if rises else above(tree, p)  # what the subtree leaves behind
        for _ in range(reach):
            if (rises and here == root) or (not rises and tree.left[here] < 0):
                break
            if rises:
                one = sibling(tree, here)
                two = above(tree, tree.parent[here])
            else:
                one = tree.left[here]
                two = tree.right[here]
            # S passes the node: S behind | one two becomes S one | behind two, or S two | behind one.
            now = separation(space, v, behind) + separation(space, one, two)
            to_one = now - separation(space, v, one) - separation(space, behind, two)
            to_two = now - separation(space, v, two) - separation(space, behind, one)
            first = to_one >= to_two
            saved += (to_one if first else to_two) - rounding.share * now
            average(space, spare, behind, two if first else one)
            behind = spare
            if rises and not first:
                here = tree.parent[here]
            else:
                here = one if first else two
                rises = False
            if saved > best and here != root:
                best = saved
                target = here
    return target


@helper
def _move(space: Any, tree: Any, marks: Any, v: Any, target: Any, path: Any) -> Any:
    """Move the subtree of v onto the edge above `target`. Return the node where the pass continues."""
    p = tree.parent[v]
    g = tree.parent[p]
    s = sibling(tree, v)
    _replace(tree, g, p, s)
    q = tree.parent[target]
    _replace(tree, q, target, p)
    tree.left[p] = target
    tree.right[p] = v
    tree.parent[target] = p
    for node in (p, g, s, q, v, target):
        marks.changed[node] = True
    if marks.open[target]:  # p is still above g
        w = q
    else:
        marks.open[p] = False
        marks.done[p] = marks.done[target]
        w = p
        while not marks.open[w]:
            average(space, w, tree.left[w], tree.right[w])
            w = tree.parent[w]
    # The profiles above the nodes between w and g hold the moved subtree in another place.
    steps = 0
    node = g
    while node != w:
        path[steps] = node
        steps += 1
        node = tree.parent[node]
    for k in range(steps - 1, -1, -1):
        _look_up(space, tree, path[k])
    return g


@kernel
def spreads(space: Any, tree: Any, order: Any, out: Any) -> None:
    """Compute s(A) of all profiles, so that S(a, b) + s(A) + s(B) is the mean squared distance.

    `order` is a preorder from the top. The mean of two profiles has the spread

        s(A and B) = (s(A) + s(B)) / 2 + S(a, b) / 4.
    """
    for k in range(len(order) - 1, -1, -1):
        v = order[k]
        if tree.left[v] >= 0:
            _spread(space, v, tree.left[v], tree.right[v], out)
    for v in order[1:]:
        if tree.left[v] >= 0:
            _spread(space, above(tree, v), above(tree, tree.parent[v]), sibling(tree, v), out)


@helper
def _spread(space: Any, k: Any, i: Any, j: Any, out: Any) -> None:
    out[k] = 0.5 * (out[i] + out[j]) + 0.25 * separation(space, i, j)


@kernel
def edge_lengths(space: Any, tree: Any, order: Any, spread: Any, out: Any) -> None:
    """Compute the balanced lengths of the edges above the nodes of a preorder from the top.

    Distances between subtrees are separations, or root mean squares if `spread` is not empty.
    """
    for v in order:
        p = tree.parent[v]
        if p < 0:  # the edge of point 0
            out[v] = _outer(space, spread, 0, tree.left[v], tree.right[v])
        elif tree.left[v] < 0:
            out[v] = _outer(space, spread, v, sibling(tree, v), above(tree, p))
        else:
            out[v] = _inner(space, spread, tree.left[v], tree.right[v], sibling(tree, v), above(tree, p))


@helper
def _apart(space: Any, spread: Any, i: Any, j: Any) -> Any:
    square = separation(space, i, j)
    return math.sqrt(square + spread[i] + spread[j]) if len(spread) else square


@helper
def _outer(space: Any, spread: Any, x: Any, a: Any, b: Any) -> Any:
    return 0.5 * (_apart(space, spread, x, a) + _apart(space, spread, x, b) - _apart(space, spread, a, b))


@helper
def _inner(space: Any, spread: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    across = _apart(space, spread, a, c) + _apart(space, spread, a, d)
    across += _apart(space, spread, b, c) + _apart(space, spread, b, d)
    return 0.25 * across - 0.5 * (_apart(space, spread, a, b) + _apart(space, spread, c, d))


@kernel
def make_binary(order: Any, up: Any, n: Any, tree: Any) -> int:
    """Fill a binary tree whose leaves are the points, from a preorder; return the top.

    Points inside become leaves. The children of a node with more than two are joined in pairs,
    then the pairs in pairs, and so on.
    """
    tree.left[:] = -1
    tree.right[:] = -1
    tree.parent[:] = -1
    size = len(order)
    last = np.full(size, -1)  # subtree of the last child of each position that was joined
    before = np.full(len(tree.left), -1)  # the one before it
    queue = np.empty(len(tree.left), np.int64)
    free = n
    for k in range(size - 1, -1, -1):
        end = 0
        if 0 < k and order[k] < n:
            queue[0] = order[k]
            end = 1
        child = last[k]
        while child >= 0:
            queue[end] = child
            end += 1
            child = before[child]
        first = 0
        while end - first > 1:
            tree.left[free] = queue[first]
            tree.right[free] = queue[first + 1]
            tree.parent[queue[first]] = free
            tree.parent[queue[first + 1]] = free
            queue[end] = free
            free += 1
            first += 2
            end += 1
        if end > first:
            if k == 0:
                return queue[first]
            before[queue[first]] = last[up[k]]
            last[up[k]] = queue[first]
    return -1
