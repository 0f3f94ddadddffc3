"""The manifolds and their steps, against geoopt and against the definition of hyperbolic space."""

import warnings

import numpy as np
import pytest

from treerep.embedding._models import from_polar
from treerep.embedding.embedding import Embedding
from treerep.embedding.learned._manifolds import (
    Adam,
    Hyperboloid,
    Line,
    PoincareBall,
    arcosh1p,
)

pytestmark = pytest.mark.torch

SPACES = pytest.mark.parametrize("space", [PoincareBall(), Hyperboloid()], ids=lambda space: space.model)


def geoopt_twin(space):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # geoopt compiles with what newer torch calls deprecated
        import geoopt

        return geoopt.PoincareBallExact() if space.model == "poincare" else geoopt.Lorentz()


def points(space, n=7, dim=3, seed=0, far=3.0):
    import torch

    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(n, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return torch.from_numpy(from_polar(directions, rng.uniform(0.1, far, n), space.model))


def slopes(space, x, seed=1):
    import torch

    return torch.from_numpy(np.random.default_rng(seed).normal(size=tuple(x.shape)))


@SPACES
def test_distances_are_those_of_the_embedding(space):
    x = points(space)
    make = Embedding.from_poincare if space.model == "poincare" else Embedding.from_lorentz
    expected = make(x.numpy()).block(range(7), range(7))
    off = ~np.eye(7, dtype=bool)
    np.testing.assert_allclose(arcosh1p(space.excess(x, x)).numpy()[off], expected[off], rtol=1e-9)
    np.testing.assert_allclose(
        arcosh1p(space.paired_excess(x[:3], x[3:6])).numpy(), expected[range(3), range(3, 6)]
    )


@SPACES
def test_the_slope_of_distance_is_that_of_finite_differences(space):
    import torch

    x, y = points(space).requires_grad_(), points(space, seed=5)
    assert torch.autograd.gradcheck(lambda x: arcosh1p(space.paired_excess(x, y)), [x])
    assert torch.autograd.gradcheck(lambda x: arcosh1p(space.excess(x, y)), [x])


def test_points_that_coincide_have_no_slope():
    import torch

    excess = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(arcosh1p(excess).sum(), excess)
    assert torch.isfinite(slope).all()


@SPACES
def test_pieces_agree_with_geoopt(space):
    twin = geoopt_twin(space)
    x = points(space)
    u = space.gradient(x, slopes(space, x))
    v = space.gradient(x, slopes(space, x, 2))
    np.testing.assert_allclose(u, twin.egrad2rgrad(x, slopes(space, x)), rtol=1e-9)
    np.testing.assert_allclose(space.inner(x, u, v)[:, 0], twin.inner(x, u, v, keepdim=True)[:, 0], rtol=1e-8)
    y = space.move(x, 0.1 * v)
    np.testing.assert_allclose(y, twin.expmap(x, 0.1 * v), rtol=1e-9)
    np.testing.assert_allclose(space.carry(x, y, u), twin.transp(x, y, u), rtol=1e-7, atol=1e-9)


@SPACES
def test_a_step_goes_as_far_as_its_vector_is_long_and_transport_keeps_lengths(space):
    x = points(space)
    v = space.gradient(x, slopes(space, x))
    v = v / space.inner(x, v, v).sqrt() * 0.7
    y = space.move(x, v)
    np.testing.assert_allclose(arcosh1p(space.paired_excess(x, y)), 0.7, rtol=1e-9)
    u = space.gradient(x, slopes(space, x, 2))
    carried = space.carry(x, y, u)
    np.testing.assert_allclose(space.inner(y, carried, carried), space.inner(x, u, u), rtol=1e-7)


def attraction(space, target):
    """A loss with a known slope: the squared distances to fixed points."""
    return lambda x: arcosh1p(space.paired_excess(x, target)).square().sum()


@SPACES
def test_steps_agree_with_geoopts_optimizer(space):
    import torch

    twin, target = geoopt_twin(space), points(space, seed=8)
    if space.model == "lorentz":  # geoopt's own steps there are a retraction
        twin.retr, twin.retr_transp = twin.expmap, twin.expmap_transp
    import geoopt

    x = points(space)
    theirs = geoopt.ManifoldParameter(x.clone(), manifold=twin)
    ours, other = (
        Adam(space, (0.9, 0.99), 1e-8),
        geoopt.optim.RiemannianAdam([theirs], lr=0.05, betas=(0.9, 0.99)),
    )
    loss = attraction(space, target)
    for _ in range(5):
        leaf = x.requires_grad_()
        (slope,) = torch.autograd.grad(loss(leaf), leaf)
        x = ours.step(leaf.detach(), slope, 0.05)
        other.zero_grad()
        loss(theirs).backward()
        other.step()
    np.testing.assert_allclose(x, theirs.detach(), rtol=1e-6, atol=1e-8)


@SPACES
def test_points_reach_their_targets(space):
    import torch

    x, target = points(space), points(space, seed=8)
    ours, loss = Adam(space), attraction(space, target)
    for k in range(100):
        leaf = x.requires_grad_()
        (slope,) = torch.autograd.grad(loss(leaf), leaf)
        x = ours.step(leaf.detach(), slope, 0.3 * (1 - k / 100))
    assert arcosh1p(space.paired_excess(x, target)).max() < 1e-2


@SPACES
def test_no_step_is_longer_than_1_and_none_leaves_the_space(space):
    import torch

    x = points(space)
    y = Adam(space).step(x, slopes(space, x), 1e9)
    np.testing.assert_allclose(arcosh1p(space.paired_excess(x, y)), 1.0, rtol=1e-6)
    ours = Adam(space)
    for _ in range(40):
        x = ours.step(x, -x, 1e9)
    make = Embedding.from_poincare if space.model == "poincare" else Embedding.from_lorentz
    assert torch.isfinite(x).all()
    assert make(x.numpy()).radii.max() <= space.farthest + 1e-6


def test_adam_on_the_line_is_torchs_adam():
    import torch

    x = torch.full((1, 1), 3.0, dtype=torch.float64)
    theirs = x.clone().requires_grad_()
    ours, other = (
        Adam(Line(), (0.9, 0.99), 1e-8),
        torch.optim.Adam([theirs], lr=0.1, betas=(0.9, 0.99)),
    )
    for _ in range(5):
        x = ours.step(x, 2 * x, 0.1)
        other.zero_grad()
        theirs.square().sum().backward()
        other.step()
    np.testing.assert_allclose(x, theirs.detach(), rtol=1e-12)
