"""A good tree of up to some thousand points in about a second.

Join neighbors, move misplaced points and subtrees, and fit the lengths.

Moves count all pairs, with squared errors weighted by 1 / d^p. The best p depends on the use of
the tree: far pairs dominate the average distortion, near pairs determine groups and splits. The
lengths are fitted to all distances at the end, so that a topology made for near points still
has good long distances.
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

# Rows to which lengths are fitted, and points of a graph up to which all rows are.
_ROWS = 256
_ALL_ROWS = 2000
# Rows of a table by which the distances of a graph are recognized.
_CHECKED_ROWS = 64
# How much neighborhoods count in the lengths of a graph's tree.
_SHARE = 0.4
# From this balance on, the points of a whole graph do not move, as in `refine`.
_KEPT = 0.5


class Weighting(NamedTuple):
    """How much near distances count."""

    # Moves divide squared errors by d^whole in a tree of all points, by d^sample otherwise.
    whole: float
    sample: float
    places: tuple[float, ...]  # points are placed with the best of these powers
    share: float  # of neighborhoods beside distances, when lengths are fitted
    near: bool = False  # near distances decide, so that a larger sample is worth its time
    # The topology of a whole graph is kept: moves improve distances, not neighborhoods.
    keep: bool = False


#: By the kind of data: see `kind_of`. Measured by `python -m benchmarks truth`: distances of
#: graphs are best with the power 0, of cells with 1, their groups with 3, and the splits of a
#: phylogeny with 4.
_SUITABLE = {
    "graph": Weighting(0.0, 0.0, (0.0, 1.0, 2.0), _SHARE, keep=True),
    "points": Weighting(3.0, 1.0, (0.0, 1.0, 2.0), 0.0),
    "distances": Weighting(4.0, 4.0, (4.0,), 0.0, near=True),
}


def weighting(kind: str, balance: float | None) -> Weighting:
    """Return the weighting for a balance, or the default for this kind of data."""
    if balance is None:
        return _SUITABLE[kind]
    power = 4.0 * balance
    return Weighting(
        power, power, (power,), balance if kind == "graph" else 0.0, keep=balance >= _KEPT
    )


def kind_of(metric: Metric) -> str:
    """Return the kind of a metric: "graph", "points" with coordinates, or "distances"."""
    if is_graph(metric):
        return "graph"
    return "points" if isinstance(metric, PointMetric) else "distances"


def is_graph(metric: Any) -> bool:
    """Whether a metric is that of a graph.

    A table of whole numbers counts as a graph if every point checked has another at distance 1.
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
    table: MatrixMetric,
    choice: Weighting,
    *,
    whole: bool,
    graph: Metric | None,
    rng: np.random.Generator,
    time_limit: float | None,
    n_jobs: int | None,
) -> Tree:
    """Improve a tree of the points of a table.

    Move points and subtrees, then fit the lengths to some rows.

    `whole` tells that the table has all points. If these are the vertices of a `graph`, their
    neighborhoods count as well.
    """
    neighbors = neighbor_graph(graph) if graph is not None and choice.share > 0 else None
    share = 0.0 if neighbors is None else choice.share
    if len(table) > 3 and not (choice.keep and graph is not None):
        power = choice.whole if whole else choice.sample
        tree = rearrange(tree, table, power=power, rng=rng, time_limit=time_limit).tree
    # Sums over neighborhoods take longer than those over all pairs, so that leaving out rows
    # saves little time.
    rows: Literal["all"] | int = (
        "all" if neighbors is not None and len(table) <= _ALL_ROWS else _ROWS
    )
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
