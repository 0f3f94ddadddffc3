"""The bootstrap: trees of resampled data, and the support of splits (Felsenstein 1985)."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any, Literal

import numpy as np

from .._core.backend import Backend, backend_for
from .._core.checks import positive_number
from .._core.parallel import Workers, count_jobs
from .._core.progress import progress_bar
from .._core.typing import EngineLike, MetricLike, RNGLike
from .._core.used import note
from ..metric.as_metric import as_metric
from ..metric.base import Metric, MetricError
from ..tree.comparison.splits import inner_splits
from ..tree.tree import Tree
from ._distances import rounding_of
from ._request import FitRequest, make_request
from ._trials import EXACT_SCORES, with_support
from .methods import DEFAULT, TRIALS


def bootstrap_trees(
    data: MetricLike,
    *,
    replicates: int = 100,
    method: str = DEFAULT,
    metric: str | None = None,
    rng: RNGLike = 0,
    trials: int = TRIALS,
    keep: Literal["best", "greedy", "majority", "strict"] = "best",
    options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    engine: EngineLike = None,
) -> list[Tree]:
    """Fit trees to bootstrap replicates of points, sequences or characters.

    A replicate has the points of the data, but its columns (coordinates, sites or loci) are drawn
    from those of the data, with replacement.

    Parameters
    ----------
    data : Metric, array or other points
        As in `fit`. A distance matrix or a graph has no columns, and cannot be resampled.
    replicates : int
        Number of trees.
    method, metric, trials, keep, n_jobs, engine
        As in `fit`. The method need not be random.
    rng : int, numpy Generator or None
        Seed of the columns and of the random choices of the method. The same seed gives the same
        trees for every number of threads.
    options : mapping, optional
        Options of the method, by their names in `fit`: `{"linkage": "single"}`.

    Returns
    -------
    list of Tree
        Edges of length 0 are contracted, because a replicate does not support their splits.

    See Also
    --------
    fit : Fit a tree to the data, with the support of replicates if you pass `bootstrap`.
    consensus : Compute the tree of the splits on which several trees agree.
    Tree.with_support : Compute the share of trees that contain each split.
    Metric.resample : Draw one replicate.

    Notes
    -----
    One fit per replicate. Replicates of up to 2,000 points run side by side, each on one thread.

    The support of an edge is the share of replicates that contain its split: the same points on
    both sides, whatever the root. With a numpy Generator g, `fit(data, bootstrap=k, rng=g)` has
    the support that `bootstrap_trees(data, replicates=k, rng=g)` gives after `fit(data, rng=g)`.
    The edge of a single point and an edge of length 0 make no split, and have no support (NaN).

    References
    ----------
    J. Felsenstein, Confidence limits on phylogenies: an approach using the bootstrap,
    Evolution 39 (1985)

    Examples
    --------
    Two pairs of points that differ in many coordinates:

    >>> import numpy as np
    >>> points = np.repeat([[0], [0], [9], [9]], 20, axis=1) + np.eye(4, 20)
    >>> trees = bootstrap_trees(points, replicates=10, metric="manhattan", method="neighbor_joining")
    >>> len(trees)
    10
    >>> from treerep import consensus
    >>> float(np.nanmin(consensus(trees).support))
    1.0
    """
    count = positive_number(replicates, "replicates")
    count_jobs(n_jobs)  # raises errors early
    request = make_request(data, metric, method, dict(options or {}), trials, keep, rng)
    backend = backend_for(n_jobs=n_jobs, engine=engine)
    generator = np.random.default_rng(rng)
    return list(_replicate_trees(backend, _read(backend, request), count, generator))


def fit_with_bootstrap(backend: Backend, request: FitRequest, replicates: int) -> Tree:
    """Fit a tree to the data, with the share of replicate trees that contain each of its splits."""
    request = _read(backend, request)
    generator = np.random.default_rng(request.rng)
    tree = backend.fit(request._replace(rng=generator))
    trees = _replicate_trees(backend, request, replicates, generator)
    return with_support(tree, [inner_splits(other).keys for other in trees])


def _read(backend: Backend, request: FitRequest) -> FitRequest:
    """Return the request with its data as a metric. Raise an error if it has no columns."""
    backend.validate(data=request.data)
    metric = as_metric(request.data, metric=request.metric)
    if type(metric).resample is Metric.resample:
        metric.resample(np.random.default_rng(0))  # raises its error before a long fit
    note("bootstrap")
    return request._replace(data=metric, metric=None)


def _replicate_trees(
    backend: Backend, request: FitRequest, replicates: int, generator: np.random.Generator
) -> Iterator[Tree]:
    """Yield the tree of each replicate. Small replicates run side by side."""
    # One number is drawn. `spawn` would depend on how often a method has called it.
    seeds = np.random.SeedSequence(int(generator.integers(2**63))).spawn(replicates)
    small = len(request.data) <= EXACT_SCORES
    bar = progress_bar(replicates, "bootstrap", "trees")
    # These workers notice an interrupt that a method missed.
    with bar, Workers(1) as workers, backend.runner() if small else nullcontext() as runner:
        if runner is None:
            trees: Iterator[Tree] = map(partial(_fit_replicate, backend, request), seeds)
        else:
            trees = runner.map(_fit_alone, request, seeds)
        for tree in trees:
            yield tree
            bar.update()
            workers.check()


def _fit_alone(request: FitRequest, seed: np.random.SeedSequence) -> Tree:
    return _fit_replicate(backend_for(n_jobs=1), request, seed)


def _fit_replicate(backend: Backend, request: FitRequest, seed: np.random.SeedSequence) -> Tree:
    rng = np.random.default_rng(seed)
    try:
        metric = request.data.resample(rng)
        tree = backend.fit(request._replace(data=metric, rng=rng))
    except MetricError as error:
        raise MetricError(f"in a bootstrap replicate, {error}") from error
    return tree.contracted(rounding_of(metric, float(tree.rooted(0).depth.max())))
