"""A lower bound on the largest error of every tree."""

import numpy as np
from numpy.typing import NDArray

from .._core.checks import positive_number
from .._core.memory import check_memory
from .._core.parallel import Workers
from .._core.progress import progress_bar
from .._core.typing import MetricLike, RNGLike
from ..metric._missing import refuse_missing
from ..metric.base import read_only
from ._root_error_kernels import root_error
from ._streaming import read_block, to_metric

#: Number of products to compute by default. Up to 2,000 points, all roots are used.
_PRODUCTS = 8 * 10**9
_FEWEST_ROOTS = 8
#: A root error is a sum of six distances, each with a relative rounding error.
_ROUNDINGS = 6


def largest_error_bound(
    data: MetricLike,
    *,
    roots: int | None = None,
    rng: RNGLike = 0,
    n_jobs: int | None = None,
) -> float:
    """Return a lower bound on the largest absolute error of every tree.

    Parameters
    ----------
    data : Metric or anything `as_metric` accepts
        The distances. The triangle inequality may be violated.
    roots : int, optional
        Number of random roots to use. The bound is valid for any number, and more roots can only
        raise it. The default is all points up to 2,000 points, and 8 * 10^9 / n^2 roots (at least 8)
        above.
    rng : int, numpy Generator or None
        Seed of the choice of roots.
    n_jobs : int, optional
        Number of threads; None uses all cores. It does not change the result.

    Returns
    -------
    float
        No tree has a smaller `distance_error(tree, data, norm="linf")`. The bound is 0 for tree
        metrics.

    See Also
    --------
    distance_error : The largest error of a tree.
    fit : `method="linf"` fits a tree with a small largest error.

    Notes
    -----
    The bound is a third of the largest root error. The root error of a is the least largest error
    among the trees that keep all distances from a (Farach, Kannan and Warnow, Algorithmica 13,
    1995). It is at most three times the error of the best tree (Agarwala et al., SIAM J. Comput.
    28, 1998). O(n^2) time per root, and n^2 memory.

    Half of the hyperbolicity is another lower bound. On the graphs of the TreeRep paper, it is
    the larger one.

    Examples
    --------
    A cycle of six points. The best tree has the largest error 1:

    >>> cycle = [[min((i - j) % 6, (j - i) % 6) for i in range(6)] for j in range(6)]
    >>> round(largest_error_bound(cycle), 6)
    0.333333
    """
    metric = to_metric(data)
    refuse_missing(metric, "largest_error_bound")
    n = len(metric)
    check_memory(8 * n * n, f"largest_error_bound on {n:,} points", "use fewer points")
    every = np.arange(n)
    matrix = read_block(metric, every, every)
    chosen = choose_roots(n, np.random.default_rng(rng), roots)
    largest = float(root_errors(matrix, chosen, n_jobs).max(initial=0.0))
    rounding = _ROUNDINGS * metric.eps * float(matrix.max(initial=0.0))
    # Why a third is correct. Let the tree T have the largest error e. In a tree, the product (x, y)
    # is at least the smallest product (u, v) of the steps of every chain from x to y. Therefore
    #   T(a, x) + T(a, y) - T(x, y) >= T(a, u) + T(a, v) - T(u, v)
    # for some step. Each of the six distances of T differs from that of the data by at most e, so
    #   2 (x, y) + 3 e >= 2 (u, v) - 3 e
    # in the data. The chain product of x and y exceeds (x, y) by at most 3 e.
    return max(0.0, largest - rounding) / 3


def choose_roots(n: int, rng: np.random.Generator, count: int | None = None) -> NDArray[np.int64]:
    """Return different random roots, fewer for many points unless their number is given."""
    if count is None:
        count = max(_FEWEST_ROOTS, _PRODUCTS // (n * n))
    return rng.permutation(n)[: positive_number(count, "roots")]


def root_errors(
    matrix: NDArray[np.float64], roots: NDArray[np.int64], n_jobs: int | None
) -> NDArray[np.float64]:
    """Return the root error of each root: see `root_error`."""
    distances = read_only(matrix)
    found = np.empty(len(roots))
    with progress_bar(len(roots), "roots", "roots") as bar, Workers(n_jobs) as workers:
        for k, error in enumerate(workers.map(lambda a: root_error(distances, a), roots)):
            found[k] = error
            bar.update()
            workers.check()
    return found
