"""Training of the learned embeddings: start, loop over epochs, and result."""

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.checks import number_above, positive_number
from ..._core.extras import require
from ..._core.progress import progress_bar
from ..._core.typing import DeviceLike, TorchGenerator
from ...metric._matching import point_order, points_of
from ...metric.base import Metric
from ...tree.tree import Tree
from .._models import from_polar
from ..embedding import Embedding
from ._manifolds import Adam, HyperbolicModel, Line, Tensor

# Number of points for the spectral start. If the start is a tree, its diameter gets this
# hyperbolic length.
_PIVOTS = 1024
_TREE_REACH = 24.0
# Maximum size of the distances to pivots: one gigabyte.
_ENTRIES = 1 << 27
# Hyperbolic length of the random displacement of a given start, because coinciding points have
# no gradient.
_JITTER = 1e-3
# Rate of the log scale, as a fraction of the rate of the points.
_SCALE_PACE = 0.1
# Stop when this many epochs have not lowered the loss by a thousandth.
_PATIENCE = 50


Coordinates = NDArray[np.float64]


class Schedule(NamedTuple):
    """The number of epochs, and the learning rate, which falls to 0."""

    epochs: int
    rate: float

    def at(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        return self.rate * (1 - epoch / self.epochs)

    def chosen(self, epochs: int | None, rate: float | None) -> "Schedule":
        """Return the schedule with the given options."""
        return Schedule(
            self.epochs if epochs is None else positive_number(epochs, "epochs"),
            self.rate if rate is None else number_above(0, rate, "rate must be a positive number"),
        )


def generator(rng: np.random.Generator, device: DeviceLike) -> TorchGenerator:
    """Return a torch generator on a device, seeded by `rng`."""
    return require("torch", "embed").Generator(device=device).manual_seed(int(rng.integers(2**62)))


class Learned(NamedTuple):
    """Points and log scale with the lowest loss, and the losses of all epochs."""

    points: Tensor
    log_scale: float
    losses: list[float]


def learn(
    space: HyperbolicModel,
    points: Tensor,
    loss: Callable[[Tensor, Tensor, Any], Tensor],
    batches: Callable[[int], Iterable[Any]],
    plan: Schedule,
    what: str,
    log_scale: float | None = None,
) -> Learned:
    """Minimize `loss(points, log scale, batch)` over `batches(epoch)` in every epoch.

    The log scale is also learned, unless it is None. An interrupt ends the learning, not the
    program: the best points so far are returned, with a warning.
    """
    torch = require("torch", "embed")
    scale = torch.full((1, 1), log_scale or 0.0, dtype=points.dtype, device=points.device)
    mover = Adam(space)
    scaler = Adam(Line())
    best = Learned(points, float(scale), [])
    losses = []
    epoch = 0
    count = 0
    batch = None
    with (
        progress_bar(plan.epochs, what, "epoch") as bar,
        _until_interrupted(what) as interrupted,
    ):
        for epoch in range(plan.epochs):
            rate = plan.at(epoch)
            total = 0.0
            count = 0
            before = (points, scale)
            for batch in batches(epoch):
                leaf = points.detach().requires_grad_()
                free = scale.detach().requires_grad_(log_scale is not None)
                value = loss(leaf, free, batch)
                slopes = torch.autograd.grad(value, [leaf, free] if log_scale is not None else [leaf])
                points = mover.step(leaf.detach(), slopes[0], rate)
                if log_scale is not None:
                    scale = scaler.step(scale.detach(), slopes[1], rate * _SCALE_PACE)
                total = total + value.detach()
                count = count + 1
            losses.append(float(total) / max(count, 1))
            if losses[-1] <= min(losses):
                # The loss of a single batch is the loss before the step.
                best = _kept(*(before if count == 1 else (points, scale)), losses)
            bar.set_postfix(loss=f"{losses[-1]:.4g}", refresh=False)
            bar.update(1)
            if _has_settled(losses):
                break
        if count == 1:  # the loss after the last step
            with torch.no_grad():
                if float(loss(points, scale, batch)) <= min(losses):
                    best = _kept(points, scale, losses)
    if interrupted:
        warnings.warn(
            f"interrupted in epoch {epoch + 1} of {plan.epochs}: the result is the best embedding so far",
            stacklevel=4,
        )
    return best


def _kept(points: Tensor, scale: Tensor, losses: list[float]) -> Learned:
    return Learned(points, float(scale), losses)


@contextlib.contextmanager
def _until_interrupted(what: str) -> Iterator[list[str]]:
    interrupted: list[str] = []
    try:
        yield interrupted
    except KeyboardInterrupt:
        interrupted.append(what)


def _has_settled(losses: list[float]) -> bool:
    return len(losses) > _PATIENCE and min(losses[-_PATIENCE:]) > 0.999 * min(losses[:-_PATIENCE])


def warm_start(
    space: HyperbolicModel,
    metric: Metric,
    n: int,
    dim: int,
    init: Tree | Embedding | None,
    reach: float,
    rng: np.random.Generator,
) -> Coordinates:
    """Return the n points of `init`, or h-MDS of diameter about `reach` if there is no `init`."""
    if init is None:
        vectors = _spectral(metric, n, dim, reach, rng)
    else:
        directions, radii = _polar_of(init, metric, n, dim, space.farthest)
        vectors = from_polar(directions, radii, "lorentz")[:, 1:]
    # A small tangential displacement on the hyperboloid has the same hyperbolic length.
    return _points(space, vectors + _JITTER * rng.normal(size=(n, dim)))


def _points(space: HyperbolicModel, vectors: Coordinates) -> Coordinates:
    """Return the points above vectors x of the hyperboloid, in the coordinates of a model."""
    norms = np.linalg.norm(vectors, axis=1)
    units = np.divide(vectors, norms[:, None], out=np.zeros_like(vectors), where=norms[:, None] > 0)
    return from_polar(units, np.minimum(np.arcsinh(norms), space.farthest), space.model)


def _polar_of(
    init: Tree | Embedding | None, metric: Metric, n: int, dim: int, farthest: float
) -> tuple[Coordinates, Coordinates]:
    """Return directions and radii of an embedding, or of the Sarkar embedding of a tree."""
    if isinstance(init, Tree):
        from ..sarkar.construction import sarkar

        order_known = init.order_known
        init = sarkar(init, dim=dim, scale=_TREE_REACH / (_diameter(init) or _TREE_REACH))
        init.order_known = order_known
    if not isinstance(init, Embedding):
        raise TypeError(f"init must be a tree or an embedding of the same points, got {type(init).__name__}")
    if len(init) != len(metric) or init.n_nodes < n:
        raise ValueError(
            f"init is {init!r}, but the data has {len(metric):,} points: init must have the same points"
        )
    if init.dim > dim:
        raise ValueError(
            f"init has {init.dim} dimensions, more than dim={dim}: set dim to at least {init.dim}"
        )
    directions = np.zeros((n, dim))
    nodes = np.arange(n)
    order = point_order(points_of(init), points_of(metric), ("init", "data"))
    if order is not None:
        nodes[: len(order)] = order
    directions[:, : init.dim] = init.directions[nodes]
    radii = init.radii[nodes]
    return directions, radii * min(1.0, farthest / max(radii.max(), 1e-300))


def _diameter(tree: Tree) -> float:
    everyone = np.arange(tree.n_nodes)
    end = np.argmax(tree.block([0], everyone)[0])
    return float(tree.block([end], everyone).max())


def _spectral(metric: Metric, n: int, dim: int, reach: float, rng: np.random.Generator) -> Coordinates:
    """Return vectors on the hyperboloid from h-MDS of up to 1,024 pivots (Sala et al. 2018).

    Because cosh d(x, y) = x0 y0 - x.y, the positive eigenvalues of -cosh(s D) and their
    eigenvectors give the x of the pivots. The x of any other point is a product of its
    distances to the pivots with these eigenvectors.
    """
    count = min(n, _PIVOTS, max(_ENTRIES // n, 4 * dim))
    pivots = np.sort(rng.choice(n, count, replace=False)) if n > count else np.arange(n)
    distances = metric.block(np.arange(n), pivots)
    products = -np.cosh(distances * (reach / max(distances.max(), 1e-300)))
    values, vectors = np.linalg.eigh(products[pivots])
    leading = np.flatnonzero(values > 1e-9 * np.abs(values).max())[::-1][:dim]
    found = np.zeros((n, dim))
    found[:, : len(leading)] = products @ (vectors[:, leading] / np.sqrt(values[leading]))
    return found


def embedding_of(
    space: HyperbolicModel,
    points: Tensor,
    scale: float,
    n_points: int,
    labels: tuple[str, ...] | None,
) -> Embedding:
    """Return the points as an embedding."""
    coordinates = points.cpu().numpy()
    make = Embedding.from_poincare if space.model == "poincare" else Embedding.from_lorentz
    return make(coordinates, scale=scale, n_points=n_points, labels=labels)
