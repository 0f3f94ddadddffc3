"""Distances of random quadruples of a graph, from searches in the order of the draws.

Hub labels give single distances. On graphs without structure, building the labels takes far longer
than the searches that a sample needs. The construction of labels is therefore stopped when it has
cost half as much as the searches would cost.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...metric.base import read_only
from ...metric.graph import GraphMetric
from .._pace import LimitReached, Pace
from .._spaces import adjacency_arrays

_BAND = 2e7  # nanoseconds of searching between two checks of the time
_SOON = 5e7  # labels are not built if the searches take less than this, in nanoseconds
_SHARE = 0.5  # labels use one core, and searches use all cores

# The six distances of a quadruple a < b < c < d: from, to. Searches from a, b and c suffice.
FROM = (0, 2, 0, 1, 0, 1)
TO = (1, 3, 2, 3, 3, 2)


def labels_pay(graph: GraphMetric, quadruples: int, pace: Pace) -> bool:
    """Build hub labels, unless they cost more than half of the searches; return whether they exist.

    Without a time limit, the answer depends only on the graph and the number of quadruples, and
    so do the bits of the distances. Labels may use a third of the remaining time.
    """
    from ...metric.shortest_paths.hub_labels import STEP_NS

    step = STEP_NS[graph.weighted]
    cost = _SHARE * min(len(graph), 3 * quadruples) * graph.search_cost()
    if graph.has_labels and graph.integral:  # both ways are exact
        return True
    if cost <= _SOON:
        return False
    if graph.has_labels:
        return graph.label_work * step <= cost
    third = pace.part(1 / 3)

    def watch(steps: int) -> None:
        third.check()
        if steps * step > cost:
            raise LimitReached

    try:
        graph.build_labels(watch)
    except LimitReached:
        return False
    return True


def search_quadruples(
    graph: GraphMetric, four: NDArray[np.int64], pace: Pace, least: int
) -> NDArray[np.float64]:
    """Return the six distances of each quadruple, from the first on, until time is up.

    `four` has ascending rows. At least `least` quadruples are answered, however short the time.
    At most one search per vertex is made.
    """
    plan = _plan(four)
    out = np.empty(6 * len(four))
    done = int(plan.last[least - 1]) + 1 if least else 0
    _search(graph, plan, slice(0, done), out)
    step = max(1, int(_BAND / graph.search_cost()))
    bands = [slice(k, min(k + step, len(plan.sources))) for k in range(done, len(plan.sources), step)]
    try:
        for band, _ in zip(bands, pace.map(lambda band: _search(graph, plan, band, out), bands), strict=True):
            done = band.stop
    except LimitReached:
        pass
    # Count only complete quadruples. Their order is independent of their values.
    complete = int(np.searchsorted(plan.last, done))
    return out.reshape(-1, 6)[:complete].T


class _Plan(NamedTuple):
    sources: NDArray[np.int64]  # in the order in which quadruples need them
    pairs: NDArray[np.int64]  # indices of the distances, by source
    begins: NDArray[np.int64]  # source k has pairs[begins[k]:begins[k + 1]]
    targets: NDArray[np.int64]  # target of every distance
    last: NDArray[np.int64]  # last source that the first k + 1 quadruples need


def _plan(four: NDArray[np.int64]) -> _Plan:
    asked = four[:, FROM].ravel()
    points, first, which = np.unique(asked, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(points), np.int64)
    rank[order] = np.arange(len(points))
    ranks = rank[which]
    begins = np.concatenate([[0], np.cumsum(np.bincount(ranks, minlength=len(points)))])
    last = np.maximum.accumulate(ranks.reshape(-1, 6).max(axis=1))
    return _Plan(points[order], np.argsort(ranks, kind="stable"), begins, four[:, TO].ravel(), last)


def _search(graph: GraphMetric, plan: _Plan, band: slice, out: NDArray[np.float64]) -> None:
    from ...metric.shortest_paths.search_kernels import search_block

    arrays = adjacency_arrays(graph)
    for k in range(band.start, band.stop):
        own = plan.pairs[plan.begins[k] : plan.begins[k + 1]]
        found = np.empty((1, len(own)))
        search_block(*arrays, read_only(plan.sources[k : k + 1]), read_only(plan.targets[own]), found)
        out[own] = found[0]
