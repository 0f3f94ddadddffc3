"""PT: the relative stress, its samples, and what is learned."""

import os
import signal
import threading

import numpy as np
import pytest

import treerep as tr
from treerep.embedding._models import from_polar
from treerep.embedding.embed import embed
from treerep.embedding.learned._manifolds import Hyperboloid
from treerep.embedding.learned._training import Schedule, learn
from treerep.embedding.learned.pt import AllPairs, SampledPairs, _partners

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

QUICK = {"method": "pt", "dim": 2, "epochs": 60, "device": "cpu"}


def generator(seed=0):
    import torch

    return torch.Generator().manual_seed(seed)


def points_of_the_plane(n=40, seed=0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, n)
    return tr.PointMetric(
        from_polar(np.column_stack([np.cos(angles), np.sin(angles)]), rng.uniform(0, 2, n), "poincare"),
        "poincare",
    )


def grid(side=5):
    cells = np.arange(side * side).reshape(side, side)
    pairs = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    return tr.GraphMetric(np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in pairs]))


def test_the_loss_by_hand():
    import torch

    # Points of a line at 0, 1 and 3; the data say 1, 2 and 4, and the pair of 1 and 3 is at distance 0.
    directions, radii = np.array([[1.0, 0.0]] * 3), np.array([0.0, 1.0, 3.0])
    x = torch.from_numpy(from_polar(directions, radii, "lorentz"))
    data = tr.MatrixMetric(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 4.0], [2.0, 4.0, 0.0]]))
    # e^c = 2: (2 * 1 / 1 - 1)^2 = 1, (2 * 3 / 2 - 1)^2 = 4, (2 * 2 / 4 - 1)^2 = 0
    scale = torch.full((1, 1), np.log(2.0))
    every = AllPairs(Hyperboloid(), data, "cpu")
    assert float(every(x, scale, None)) == pytest.approx(5 / 3, rel=1e-4)
    some = SampledPairs(Hyperboloid(), data, np.array([[0, 1], [2, 0]]), 10, generator())
    assert float(some(x, scale, slice(None))) == pytest.approx(5 / 2, rel=1e-9)
    # r = 1, 3/2, 1/2: the best scale is sum r / sum r^2 = 3 / 3.5
    assert every.log_scale(x) == pytest.approx(np.log(3 / 3.5), rel=1e-4)


@pytest.mark.parametrize("sampled", [False, True])
def test_the_slope_is_that_of_finite_differences(sampled):
    import torch

    data = points_of_the_plane(8)
    x = torch.from_numpy(points_of_the_plane(8, seed=1).points.copy())
    x = Hyperboloid().lift(x).requires_grad_()
    scale = torch.full((1, 1), 0.3, dtype=torch.float64, requires_grad=True)
    if sampled:
        loss = SampledPairs(
            Hyperboloid(), data, _partners(data, 3, np.random.default_rng(0)), 100, generator()
        )
        assert torch.autograd.gradcheck(lambda x, c: loss(x, c, slice(None)), [x, scale])
    else:
        loss = AllPairs(Hyperboloid(), data, "cpu")
        # Distances on the diagonal are 0, where the slope is cut off.
        mask = 1 - torch.eye(8, dtype=torch.float64)
        excess = Hyperboloid.excess
        loss.space.excess = lambda x, y: excess(loss.space, x, y) * mask + (1 - mask)
        assert torch.autograd.gradcheck(lambda x, c: loss(x, c, None), [x, scale])


def test_partners_are_neighbors_first_and_never_the_point_itself():
    graph = grid()
    pairs = _partners(graph, 5, np.random.default_rng(0))
    assert len(pairs) == 5 * 25 and (pairs[:, 0] != pairs[:, 1]).all()
    for v in range(25):
        assert set(graph.neighbors(v)) <= set(pairs[pairs[:, 0] == v, 1])
    few = _partners(graph, 2, np.random.default_rng(0))
    assert all(graph.adjacency[i, j] for i, j in few)


@pytest.mark.parametrize("subsample", [None, 24])
def test_points_of_the_plane_are_found_again(subsample):
    data = points_of_the_plane()
    embedding = embed(data, subsample=subsample, batch=100, **(QUICK | {"epochs": 200}))
    assert tr.average_distortion(embedding, data) < 0.05
    assert embedding.scale > 0


@pytest.mark.parametrize("options", [{}, {"subsample": 6, "batch": 50}], ids=str)
def test_it_learns_and_a_seed_gives_the_same_bits(options):
    graph = grid()
    first, again = (embed(graph, rng=3, **QUICK, **options) for _ in range(2))
    assert np.array_equal(first.radii, again.radii) and np.array_equal(first.directions, again.directions)
    one = embed(graph, rng=3, **(QUICK | {"epochs": 1}), **options)
    assert tr.average_distortion(first, graph) < tr.average_distortion(one, graph)


def test_an_embedding_is_a_start():
    data = points_of_the_plane()
    start = tr.PointMetric(data.points, "poincare")
    exact = tr.embedding.embedding.Embedding.from_poincare(start.points)
    warm = embed(data, init=exact, **(QUICK | {"epochs": 1, "rate": 1e-6}))
    assert tr.average_distortion(warm, data) < 0.01


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_and_coinciding(n):
    apart = tr.MatrixMetric(np.ones((n, n)) - np.eye(n))
    embedding = embed(apart, **QUICK)
    assert len(embedding) == n and np.isfinite(embedding.radii).all()
    together = embed(tr.MatrixMetric(np.zeros((n, n), np.uint8)), **QUICK)
    assert (together.block(range(n), range(n)) == 0).all()


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_of_the_data_does_not_matter(factor):
    distances = points_of_the_plane().block(range(40), range(40))
    one, other = (embed(tr.MatrixMetric(distances * unit), **QUICK) for unit in (1.0, factor))
    assert tr.average_distortion(one, tr.MatrixMetric(distances)) == pytest.approx(
        float(tr.average_distortion(other, tr.MatrixMetric(distances * factor))), rel=1e-3
    )


@pytest.mark.usefixtures("default_interrupt")
def test_an_interrupt_returns_the_best_so_far(monkeypatch):
    monkeypatch.setattr("treerep.embedding.learned._training._PATIENCE", 1_000_000)  # it does not settle
    embed(points_of_the_plane(), **(QUICK | {"epochs": 1}))  # torch is imported before the time starts
    # As a user would: Ctrl-C while it runs.
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.warns(
            UserWarning,
            match="interrupted in epoch .* of 1000000: the result is the best embedding so far",
        ):
            embedding = embed(
                points_of_the_plane(),
                method="pt",
                epochs=1_000_000,
                subsample=12,
                device="cpu",
            )
    finally:
        timer.cancel()
    assert len(embedding) == 40


@pytest.mark.parametrize("batches", [1, 2])
def test_the_best_epoch_is_kept_and_a_loss_that_settles_ends_the_learning(batches):
    import torch

    x = torch.from_numpy(from_polar(np.array([[1.0, 0.0]]), np.array([1.0]), "lorentz"))
    values = iter(np.repeat([3.0, 1.0, 2.0, *[2.0] * 500], batches).tolist())
    moves = []

    def loss(points, scale, batch):
        moves.append(points.detach().clone())
        return points[0, 1] - points[0, 1].detach() + next(values)  # a slope that does not change the values

    found = learn(
        Hyperboloid(),
        x,
        loss,
        lambda epoch: [None] * batches,
        Schedule(500, 0.1),
        "test",
    )
    assert min(found.losses) == 1.0 and len(found.losses) == 52
    # The loss of one batch belongs to the points on which it was computed, that of several to where they led.
    best = 1 if batches == 1 else 4
    assert torch.equal(found.points, moves[best])
    assert not torch.equal(moves[best], moves[best - 1]) and not torch.equal(moves[best], moves[best + 1])


def test_the_last_step_counts():
    graph = grid()
    i, j = np.triu_indices(25, 1)
    starts = (embed(graph, rng=3, rate=rate, **(QUICK | {"epochs": 1})) for rate in (1e-9, 0.05))
    before, after = (np.mean((start.pairs(i, j) / graph.pairs(i, j) - 1) ** 2) for start in starts)
    assert after < before


@pytest.mark.parametrize("dim", [1, 2])
def test_a_start_without_any_error_is_not_lost(dim):
    # Points of a line: h-MDS is exact, but for the jitter, and no step is as good.
    line = np.arange(6.0)
    data = tr.MatrixMetric(abs(line - line[:, None]))
    assert tr.average_distortion(embed(data, **(QUICK | {"dim": dim})), data) < 1e-3


def test_bad_options_are_one_line_each():
    for options, text in [
        ({"subsample": 0}, "subsample must be a positive whole number"),
        ({"batch": "large"}, "batch must be a positive whole number, not 'large'"),
        ({"negatives": 5}, "pt does not accept negatives"),
    ]:
        with pytest.raises(ValueError, match=text) as error:
            embed(points_of_the_plane(), method="pt", **options)
        assert "\n" not in str(error.value)
