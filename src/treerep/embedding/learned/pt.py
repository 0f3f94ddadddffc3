"""PT (Sala, De Sa, Gu, Ré 2018): relative stress with a learned scale, on the hyperboloid."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import positive_number
from ..._core.device import find_device
from ..._core.extras import require
from ..._core.memory import check_memory
from ..._core.typing import DeviceLike, TorchGenerator
from ...metric.base import Metric
from ...tree.tree import Tree
from ..embedding import Embedding
from ._manifolds import Hyperboloid, Tensor, arcosh1p
from ._training import Schedule, embedding_of, generator, learn, warm_start

_SCHEDULE = Schedule(epochs=300, rate=0.2)
# Up to this many points, every step uses all pairs.
_DENSE = 2048
_PARTNERS = 64
# Most pairs per step.
_BATCH = 1 << 20
# Smallest diameter of the start.
_REACH = 3.0
# Maximum number of elements in a tensor of a step: a quarter of a gigabyte.
_LARGEST_TENSOR = 1 << 25


def pt(
    metric: Metric,
    *,
    dim: int,
    rng: np.random.Generator,
    init: Tree | Embedding | None = None,
    epochs: int | None = None,
    rate: float | None = None,
    batch: int | None = None,
    subsample: int | None = None,
    device: DeviceLike = None,
) -> Embedding:
    """Embed a metric in hyperbolic space and learn the scale. `embed` describes the options."""
    require("torch", "embed")
    plan = _SCHEDULE.chosen(epochs, rate)
    space = Hyperboloid()
    n = len(metric)
    where = find_device(device)
    if batch is not None:
        batch = positive_number(batch, "batch")
    if subsample is not None:
        subsample = positive_number(subsample, "subsample")
    elif n > _DENSE:
        subsample = _PARTNERS
    # A plane has enough space only far from the origin; in more dimensions, points can be closer.
    start = warm_start(space, metric, n, dim, init, max(_REACH, 24.0 / dim), rng)
    points = require("torch", "embed").from_numpy(start).to(where)
    loss: AllPairs | SampledPairs
    if subsample is None or subsample >= n - 1:
        loss = AllPairs(space, metric, where)
    else:
        most = min(_BATCH, max(1, _LARGEST_TENSOR // dim))
        partners = _partners(metric, subsample, rng)
        loss = SampledPairs(space, metric, partners, batch or most, generator(rng, where))
    log_scale = loss.log_scale(points)
    if log_scale is None:  # all distances are 0
        return Embedding(np.zeros((n, dim)), np.zeros(n), labels=metric.labels)
    learned = learn(space, points, loss, loss.batches, plan, f"relative stress, dim {dim}", log_scale)
    return embedding_of(space, learned.points, math.exp(-learned.log_scale), n, metric.labels)


def _partners(metric: Metric, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return pairs (i, j): `count` partners of every point, starting with neighbors in a graph."""
    n = len(metric)
    i = np.repeat(np.arange(n), count)
    j = rng.integers(0, n - 1, len(i))
    j += j >= i
    adjacency: Any = getattr(metric, "adjacency", None)
    if adjacency is not None:
        # The first `count` neighbors of each point, in random order, fill the first columns.
        rows, cols = (np.asarray(x, np.int64) for x in adjacency.nonzero())
        order = np.lexsort((rng.random(len(rows)), rows))
        rows = rows[order]
        cols = cols[order]
        rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
        kept = rank < count
        j[rows[kept] * count + rank[kept]] = cols[kept]
    return np.column_stack([i, j])


class AllPairs:
    """The mean over all pairs at t > 0 of (e^c d / t - 1)^2, as one batch."""

    def __init__(self, space: Hyperboloid, metric: Metric, device: DeviceLike) -> None:
        n = len(metric)
        self.space = space
        check_memory(64 * n * n, f"relative stress of all pairs of {n:,} points", "use subsample=64")
        distances = metric.block(np.arange(n), np.arange(n))
        with np.errstate(divide="ignore"):
            weights = np.where(distances > 0, 1 / distances, 0.0)
        self.weights = require("torch", "embed").from_numpy(weights).to(device)
        self.count = int((weights > 0).sum())
        self.unweighted = n * n - self.count

    def batches(self, _epoch: int) -> Iterator[None]:
        """Yield the single batch."""
        yield None

    def log_scale(self, points: Tensor) -> float | None:
        """Return the best log scale for the points, or None if all distances are 0."""
        return _best_log_scale(arcosh1p(self.space.excess(points, points)) * self.weights)

    def __call__(self, points: Tensor, scale: Tensor, _batch: None) -> Tensor:
        """Return the relative stress."""
        ratios = scale.exp() * arcosh1p(self.space.excess(points, points)) * self.weights
        # Every pair without a weight adds exactly 1.
        return ((ratios - 1).square().sum() - self.unweighted) / self.count


class SampledPairs:
    """The mean of `AllPairs` over sampled pairs, in batches. The pairs are kept on the device."""

    def __init__(
        self,
        space: Hyperboloid,
        metric: Metric,
        pairs: NDArray[np.int64],
        batch: int,
        random: TorchGenerator,
    ) -> None:
        torch = require("torch", "embed")
        self.space = space
        self.batch = batch
        self.random = random
        distances = metric.pairs(pairs[:, 0], pairs[:, 1])
        apart = distances > 0
        self.pairs = torch.from_numpy(pairs[apart]).to(random.device)
        self.weights = torch.from_numpy(1 / distances[apart]).to(random.device)

    def batches(self, _epoch: int) -> Iterator[Tensor]:
        """Yield the pairs in random order, in batches of about equal size."""
        torch = require("torch", "embed")
        order = torch.randperm(len(self.pairs), generator=self.random, device=self.pairs.device)
        yield from order.tensor_split(-(-len(order) // self.batch))

    def log_scale(self, points: Tensor) -> float | None:
        """Return the best log scale for the points, or None if all distances are 0."""
        return _best_log_scale(self._ratios(points, slice(None)))

    def _ratios(self, points: Tensor, part: Tensor | slice) -> Tensor:
        i, j = self.pairs[part].T
        excess = self.space.paired_excess(points.index_select(0, i), points.index_select(0, j))
        return arcosh1p(excess) * self.weights[part]

    def __call__(self, points: Tensor, scale: Tensor, batch: Tensor) -> Tensor:
        """Return the relative stress of a batch."""
        return (scale.exp() * self._ratios(points, batch) - 1).square().mean()


def _best_log_scale(ratios: Tensor) -> float | None:
    # sum (s r - 1)^2 is minimal at s = sum r / sum r^2.
    total = float(ratios.sum())
    return math.log(total / float(ratios.square().sum())) if total > 0 else None
