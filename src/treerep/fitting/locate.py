"""Where in a tree does a point belong? The same question as TreeRep's, asked of a tree that is there already.

Let c be a node of the tree, and p a data point in one of its arms. If the point w hangs off another arm, or off c
itself, then d(w, p) - d(c, p) = d(w, c); if it hangs off the arm of p, this is less, by 2 (w, p)_c. (Half the sum of
two of these numbers is a Gromov product of TreeRep: the largest product leaves out the smallest number.) So w goes to
the arm of the smallest, or stays at c where two are smallest; and a separator after the other, it is there.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tree.tree import Tree
from .separators import Signposts

#: How often a point walks down, past other data points each time: what they say together is better than what one says.
WALKS = 4

Indices = NDArray[np.int64]
Numbers = NDArray[np.float64]
#: Distances of new points to old ones, elementwise.
Ask = Callable[[Indices, Indices], Numbers]


class Places(NamedTuple):
    """Where points hang: at a node, or above it, inside the edge to its parent; and how far off the tree they are."""

    node: Indices
    above: Numbers  # 0 at a node
    height: Numbers


def distances_from(tree: Tree, places: Places, nodes: Indices) -> Numbers:
    """Distances between points at places and nodes of the tree, a row per point."""
    rooted = tree.rooted()
    parent, length = rooted.parent[places.node], rooted.length[places.node]
    over = np.where(parent >= 0, parent, places.node)
    from_below = tree.block(places.node, nodes) + places.above[:, None]
    from_above = tree.block(over, nodes) + np.abs(length - places.above)[:, None]
    return np.minimum(from_below, from_above) + places.height[:, None]


class Asked(NamedTuple):
    """Distances that were looked at."""

    who: Indices
    point: Indices
    distance: Numbers


#: The nodes a or edges (a, b) where walks ended (b is -1 at a node), and what was asked on the way.
Walk = tuple[Indices, Indices, Asked]


class Scale(NamedTuple):
    """What counts as short."""

    ties: float  # less than this is rounding
    tol: float  # less than this is not worth an edge
    unit: float  # the largest distance, or near it


def locate(tree: Tree, signs: Signposts, ask: Ask, new: Indices, scale: Scale) -> Places:
    """Return the places of some new points: exact if they and the tree's points have the distances of a tree.

    Otherwise each walks WALKS times, and the place is kept whose distances to all points met on the way have the
    smallest relative errors in the mean square.
    """
    a, b, asked = _walk(signs, 0, ask, new, scale.ties)
    places, _, exact = _fit(tree, signs, a, b, asked, scale)
    rest = np.flatnonzero(~exact)
    if len(rest):
        walks = [(a[rest], b[rest], _of(asked, rest))]
        walks += [_walk(signs, k, ask, new[rest], scale.ties) for k in range(1, WALKS)]
        better = _best(tree, signs, walks, scale)
        for mine, theirs in zip(places, better, strict=True):
            mine[rest] = theirs
    return places


def _of(asked: Asked, rest: Indices) -> Asked:
    """Return what was asked about some of the points, renumbered."""
    number = np.full(int(asked.who.max()) + 1, -1)
    number[rest] = np.arange(len(rest))
    kept = number[asked.who] >= 0
    return Asked(number[asked.who[kept]], asked.point[kept], asked.distance[kept])


def _best(tree: Tree, signs: Signposts, walks: list[Walk], scale: Scale) -> Places:
    """Return for each point the best of the places where its walks ended, by all that was asked on them."""
    together = Asked(*(np.concatenate(parts) for parts in zip(*(walk[2] for walk in walks), strict=True)))
    best, least, _ = _fit(tree, signs, *walks[0][:2], together, scale)
    for a, b, _ in walks[1:]:
        places, errors, _ = _fit(tree, signs, a, b, together, scale)
        better = errors < least
        least = np.minimum(least, errors)
        for mine, theirs in zip(best, places, strict=True):
            mine[better] = theirs[better]
    return best


def _walk(signs: Signposts, k: int, ask: Ask, new: Indices, ties: float) -> Walk:
    """Walk from separator to separator, all points at once; return the nodes or edges (a, b) where they end."""
    at, b = np.full(len(new), signs.first), np.full(len(new), -1)
    walking = np.arange(len(new))
    asked: list[Asked] = []
    while len(walking):
        here = at[walking]
        counts = signs.starts[here + 1] - signs.starts[here]
        begin = np.cumsum(counts) - counts
        arms = np.repeat(signs.starts[here] - begin, counts) + np.arange(counts.sum())
        who, points = np.repeat(walking, counts), signs.points[k, arms]
        distances = ask(new[who], points)
        asked.append(Asked(who, points, distances))
        choice = _smallest_alone(distances - signs.gaps[k, arms], begin, counts, 2 * ties)
        moves = np.flatnonzero(choice >= 0)
        arm = arms[choice[moves]]
        moves, arm = moves[signs.neighbor[arm] != here[moves]], arm[signs.neighbor[arm] != here[moves]]
        ends = signs.following[arm] < 0
        b[walking[moves[ends]]] = signs.neighbor[arm[ends]]
        walking = walking[moves[~ends]]
        at[walking] = signs.following[arm[~ends]]
    return at, b, Asked(*(np.concatenate(parts) for parts in zip(*asked, strict=True)))


def _smallest_alone(values: Numbers, begin: Indices, counts: Indices, margin: float) -> Indices:
    """For each group the position of its smallest value, or -1 if another one is less than `margin` above."""
    low = np.repeat(np.minimum.reduceat(values, begin), counts)
    near = values - low < margin
    alone = np.add.reduceat(near, begin) == 1
    position = np.maximum.reduceat(np.where(near, np.arange(len(values)), -1), begin)
    return np.where(alone & (counts > 1), position, -1)


def _fit(
    tree: Tree, signs: Signposts, a: Indices, b: Indices, asked: Asked, scale: Scale
) -> tuple[Places, Numbers, NDArray[np.bool_]]:
    """Fit places at nodes a or on edges (a, b) to what was asked; return them, their errors, and which are exact.

    Points p below the edge say that d(w, p) - d(lower, p) = above + height, those beyond it that
    d(w, p) - d(upper, p) = length - above + height. They weigh 1 / d^2: errors are relative ones.
    """
    n, (who, points, distances), tol = len(a), asked, scale.tol
    inside = b >= 0
    other = np.where(inside, b, a)
    length = tree.pairs(a, other)
    climbs = signs.position[a] > signs.position[other]
    lower, upper = np.where(climbs, a, other), np.where(climbs, other, a)
    place = signs.position[points]
    beyond = inside[who] & ((place < signs.position[lower][who]) | (place >= signs.end[lower][who]))
    offset = distances - tree.pairs(points, np.where(beyond, upper[who], lower[who]))
    weights = (scale.unit / np.maximum(distances, max(tol, 1e-9 * scale.unit))) ** 2

    def mean(values: Numbers, chosen: NDArray[np.bool_]) -> Numbers:
        share = np.where(chosen, weights, 0.0)
        total = np.bincount(who, share, n)
        return np.bincount(who, share * values, n) / np.where(total > 0, total, 1.0)

    above = np.clip((mean(offset, ~beyond) - mean(offset, beyond) + length) / 2, 0.0, length) * inside
    left = offset - np.where(beyond, (length - above)[who], above[who])
    height = np.maximum(mean(left, np.ones(len(who), np.bool_)), 0.0)
    left -= height[who]
    exact = np.bincount(who, np.abs(left) >= 2 * tol, n) == 0
    at_top = inside & (length - above < tol) & (above >= tol)
    places = Places(np.where(at_top, upper, lower), np.where(at_top | (above < tol), 0.0, above), height)
    errors: Numbers = np.bincount(who, weights * left**2, n).astype(np.float64, copy=False)
    return places, errors, exact
