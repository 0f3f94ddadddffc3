"""A good tree of up to a few thousand points in about a second.

Join neighbors, move misplaced points and subtrees, and fit the lengths.

Moves use all pairs, with squared errors weighted by 1 / d^p. The best p depends on the purpose of
the tree: long distances dominate the average distortion, and short distances determine groups and
splits. At the end the lengths are fitted to all distances, so a topology chosen for short distances
still reproduces long distances.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from ...fitting._distances import checked_block
from ...metric.base import Metric
from ...metric.graph import GraphMetric
from ...metric.matrix import MatrixMetric
from ...metric.points import PointMetric
from ...tree.tree import Tree
from ..lengths._neighborhoods import neighbor_graph
from ..lengths.weights import fit_weights
from ..moves.search import rearrange
from ._limits import LIMITS

# Rows to which lengths are fitted, and the size of a graph up to which all rows are used.
_ROWS = 256
_ALL_ROWS = 2000
# Sweeps of moves, if all of them have the same power, and for each of several powers.
_SWEEPS = 4, 1
# Number of rows that are checked to recognize the distances of a graph.
_CHECKED_ROWS = 64
# Weight of neighborhoods when the lengths of a graph's tree are fitted.
_SHARE = 0.4
_POINTS_SHARE = 0.35
_MANY_POINTS_SHARE = 0.25
# From this balance on, points do not move if all vertices of a graph are sampled (see `refine`).
_KEPT = 0.5


class Weighting(NamedTuple):
    """How strongly short distances are weighted."""

    moves: tuple[float, ...]  # rounds of moves divide squared errors by d to these powers
    places: tuple[float, ...]  # candidate powers for placing points; the best one is used
    share: float  # weight of neighborhoods when lengths are fitted
    #: Improve near relations after the moves, and fit lengths with the neighborhoods in clades.
    nearby: bool = False
    near: bool = False  # short distances matter most, so that a larger sample is worth its time
    # Keep the topology if all vertices are sampled: moves improve distances, not neighborhoods.
    keep: bool = False


#: Weightings by kind of data: see `kind_of`. Measured by `python -m benchmarks truth`: the best
#: power is 0 for distances of graphs, 1 for distances of cells, 3 for groups of cells, and 4
#: for the splits of a phylogeny.
_SUITABLE = {
    "graph": Weighting((0.0,), (0.0, 1.0, 2.0), _SHARE, keep=True),
    # Moves that favor near distances from the start often end in a bad coarse order.
    "points": Weighting((2.0, 3.0, 4.0), (4.0,), _POINTS_SHARE, nearby=True),
    "distances": Weighting((4.0,), (4.0,), 0.0, near=True),
}


#: For more points than `LIMITS.many_points`: few of them are in the sample, which should be good for far
#: distances. Fewer rows are affordable for the lengths, so neighborhoods count less.
_MANY_POINTS = Weighting((1.0,), (0.0, 1.0, 2.0), _MANY_POINTS_SHARE, nearby=True)


def weighting(kind: str, balance: float | None, n: int) -> Weighting:
    """Return the weighting for a balance, or the default for this kind of data, for n points."""
    if balance is None:
        return _MANY_POINTS if kind == "points" and n > LIMITS.many_points else _SUITABLE[kind]
    power = 4.0 * balance
    share = {"graph": balance, "points": _SHARE * balance, "distances": 0.0}[kind]
    return Weighting(
        (power,),
        (power,),
        share,
        nearby=kind == "points" and balance > 0,
        keep=balance >= _KEPT,
    )


def kind_of(metric: Metric) -> str:
    """Return the kind of a metric: "graph", "points" with coordinates, or "distances"."""
    if is_graph(metric):
        return "graph"
    return "points" if isinstance(metric, PointMetric) else "distances"


def is_graph(metric: Any) -> bool:
    """Return whether a metric is a graph metric.

    A table of integers counts as a graph if every point checked has another point at distance
    1.
    """
    if isinstance(metric, GraphMetric) or not isinstance(metric, MatrixMetric):
        return isinstance(metric, GraphMetric)
    n = len(metric)
    if not metric.integral or n < 2:
        return False
    rows = np.linspace(0, n - 1, min(n, _CHECKED_ROWS)).astype(np.int64)
    block = checked_block(metric, rows, np.arange(n))
    return bool((block.min(axis=1, where=block > 0, initial=np.inf) == 1).all())


def small_tree(
    tree: Tree,
    table: Metric,
    choice: Weighting,
    *,
    power: float,
    graph: Metric | None,
    rng: np.random.Generator,
    time_limit: float | None,
    n_jobs: int | None,
) -> Tree:
    """Improve a tree of the points of a table.

    Move points and subtrees, with squared errors divided by d^power. Then fit the lengths to some
    rows. If the points are the vertices of a
    `graph`, their neighborhoods are part of the objective.
    """
    neighbors = neighbor_graph(graph) if graph is not None and choice.share > 0 else None
    share = 0.0 if neighbors is None else choice.share
    if len(table) > 3 and not (choice.keep and graph is not None):
        tree = rearrange(
            tree, table, power=power, sweeps=_SWEEPS[len(choice.moves) > 1], rng=rng, time_limit=time_limit
        ).tree
    # Sums over neighborhoods take longer than sums over all pairs, so using fewer rows would
    # save little time.
    rows: Literal["all"] | int = "all" if neighbors is not None and len(table) <= _ALL_ROWS else _ROWS
    fitted = fit_weights(
        tree,
        table,
        objective="l1",
        balance=share,
        neighbors=neighbors,
        rows=rows,
        rng=rng,
        time_limit=time_limit,
        n_jobs=n_jobs,
    )
    return fitted.tree.contracted(0.0)
