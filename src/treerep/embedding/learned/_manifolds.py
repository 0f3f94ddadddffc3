"""Riemannian optimization on the Poincaré ball and the hyperboloid, with torch tensors.

Implements Riemannian Adam (Bécigneul and Ganea 2019). The step is an exponential map, and parallel
transport moves the first moment along the step.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..._core.extras import require

#: A torch tensor. Torch is optional, so its types cannot be imported here.
Tensor = Any

# Points closer than this count as equal. This limits 1 / sqrt(t (t + 2)), the slope of arcosh(1
# + t), to 1e5.
_NEAREST = 5e-11
_TINY = 1e-30
# Maximum length of a step, whatever the gradient.
_LONGEST = 1.0


@functools.cache
def _arcosh_function() -> Callable[[Tensor], Tensor]:
    function: Any = require("torch", "embed").autograd.Function

    class Arcosh1p(function):  # type: ignore[misc]
        """arcosh(1 + t). Saves one tensor for the gradient; autograd would save five."""

        @staticmethod
        def forward(context: Any, excess: Tensor) -> Tensor:
            t = excess.clamp_min(_NEAREST)
            sinh = (t * (t + 2)).sqrt_()
            context.save_for_backward(sinh)
            return t.add_(sinh).log1p_()

        @staticmethod
        def backward(context: Any, gradient: Tensor) -> Tensor:
            (sinh,) = context.saved_tensors
            return gradient / sinh

    return Arcosh1p.apply


def arcosh1p(excess: Tensor) -> Tensor:
    """Return arcosh(1 + t), the distance for cosh d - 1 = t, accurate for small t."""
    return _arcosh_function()(excess)


class Manifold(ABC):
    """A manifold whose points are the rows of a float64 tensor."""

    @abstractmethod
    def inner(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """Return the inner products <u, v> of tangent vectors at x, (n, 1)."""

    @abstractmethod
    def gradient(self, x: Tensor, slopes: Tensor) -> Tensor:
        """Return the Riemannian gradient at x, given the partial derivatives."""

    @abstractmethod
    def move(self, x: Tensor, v: Tensor) -> Tensor:
        """Return the exponential map of v at x."""

    @abstractmethod
    def carry(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        """Return the parallel transport of v along the geodesic from x to y."""


class Line(Manifold):
    """The real numbers, for the logarithm of the scale."""

    def inner(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:  # noqa: ARG002
        return u * v

    def gradient(self, x: Tensor, slopes: Tensor) -> Tensor:  # noqa: ARG002
        return slopes

    def move(self, x: Tensor, v: Tensor) -> Tensor:
        return x + v

    def carry(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:  # noqa: ARG002
        return v


class HyperbolicModel(Manifold):
    """Hyperbolic space of curvature -1 in coordinates."""

    #: Name of the model, as in `Embedding.coordinates`.
    model: str
    #: Largest distance from the origin at which coordinates are accurate.
    farthest: float

    @abstractmethod
    def excess(self, x: Tensor, y: Tensor) -> Tensor:
        """Return cosh d(x, y) - 1 for every row of x with every row of y."""

    @abstractmethod
    def paired_excess(self, x: Tensor, y: Tensor) -> Tensor:
        """Return cosh d(x, y) - 1 for corresponding rows of x and y."""


class Hyperboloid(HyperbolicModel):
    """Points (x0, x) with x0^2 = 1 + |x|^2, and the product <u, v> = -u0 v0 + sum u_i v_i."""

    model = "lorentz"
    farthest = 14.5  # |x| = 1e6

    def excess(self, x: Tensor, y: Tensor) -> Tensor:
        return x[:, :1] @ y[:, :1].T - x[:, 1:] @ y[:, 1:].T - 1

    def paired_excess(self, x: Tensor, y: Tensor) -> Tensor:
        # <x - y, x - y> / 2 avoids cancellation between nearby points.
        squares = (x - y).square()
        return 0.5 * (squares[..., 1:].sum(-1) - squares[..., 0])

    def inner(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:  # noqa: ARG002
        products = u * v
        return products[:, 1:].sum(1, keepdim=True) - products[:, :1]

    def gradient(self, x: Tensor, slopes: Tensor) -> Tensor:
        raised = slopes.clone()
        raised[:, 0].neg_()
        return raised + self.inner(x, x, raised) * x

    def move(self, x: Tensor, v: Tensor) -> Tensor:
        length = self.inner(x, v, v).clamp_min(_TINY).sqrt()
        ends = length.cosh() * x + length.sinh() / length * v
        return self.lift(ends[:, 1:])

    def lift(self, vectors: Tensor) -> Tensor:
        """Return the points above x, limited to `farthest`. Recomputing x0 prevents drift."""
        torch = require("torch", "embed")
        squares = vectors.square().sum(1, keepdim=True)
        most = torch.sinh(squares.new_tensor(self.farthest))
        vectors = vectors * (most / squares.sqrt().clamp_min(most))
        return torch.cat([(1 + squares.clamp_max(most**2)).sqrt(), vectors], 1)

    def carry(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        return v + self.inner(x, y, v) / (1 - self.inner(x, x, y)) * (x + y)


class PoincareBall(HyperbolicModel):
    """Points |p| < 1. Lengths at p are 2 / (1 - |p|^2) times the Euclidean lengths."""

    model = "poincare"
    farthest = 12.2  # |p| = 1 - 1e-5, as in the code of Nickel and Kiela

    def excess(self, x: Tensor, y: Tensor) -> Tensor:
        # cosh d = 1 + 2 |x - y|^2 / ((1 - |x|^2) (1 - |y|^2))
        a = x.square().sum(1, keepdim=True)
        b = y.square().sum(1, keepdim=True)
        apart = (a + b.T - 2 * (x @ y.T)).clamp_min(0)
        return apart * (2 / (1 - a)) / (1 - b).T

    def paired_excess(self, x: Tensor, y: Tensor) -> Tensor:
        factors = (1 - x.square().sum(-1)) * (1 - y.square().sum(-1))
        return 2 * (x - y).square().sum(-1) / factors

    def inner(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
        return _conformal(x).square() * (u * v).sum(1, keepdim=True)

    def gradient(self, x: Tensor, slopes: Tensor) -> Tensor:
        return slopes / _conformal(x).square()

    def move(self, x: Tensor, v: Tensor) -> Tensor:
        # x (+) tanh(|v|_x / 2) v / |v|
        norm = v.norm(dim=1, keepdim=True).clamp_min(_TINY)
        y = (0.5 * _conformal(x) * norm).tanh() / norm * v
        xy = _dot(x, y)
        a = _dot(x, x)
        b = _dot(y, y)
        ends = ((1 + 2 * xy + b) * x + (1 - a) * y) / (1 + 2 * xy + a * b)
        most = (ends.new_tensor(self.farthest) / 2).tanh()
        return ends * (most / ends.norm(dim=1, keepdim=True).clamp_min(most))

    def carry(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        # gyr[y, -x] v, scaled by the ratio of the conformal factors
        a = _dot(y, y)
        b = _dot(x, x)
        yx = -_dot(y, x)
        yv = _dot(y, v)
        xv = -_dot(x, v)
        along_y = xv + 2 * yx * xv - yv * b
        along_x = -xv * a - yv
        turned = v + 2 * (along_y * y - along_x * x) / (1 + 2 * yx + a * b)
        return turned * (_conformal(x) / _conformal(y))


def _dot(u: Tensor, v: Tensor) -> Tensor:
    return (u * v).sum(1, keepdim=True)


def _conformal(x: Tensor) -> Tensor:
    return 2 / (1 - _dot(x, x))


class Adam:
    """Riemannian Adam: one second moment per point, and a transported first moment."""

    def __init__(
        self, manifold: Manifold, betas: tuple[float, float] = (0.5, 0.9), eps: float = 1e-12
    ) -> None:
        self.manifold = manifold
        self.betas = betas
        self.eps = eps
        self.steps = 0
        self.first: Tensor = 0.0
        self.second: Tensor = 0.0

    def step(self, x: Tensor, slopes: Tensor, rate: float) -> Tensor:
        """Return the next x, given the partial derivatives of the loss."""
        b, c = self.betas
        manifold = self.manifold
        self.steps += 1
        gradient = manifold.gradient(x, slopes)
        self.first = b * self.first + (1 - b) * gradient
        # Far from the origin, rounding may make a square negative.
        self.second = c * self.second + (1 - c) * manifold.inner(x, gradient, gradient).clamp_min(0)
        size = (self.second / (1 - c**self.steps)).sqrt() + self.eps
        v = -rate / (1 - b**self.steps) * self.first / size
        y = manifold.move(x, _shortened(manifold, x, v))
        self.first = manifold.carry(x, y, self.first)
        return y


def _shortened(manifold: Manifold, x: Tensor, v: Tensor) -> Tensor:
    length = manifold.inner(x, v, v).clamp_min(_TINY).sqrt()
    return v * (_LONGEST / length.clamp_min(_LONGEST))
