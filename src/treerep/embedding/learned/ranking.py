"""PM and LM (Nickel and Kiela 2017, 2018): embeddings that rank neighbors first."""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import positive_number
from ..._core.device import find_device
from ..._core.extras import require
from ..._core.typing import DeviceLike, TorchGenerator
from ...metric.base import Metric, MetricError
from ...tree.tree import Tree
from ..embedding import Embedding
from ._manifolds import HyperbolicModel, Hyperboloid, PoincareBall, Tensor, arcosh1p
from ._training import Schedule, embedding_of, generator, learn, warm_start

_SCHEDULE = Schedule(epochs=300, rate=0.35)
# Diameter of the start, small enough that neighbors can still change sides.
_REACH = 2.0
# Maximum number of elements in a tensor of a step: a quarter of a gigabyte.
_LARGEST_TENSOR = 1 << 25


def rank(
    space: HyperbolicModel,
    metric: Metric,
    *,
    dim: int,
    rng: np.random.Generator,
    init: Tree | Embedding | None = None,
    epochs: int | None = None,
    rate: float | None = None,
    batch: int | None = None,
    negatives: int | None = None,
    device: DeviceLike = None,
) -> Embedding:
    """Embed a graph so that neighbors are ranked first. See `embed` for the options."""
    require("torch", "embed")
    plan = _SCHEDULE.chosen(epochs, rate)
    edges, n = _edges(metric)
    count = 50 if negatives is None else positive_number(negatives, "negatives")
    size = None if batch is None else positive_number(batch, "batch")
    start = warm_start(space, metric, n, dim, init, _REACH, rng)
    if rate is None:
        plan = plan._replace(rate=plan.rate / dim**0.4)  # measured: 0.27 in 2 dimensions, 0.04 in 200
    where = find_device(device)
    points = _tensor(start, where)
    if len(edges):
        if size is None:
            size = max(1, _LARGEST_TENSOR // ((count + 1) * dim))
        loss = RankingLoss(space, edges, n, count, size, generator(rng, where))
        points = learn(space, points, loss, loss.batches, plan, f"ranking, dim {dim}").points
    found = embedding_of(space, points, 1.0, len(metric), metric.labels)
    return Embedding(
        found.directions,
        found.radii,
        scale=_best_scale(found, metric, rng),
        n_points=len(metric),
        labels=metric.labels,
    )


#: PM (Nickel and Kiela 2017), in the Poincaré ball.
poincare = functools.partial(rank, PoincareBall())
#: LM (Nickel and Kiela 2018), on the hyperboloid.
lorentz = functools.partial(rank, Hyperboloid())


def _edges(metric: Metric) -> tuple[NDArray[np.int64], int]:
    """Return each edge once, and the number of nodes including Steiner nodes."""
    if isinstance(metric, Tree):
        return metric.edges, metric.n_nodes
    adjacency: Any = getattr(metric, "adjacency", None)
    if adjacency is None:
        raise MetricError(
            f"ranking needs edges, and a {type(metric).__name__} has none: use a graph, or method='pt'"
        )
    rows, cols = adjacency.nonzero()
    return np.column_stack([rows, cols])[rows < cols].astype(np.int64), len(metric)


def _tensor(array: NDArray[Any], device: DeviceLike) -> Tensor:
    # Arrays of a metric are read-only, and torch warns about read-only arrays.
    return require("torch", "embed").from_numpy(np.array(array)).to(device)


def _best_scale(found: Embedding, metric: Metric, rng: np.random.Generator) -> float:
    """Return the best scale, <d, d> / <d, t> over the rows of 256 points."""
    n = len(metric)
    rows = np.sort(rng.choice(n, min(n, 256), replace=False))
    ours, theirs = (space.block(rows, np.arange(n)) for space in (found, metric))
    product = float((ours * theirs).sum())
    return float((ours * ours).sum()) / product if product > 0 else 1.0


class Batch(NamedTuple):
    """Edges (u, v) as sources u and candidates: v, then the negatives that are not `banned`."""

    sources: Tensor
    candidates: Tensor
    banned: Tensor


class RankingLoss:
    """Cross entropy of -d over v and negatives: d(u, v) + log(sum of exp(-d(u, .))).

    Every edge is learned from both ends. Negatives are drawn with replacement from all nodes except
    u and its neighbors.
    """

    def __init__(
        self,
        space: HyperbolicModel,
        edges: NDArray[np.int64],
        n: int,
        negatives: int,
        batch: int,
        random: TorchGenerator,
    ) -> None:
        self.space = space
        self.n = n
        self.negatives = negatives
        self.batch = batch
        self.random = random
        device = random.device
        symmetric = np.concatenate([edges, edges[:, ::-1]])
        self.edges = _tensor(symmetric, device)
        # Nodes that cannot be negatives of u: u and its neighbors, in ascending order.
        banned = np.concatenate([symmetric, np.repeat(np.arange(n)[:, None], 2, axis=1)])
        banned = banned[np.lexsort((banned[:, 1], banned[:, 0]))]
        counts = np.bincount(banned[:, 0], minlength=n)
        starts = np.cumsum(counts) - counts
        rank = np.arange(len(banned)) - starts[banned[:, 0]]
        # The number of allowed nodes before a banned node is banned - rank.
        self.before = _tensor(banned[:, 0] * n + banned[:, 1] - rank, device)
        self.starts = _tensor(starts, device)
        self.allowed = _tensor(n - counts, device)

    def batches(self, _epoch: int) -> Iterator[Batch]:
        """Yield the edges in random order, in batches of about equal size, with new negatives."""
        torch = require("torch", "embed")
        device = self.edges.device
        order = torch.randperm(len(self.edges), generator=self.random, device=device)
        for part in order.tensor_split(-(-len(order) // self.batch)):
            u, v = self.edges[part].T
            draws = torch.rand(
                (len(part), self.negatives),
                generator=self.random,
                device=device,
                dtype=torch.float64,
            )
            negatives, banned = self._allowed(u[:, None], draws)
            never = torch.zeros_like(banned[:, :1])
            yield Batch(u, torch.cat([v[:, None], negatives], 1), torch.cat([never, banned], 1))

    def _allowed(self, u: Tensor, draws: Tensor) -> tuple[Tensor, Tensor]:
        torch = require("torch", "embed")
        allowed = self.allowed[u]
        nth = (draws * allowed).long()
        # The nth allowed node is n plus the number of banned nodes with at most n allowed nodes
        # before them.
        skipped = torch.searchsorted(self.before, u * self.n + nth, right=True) - self.starts[u]
        negatives = (nth + skipped).clamp_max(self.n - 1)
        return negatives, (allowed == 0).expand_as(negatives)

    def __call__(self, points: Tensor, _scale: Tensor, batch: Batch) -> Tensor:
        """Return the mean loss of a batch."""
        torch = require("torch", "embed")
        distances = arcosh1p(self._excess(points, batch))
        scores = (-distances).masked_fill(batch.banned, -torch.inf)
        return (distances[:, 0] + torch.logsumexp(scores, 1)).mean()

    def _excess(self, points: Tensor, batch: Batch) -> Tensor:
        torch = require("torch", "embed")
        pairs = batch.candidates.numel()
        if min(len(batch.sources), self.n) * self.n <= min(pairs * points.shape[1], _LARGEST_TENSOR):
            # One matrix product reads less memory than gathering the coordinates of every pair.
            rows, row = torch.unique(batch.sources, return_inverse=True)
            table = self.space.excess(points.index_select(0, rows), points)
            places = row[:, None] * self.n + batch.candidates
            return table.flatten().index_select(0, places.flatten()).view_as(places)
        others = points.index_select(0, batch.candidates.flatten()).view(*batch.candidates.shape, -1)
        return self.space.paired_excess(points.index_select(0, batch.sources)[:, None], others)
