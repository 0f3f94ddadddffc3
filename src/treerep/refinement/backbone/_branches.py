"""Branches around a backbone: join nearby points at the same node or edge.

The position of a point in the backbone was fitted to many distances, so its height is kept, just as
Gromov's tree keeps the distances from its root. For two points at heights x and y and at distance
d, their paths coincide over a length of (x + y - d) / 2. Clusters merge in decreasing order of
shared height (average linkage).
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...fitting._distances import checked_block
from ...fitting.rooted._linkage import link
from ...fitting.rooted.gromov import gromov_products
from ...metric.base import Metric
from ...placement._attach import attach
from ...placement._locate import Indices, Numbers, Places
from ...tree.tree import Tree
from ._branch_kernels import join_branches

#: Maximum number of points in a zone. All pairs of a zone are compared.
LARGEST = 1024
#: A larger zone is split around every 256th of its points.
CENTERS = 256

Edges = tuple[NDArray[np.int32], Numbers]


class Branches(NamedTuple):
    """The points of one zone, joined into branches."""

    edges: NDArray[np.int64]  # between points, numbered within the zone, and joins
    lengths: Numbers
    tops: Indices  # top nodes of the branches, attached to the backbone
    above: Numbers  # positions of the top nodes
    height: Numbers


def grow(
    backbone: Tree,
    metric: Metric,
    sample: Indices,
    rest: Indices,
    places: Places,
    short: float,
    workers: Workers,
) -> Edges:
    """Return edges and lengths of the tree of all points.

    Numbers below len(metric) are points; Steiner nodes follow.

    `rest` are the points that are not in the sample, and `places` their positions in the
    backbone. A zone of k points takes k^2 time and distances, up to 1,024 points. Larger zones
    are first split around some of their points.
    """
    zones = []
    with progress_bar(len(rest), "zones", "points") as bar:
        for zone in _groups(metric, rest, places):
            zones.append(zone)
            bar.update(len(zone))
            workers.check()
    found = workers.map(lambda batch: _joined(metric, rest, places, batch, short), _batches(metric, zones))
    each = chain.from_iterable(found)
    return put_together(backbone, len(metric), sample, rest, places, zones, each, short, workers)


def put_together(
    backbone: Tree,
    n: int,
    sample: Indices,
    rest: Indices,
    places: Places,
    zones: list[Indices],
    found: Iterable[Branches],
    short: float,
    workers: Workers,
) -> Edges:
    """Assemble the branches of all zones: return edges and lengths of the tree of all n points."""
    edges = []
    lengths = []
    tops = []
    joins = n  # the number of the next join
    with progress_bar(len(rest), "branches", "points") as bar:
        for zone, branches in zip(zones, found, strict=True):
            count = len(branches.lengths) // 2
            names = np.concatenate([rest[zone], joins + np.arange(count)]).astype(np.int32)
            joins += count
            edges.append(names[branches.edges])
            lengths.append(branches.lengths)
            node = places.node[zone[:1]].astype(np.int64).repeat(len(branches.tops))
            tops.append((names[branches.tops], node, branches.above, branches.height))
            bar.update(len(zone))
            workers.check()
    top, *where = (np.concatenate(part) for part in zip(*tops, strict=True))
    hung, weights = hung_off(backbone, sample, top, Places(*where), joins, short, workers)
    return np.concatenate([*edges, hung]), np.concatenate([*lengths, weights])


def hung_off(
    backbone: Tree,
    sample: Indices,
    tops: Indices,
    places: Places,
    first: int,
    short: float,
    workers: Workers,
) -> Edges:
    """Return edges and lengths of the backbone with the top nodes of branches attached.

    Steiner nodes are numbered from `first` on.
    """
    hung, weights = attach(backbone, places, None, short, workers)
    # `attach` numbers the points of the sample first, then the top nodes, then Steiner nodes.
    steiner = first + np.arange(int(hung.max()) + 1 - len(sample) - len(tops))
    return np.concatenate([sample, tops, steiner]).astype(np.int32)[hung], weights


def zones_of(places: Places) -> list[Indices]:
    """Return the points at each node and inside each edge."""
    inside = places.above > 0
    order = np.lexsort([inside, places.node])
    new = (np.diff(places.node[order], prepend=-1) != 0) | (
        np.diff(inside[order].astype(int), prepend=0) != 0
    )
    return np.split(order, np.flatnonzero(new)[1:])


def _groups(metric: Metric, rest: Indices, places: Places) -> Iterator[Indices]:
    """Yield the points at one node or inside one edge, split if there are many.

    Points are indices into `rest`.
    """
    for zone in zones_of(places):
        yield from _split(metric, rest, zone)


def _split(metric: Metric, rest: Indices, zone: Indices) -> Iterator[Indices]:
    """Split points into small groups, each around the nearest of some centers."""
    if len(zone) <= LARGEST:
        yield zone
        return
    # The order of points carries no meaning, so evenly spaced indices serve as a random sample.
    centers = rest[zone[::CENTERS]]
    nearest = [checked_block(metric, rest[piece], centers).argmin(axis=1) for piece in equal_pieces(zone)]
    for part in split_by(zone, np.concatenate(nearest)):
        yield from _split(metric, rest, part)


def equal_pieces(zone: Indices) -> list[Indices]:
    """Cut points into runs that are small enough."""
    return np.array_split(zone, -(-len(zone) // LARGEST))


def split_by(zone: Indices, nearest: Indices) -> list[Indices]:
    """Return the points of a zone, grouped by nearest center."""
    parts = [zone[nearest == k] for k in np.unique(nearest)]
    return parts if len(parts) > 1 else equal_pieces(zone)  # all points coincide


def _batches(metric: Metric, zones: list[Indices]) -> Iterator[list[Indices]]:
    """Yield runs of zones whose distances are read together: one zone, unless rows are cheap."""
    batch: list[Indices] = []
    points = 0
    for zone in zones:
        if batch and points + len(zone) > metric._read_together:
            yield batch
            batch = []
            points = 0
        batch.append(zone)
        points += len(zone)
    yield batch


def _joined(
    metric: Metric, rest: Indices, places: Places, batch: list[Indices], short: float
) -> list[Branches]:
    """Join the points of each zone."""
    # A point alone has no distances.
    points = rest[np.concatenate([zone[: len(zone) * (len(zone) > 1)] for zone in batch])]
    distances = checked_block(metric, points, points) if len(points) else np.empty((0, 0))
    found = []
    first = 0
    for zone in batch:
        part = slice(first, first + len(zone))
        alone = len(zone) == 1
        matrix = np.empty((1, 1)) if alone else distances[part, part]
        first += 0 if alone else len(zone)
        found.append(joined(matrix, places.height[zone], places.above[zone], short))
    return found


def joined(matrix: Numbers, height: Numbers, above: Numbers, short: float) -> Branches:
    """Join points attached to the same node or edge, given their distances.

    `height` and `above` are overwritten.
    """
    k = len(height)
    edges = np.empty((2 * k, 2), np.int64)
    lengths = np.empty(2 * k)
    top = np.arange(k)
    joins = 0
    if k > 1:
        i, j = np.triu_indices(k, 1)
        first, second, negated = link(-gromov_products(height[i], height[j], matrix[i, j]))
        joins = join_branches(
            first,
            second,
            -negated,
            short,
            height,
            above,
            top,
            edges,
            lengths,
        )
    kept = np.flatnonzero(height >= 0)
    return Branches(edges[: 2 * joins], lengths[: 2 * joins], top[kept], above[kept], height[kept])
