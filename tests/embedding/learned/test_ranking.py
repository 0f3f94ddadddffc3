"""PM and LM: the loss, its negatives, and what is learned."""

import math

import numpy as np
import pytest

import treerep as tr
from treerep.embedding._models import from_polar
from treerep.embedding.embed import embed
from treerep.embedding.learned._manifolds import Hyperboloid, PoincareBall
from treerep.embedding.learned.ranking import Batch, RankingLoss

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

SPACES = pytest.mark.parametrize("space", [PoincareBall(), Hyperboloid()], ids=lambda space: space.model)
METHODS = pytest.mark.parametrize("method", ["poincare", "lorentz"])
QUICK = {"dim": 2, "epochs": 30, "device": "cpu"}


def generator(seed=0):
    import torch

    return torch.Generator().manual_seed(seed)


def binary_tree(depth=4):
    n = 2 ** (depth + 1) - 1
    return tr.GraphMetric(np.array([[(i - 1) // 2, i] for i in range(1, n)]))


def loss_of(space, edges, n, negatives=4, batch=100):
    return RankingLoss(space, np.array(edges), n, negatives, batch, generator())


@SPACES
def test_the_loss_of_one_edge_by_hand(space):
    import torch

    # Node 0 at the origin, its neighbor at distance 1, two other nodes at 2 and 3.
    directions = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    x = torch.from_numpy(from_polar(directions, np.array([0.0, 1.0, 2.0, 3.0]), space.model))
    batch = Batch(
        torch.tensor([0]),
        torch.tensor([[1, 2, 3, 2]]),
        torch.tensor([[False, False, False, True]]),
    )
    expected = 1 + math.log(math.exp(-1) + math.exp(-2) + math.exp(-3))
    found = loss_of(space, [[0, 1]], 4)(x, None, batch)
    assert float(found) == pytest.approx(expected, rel=1e-9)


@SPACES
def test_both_ways_to_compute_it_agree_and_have_the_slope_of_finite_differences(space, monkeypatch):
    import torch

    graph = binary_tree(3)
    rng = np.random.default_rng(0)
    units = rng.normal(size=(15, 3))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    x = torch.from_numpy(from_polar(units, rng.uniform(0.2, 2, 15), space.model)).requires_grad_()
    loss = loss_of(space, np.argwhere(np.triu(graph.adjacency.toarray())), 15)
    (batch,) = loss.batches(0)
    assert torch.autograd.gradcheck(lambda x: loss(x, None, batch), [x])
    dense = float(loss(x, None, batch).detach())
    monkeypatch.setattr("treerep.embedding.learned.ranking._LARGEST_TENSOR", 0)  # gather the pairs
    assert torch.autograd.gradcheck(lambda x: loss(x, None, batch), [x])
    assert float(loss(x, None, batch).detach()) == pytest.approx(dense, rel=1e-9)


def test_negatives_are_neither_the_node_nor_its_neighbors_and_all_others_come():
    rng = np.random.default_rng(0)
    n = 12
    edges = np.array(
        [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.3] + [(i, i + 1) for i in range(11)]
    )
    adjacent = np.eye(n, dtype=bool)
    adjacent[edges[:, 0], edges[:, 1]] = adjacent[edges[:, 1], edges[:, 0]] = True
    loss = loss_of(
        Hyperboloid(),
        np.unique(np.sort(edges), axis=0),
        n,
        negatives=400,
        batch=7,
    )
    seen = np.zeros((n, n), int)
    targets = []
    for u, candidates, banned in loss.batches(0):
        assert len(u) <= 7
        targets += list(zip(u.tolist(), candidates[:, 0].tolist(), strict=True))
        drawn = ~banned.numpy()[:, 1:]
        rows = np.broadcast_to(u.numpy()[:, None], drawn.shape)
        np.add.at(seen, (rows[drawn], candidates.numpy()[:, 1:][drawn]), 1)
    assert not seen[adjacent].any()
    assert (seen[~adjacent] > 0).all()
    assert sorted(targets) == sorted(map(tuple, np.argwhere(adjacent & ~np.eye(n, dtype=bool)).tolist()))
    # Each as often as the others, within five standard deviations.
    share = seen / seen.sum(1, keepdims=True) * (~adjacent).sum(1, keepdims=True)
    assert abs(share[~adjacent] - 1).max() < 5 / math.sqrt(400 / n)


@METHODS
def test_it_learns_and_a_seed_gives_the_same_bits(method):
    graph = binary_tree()
    first, again = (embed(graph, method=method, rng=3, **QUICK) for _ in range(2))
    assert np.array_equal(first.radii, again.radii) and np.array_equal(first.directions, again.directions)
    assert first.scale == again.scale
    longer = embed(graph, method=method, rng=3, **(QUICK | {"epochs": 150}))
    before = tr.mean_average_precision(embed(graph, method=method, rng=3, **(QUICK | {"epochs": 1})), graph)
    assert tr.mean_average_precision(longer, graph) > max(0.9, before)
    assert not np.array_equal(first.radii, embed(graph, method=method, rng=4, **QUICK).radii)


@METHODS
def test_an_embedding_of_fewer_dimensions_is_a_start(method):
    graph = binary_tree()
    start = embed(graph, method=method, rng=0, **(QUICK | {"epochs": 150}))
    warm = embed(graph, method=method, init=start, rng=1, dim=3, epochs=1, rate=1e-6, device="cpu")
    assert tr.average_distortion(warm, start, scale="optimal") < 0.01
    assert warm.dim == 3


def test_a_tree_is_a_start():
    pytest.importorskip("treerep.embedding.sarkar.construction")
    graph = binary_tree()
    tree = tr.fit(graph, method="bfs")  # the graph itself
    warm = embed(graph, method="lorentz", init=tree, dim=2, epochs=1, rate=1e-6, device="cpu")
    assert 11 < warm.radii.max() < 12  # the diameter of a tree becomes 24, and paths that bend are shorter
    assert tr.average_distortion(warm, graph, scale="optimal") < 0.2


@METHODS
def test_a_tree_without_length_is_a_start(method):
    for tree in (
        tr.Tree(1, np.empty((0, 2), int), []),
        tr.Tree(3, [[0, 1], [1, 2]], [0.0, 0.0]),
    ):
        embedding = embed(tree, method=method, init=tree, **QUICK)
        assert len(embedding) == len(tree) and np.isfinite(embedding.radii).all()


@METHODS
def test_a_trees_own_edges_place_its_steiner_nodes(method):
    tree = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [2, 5], [3, 5]], [1.0, 1.0, 1.0, 1.0, 1.0], labels="abcd")
    embedding = embed(tree, method=method, **QUICK)
    assert len(embedding) == 4 and embedding.n_nodes == 6 and embedding.labels == tuple("abcd")


@METHODS
@pytest.mark.parametrize("n", [2, 3, 4])
def test_small_and_complete_graphs(method, n):
    complete = tr.GraphMetric(np.array([(i, j) for i in range(n) for j in range(i)]))  # without any negative
    embedding = embed(complete, method=method, **QUICK)
    assert len(embedding) == n and np.isfinite(embedding.radii).all()


def test_bad_options_are_one_line_each():
    graph = binary_tree(2)
    for options, text in [
        ({"negatives": 0}, "negatives must be a positive whole number"),
        ({"epochs": 0}, "epochs must be"),
        ({"rate": -1.0}, "rate must be a positive number"),
        ({"rate": "fast"}, "rate must be a positive number"),
        ({"batch": 1.5}, "batch must be"),
        ({"device": "meta"}, "torch cannot find device 'meta'"),
        ({"device": "abacus"}, "torch cannot find device 'abacus'"),
        ({"subsample": 4}, "poincare does not accept subsample"),
    ]:
        with pytest.raises(ValueError, match=text) as error:
            embed(graph, method="poincare", **options)
        assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match=r"MatrixMetric has none: use a graph, or method='pt'"):
        embed(np.array([[0, 1], [1, 0]]), method="lorentz")
    with pytest.raises(TypeError, match="init must be a tree or an embedding"):
        embed(graph, method="poincare", init=graph)
    own = embed(graph, method="poincare", **(QUICK | {"dim": 3}))
    for init, text in [
        (
            embed(binary_tree(1), method="poincare", **QUICK),
            "7 points: init must have the same points",
        ),
        (own, "init has 3 dimensions, more than dim=2: set dim to at least 3"),
    ]:
        with pytest.raises(ValueError, match=text):
            embed(graph, method="poincare", init=init)
    named = tr.GraphMetric(graph.adjacency, labels="abcdefg")
    other = type(own)(own.directions, own.radii, labels="gfedcbx")
    with pytest.raises(ValueError, match="init has no point 'a', which is in data"):
        embed(named, method="poincare", dim=3, init=other)
