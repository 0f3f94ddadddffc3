"""Random trees from random partitions (Bartal, FOCS 1996).

The partition is that of Calinescu, Karloff and Rabani (2005).
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ..._core.checks import positive_number
from ..._core.parallel import Workers
from ..._core.progress import progress_bar
from ...metric.base import Metric
from ...metric.matrix import MatrixMetric
from ...tree.tree import Tree
from .._distances import dense_matrix
from .._finished_tree import finished_tree
from .._trials import selection_score
from ._partition_kernels import partition_tree

Result = TypeVar("Result")


def bartal(metric: Metric, *, draws: int = 200, rng: np.random.Generator, n_jobs: int | None = None) -> Tree:
    """Draw random trees and return the one with the lowest average distortion; see `fit`.

    To draw a tree, let Delta be the diameter of the points and delta = Delta / 2. Draw a radius R =
    (delta / 4) (1 + U[0, 1]) and a random order of the points. Each point joins the first point
    nearer than R, which may be the point itself. Every part gets a tree in the same way. The root
    of the first part is joined to the roots of the other parts by edges of length Delta / 2. The
    tree has no Steiner nodes.

    See Also
    --------
    fit : Fit a tree by any method.
    methods.low_stretch : A random spanning tree.

    Notes
    -----
    Not exact on trees. Two points that are separated at diameter Delta have a tree distance of
    Delta / 2 or more, so 2 d_T >= d for every pair. The tree does not dominate the metric: a
    root and a point of another part can be Delta apart.

    O(n^2) memory, and O(n^2) time per tree and halving of the diameter. The first halving is
    shared by all trees. Trees are compared on all pairs up to 2,000 points, and on 64 sampled
    rows above.

    The column "Bartal" of Sonthalia and Gilbert (NeurIPS 2020) is the mean of 200 distance
    matrices, which is not a tree metric.

    Bartal, FOCS 1996; Calinescu, Karloff and Rabani, SIAM J. Comput. 34, 2005.
    """
    count = positive_number(draws, "draws")
    table = table_of(metric)

    def scored(tree: Tree) -> tuple[float, Tree]:
        return 0.0 if count == 1 else selection_score(tree, table, 1), tree  # the only tree is the best

    best: tuple[float, Tree] | None = None
    for result in draw_trees(table, scored, count, rng, n_jobs):
        best = result if best is None or result[0] < best[0] else best
    assert best is not None
    return best[1]


def table_of(metric: Metric) -> MatrixMetric:
    """Return all distances as a matrix metric that all trees share."""
    if isinstance(metric, MatrixMetric):
        return metric
    table = MatrixMetric(dense_matrix(metric, "bartal"), labels=metric.labels)
    table.order_known = metric.order_known
    return table


def draw_trees(
    table: MatrixMetric,
    work: Callable[[Tree], Result],
    count: int,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Iterator[Result]:
    """Yield work(tree) for random trees.

    Each tree has a separate generator, so that results do not depend on threads.
    """
    diameter = float(table.distances.max())

    def one(generator: np.random.Generator) -> Result:
        return work(finished_tree(table, *partition_tree(table.distances, diameter, generator)))

    with progress_bar(count, "random trees", "trees") as bar, Workers(n_jobs) as workers:
        # Seeds are drawn, not spawned, so that spawned generators remain those of `trials`.
        for result in workers.map(
            one, [np.random.default_rng(seed) for seed in rng.integers(2**63, size=count)]
        ):
            yield result
            bar.update()
            workers.check()
