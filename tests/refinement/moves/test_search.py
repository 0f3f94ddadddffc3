"""Moves: against a plain twin that tries every edge with scipy, on trees that are known, and on hostile input."""

import time
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics
from tests.tree.strategies import trees
from treerep._core.parallel import Workers
from treerep.metric.base import read_only
from treerep.refinement.moves import search as module
from treerep.refinement.moves._move_kernels import BinaryPreorder, Task, Workspace, improve
from treerep.refinement.moves.search import binary_edges, binary_preorder, rearrange
from treerep.refinement.sums.search import Remainder
from treerep.tree.structure.rooted import edges_of

POWERS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 4.0])


def weights_of(d: np.ndarray, power: float) -> np.ndarray:
    smallest = d[d > 0].min() if (d > 0).any() else 1.0
    if power > 2:
        smallest = max(smallest, 1e-3 * d.max())
    return np.maximum(d, smallest) ** -power


def objective(tree: tr.Tree, d: np.ndarray, power: float) -> float:
    upper = np.triu_indices(len(d), 1)
    return float((weights_of(d, power) * (tree.distances() - d) ** 2)[upper].sum())


def random_tree(n: int, seed: int) -> tr.Tree:
    """Points as leaves of a random binary tree with lengths of any size."""
    rng = np.random.default_rng(seed)
    return tr.fit(random_matrix(n, seed), method="neighbor_joining").with_weights(
        rng.exponential(size=2 * n - 3)
    )


def random_matrix(n: int, seed: int) -> np.ndarray:
    d = np.triu(np.random.default_rng(seed).uniform(1.0, 2.0, (n, n)), 1)
    return d + d.T


class Steps:
    """One move at a time."""

    def __init__(self, tree: tr.Tree, d: np.ndarray, power: float, root: int = 0) -> None:
        self.n = n = len(d)
        self.rooted = binary_preorder(*binary_edges(tree.contracted()), root)
        smallest = d[d > 0].min() if (d > 0).any() else 1.0
        self.task = Task(read_only(d), read_only(d), power, smallest)
        nodes = 2 * n - 2
        self.workspace = Workspace(
            np.empty(n),
            np.empty((3, n)),
            np.empty((nodes, 3)),
            np.empty((nodes, 2)),
            np.empty(nodes),
            np.empty((4, nodes), np.int32),
            np.empty(nodes),
        )

    def move(self, name: int) -> tuple[int, float]:
        done, moves, gain = improve(self.rooted, self.task, self.workspace, np.array([name]), 0, self.n, 1)
        assert done == 1
        return moves, gain

    def tree(self) -> tr.Tree:
        return tr.Tree(self.n, *edges_of(self.rooted))


def check_preorder(rooted: BinaryPreorder) -> None:
    """The numbers are those of a preorder, and size and place belong to them."""
    assert rooted.up[0] == -1
    assert_array_equal(rooted.position[rooted.order], np.arange(len(rooted.up)))
    children: dict[int, list[int]] = {}
    for k in range(1, len(rooted.up)):
        children.setdefault(int(rooted.up[k]), []).append(k)
    for k, size in enumerate(rooted.size):
        own = children.get(k, [])
        assert size == 1 + sum(rooted.size[c] for c in own)
        assert len(own) == (1 if k == 0 else 2 if size > 1 else 0)
        assert own[:1] == [k + 1][: len(own)]
        assert own[1:] == [c + rooted.size[c] for c in own[:-1]]


# The twin: cut the subtree off, and solve a small bounded least-squares problem on every edge of the rest.


def best_by_scipy(rooted: BinaryPreorder, d: np.ndarray, power: float, name: int) -> float:
    """Least objective of all trees with the subtree below `name` hung off somewhere else, lengths within it kept."""
    n, w = len(d), weights_of(d, power)
    graph = nx.Graph()
    for (u, v), length in zip(*edges_of(rooted), strict=True):
        graph.add_edge(int(u), int(v), weight=length)
    parent = int(rooted.order[rooted.up[rooted.position[name]]])
    graph.remove_edge(name, parent)
    inside = nx.node_connected_component(graph, name)
    ends = list(graph.neighbors(parent))
    graph.add_edge(*ends, weight=sum(graph[parent][v]["weight"] for v in ends))
    graph.remove_node(parent)
    far = dict(nx.all_pairs_dijkstra_path_length(graph))
    xs, ys = ([i for i in range(n) if (i in inside) == side] for side in (True, False))
    fixed = sum(
        w[i, j] * (far[i][j] - d[i, j]) ** 2 for part in (xs, ys) for i in part for j in part if i < j
    )
    best = np.inf
    for a, b, length in [edge for edge in graph.edges.data("weight") if edge[0] not in inside]:
        rows, sides = [], []
        graph.remove_edge(a, b)
        near = nx.node_connected_component(graph, a)
        graph.add_edge(a, b, weight=length)
        for x in xs:
            for y in ys:
                # d_T(x, y) = h_x + pendant + distance from the place, `along` from a, to y
                known = far[name][x] + (far[a][y] if y in near else far[b][y] + length)
                rows.append(np.sqrt(w[x, y]) * np.array([1.0, 1.0 if y in near else -1.0]))
                sides.append(np.sqrt(w[x, y]) * (d[x, y] - known))
        if length == 0:
            rows, upper = [row * [1, 0] for row in rows], [np.inf, 1.0]
        else:
            upper = [np.inf, length]
        found = lsq_linear(np.array(rows), np.array(sides), ([0, 0], upper), method="bvls")
        best = min(best, 2 * found.cost)
    return fixed + best


@settings(max_examples=30)
@given(st.integers(3, 9), st.integers(0, 10**6), POWERS, st.data())
def test_a_move_finds_what_scipy_finds_on_all_edges(n: int, seed: int, power: float, data: Any) -> None:
    d = random_matrix(n, seed) * np.random.default_rng(seed).choice([0.2, 1.0], (n, n))
    d = np.triu(d, 1) + np.triu(d, 1).T
    root = data.draw(st.integers(0, n - 1))
    steps = Steps(random_tree(n, seed + 1), d, power, root)
    names = [k for k in range(2 * n - 2) if steps.rooted.up[steps.rooted.position[k]] > 0]
    name = data.draw(st.sampled_from(names))
    best = best_by_scipy(steps.rooted, d, power, name)
    before = objective(steps.tree(), d, power)
    moves, gain = steps.move(name)
    after = objective(steps.tree(), d, power)
    check_preorder(steps.rooted)
    assert after <= best * (1 + 1e-6) + 1e-9
    assert after >= best - 1e-6 * (1 + best)  # nothing else was changed
    assert_allclose(before - after, gain, rtol=1e-9, atol=1e-9)
    assert moves == (gain > 0)


@given(trees(min_points=3), st.integers(0, 10**6), POWERS)
def test_every_move_lowers_the_objective(tree: tr.Tree, seed: int, power: float) -> None:
    """On any tree, with inner points, Steiner leaves and edges of length 0, and an unrelated metric."""
    n = len(tree)
    rng = np.random.default_rng(seed)
    d = random_matrix(n, seed)
    steps = Steps(tree, d, power, int(rng.integers(n)))
    now = objective(steps.tree(), d, power)
    assert_allclose(now, objective(tree, d, power), rtol=1e-9)
    for name in rng.permutation(2 * n - 2)[:15]:
        moves, gain = steps.move(int(name))
        new = objective(steps.tree(), d, power)
        assert new < now if moves else new == now
        assert_allclose(now - new, gain, rtol=1e-7, atol=1e-10 * now)
        now = new
        check_preorder(steps.rooted)


# Whole runs.


@settings(max_examples=60)
@given(trees(min_points=2), any_symmetric() | integer_metrics(), POWERS)
def test_what_is_reported_is_true(tree: tr.Tree, d: np.ndarray, power: float) -> None:
    """Duplicates, violated triangle inequalities, inner points: before and after are those of the trees."""
    n = min(len(tree), len(d))
    assume(n >= 2)
    tree, d = tree.restrict(range(n)), d[:n, :n]
    found = rearrange(tree, tr.MatrixMetric(d), power=power, sweeps=2)
    assert_allclose(found.before, objective(tree, d, power), rtol=1e-9, atol=1e-12)
    assert_allclose(found.after, objective(found.tree, d, power), rtol=1e-9, atol=1e-12)
    assert found.after < found.before if found.moves else found.tree is tree
    assert found.sweeps <= 2
    assert found.tree == found.tree.contracted() or not found.moves


@given(trees(min_points=1), POWERS)
def test_the_tree_of_a_tree_metric_stays_as_it_is(tree: tr.Tree, power: float) -> None:
    found = rearrange(tree, tree, power=power)
    assert found.moves == 0
    assert found.tree is tree
    assert found.before == found.after == 0.0


def hang_elsewhere(tree: tr.Tree, point: int, beside: int) -> tr.Tree:
    """The tree with one point taken out and hung off another one."""
    others = np.delete(np.arange(len(tree)), point)
    rest = tree.restrict(others)
    number = np.concatenate([others, len(tree) + np.arange(rest.n_nodes - len(others))])
    edges, weights = (
        np.concatenate([number[rest.edges], [[point, beside]]]),
        np.append(rest.weights, 1.0),
    )
    return tr.Tree(len(tree), edges, weights)


@pytest.mark.parametrize("power", [0.0, 1.5])
def test_a_misplaced_leaf_is_repaired(power: float) -> None:
    truth = random_tree(40, 3)
    d = truth.distances()
    for point in range(1, 40, 5):
        wrong = hang_elsewhere(truth, point, (point * 7 + 1) % 40)
        steps = Steps(wrong, d, power)
        assert steps.move(point)[0] == 1
        assert steps.tree().isclose(truth)
        # Where all points move in random order, others go astray first.
        assert rearrange(wrong, truth, power=power, sweeps=10, rng=point).after < 1e-3 * objective(
            wrong, d, power
        )


def cherries(swap: bool) -> tr.Tree:
    """A caterpillar of cherries; with swap one of them hangs at the wrong end."""
    edges, weights = [], []
    for k in range(6):
        hub, spine = 12 + k, 18 + k
        edges += [[2 * k, hub], [2 * k + 1, hub], [hub, 18 if swap and k == 4 else spine]]
        weights += [0.1, 0.2, 0.5]
        if k:
            edges.append([spine - 1, spine])
            weights.append(1.0)
    return tr.Tree(12, edges, weights)


def test_a_misplaced_subtree_is_repaired() -> None:
    truth, wrong = cherries(False), cherries(True)
    steps = Steps(wrong, truth.distances(), 0.0)
    # The node that joins the points 8 and 9 is the parent of both.
    name = steps.rooted.order[steps.rooted.up[steps.rooted.position[8]]]
    assert steps.move(int(name))[0] == 1
    assert steps.tree().isclose(truth)
    assert rearrange(wrong, truth, sweeps=20).after < 1e-9 * rearrange(wrong, truth).before


def test_by_hand() -> None:
    """Point 2 hangs off the middle of 0 - 1; d(0, 1) = 2, d(0, 2) = 3, d(1, 2) = 2: it goes to 1.5 from 0."""
    d = np.array([[0, 2, 3], [2, 0, 2], [3, 2, 0]])
    star = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0])
    found = rearrange(star, tr.MatrixMetric(d), sweeps=1)
    assert found.before == 1.0
    assert found.after < 1e-20
    assert_allclose(found.tree.distances(), d)
    assert_allclose(found.tree.weights, [1.5, 0.5, 1.5])


def test_two_points() -> None:
    found = rearrange(tr.Tree(2, [[0, 1]], [1.0]), tr.MatrixMetric([[0, 3], [3, 0]]))
    assert found == (found.tree, 4.0, 4.0, 0, 1)


@pytest.mark.parametrize("n", [2, 3, 4, 9])
@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_points_in_one_place(n: int, power: float) -> None:
    found = rearrange(
        random_tree(n, 1) if n > 2 else tr.Tree(2, [[0, 1]], [1.0]),
        tr.MatrixMetric(np.zeros((n, n))),
        power=power,
        sweeps=30,
    )
    assert n == 2 or found.after < 1e-6 * found.before


@pytest.mark.parametrize("scale", [2.0**-498, 2.0**498])
def test_any_unit_of_length(scale: float) -> None:
    d, tree = random_matrix(12, 0), random_tree(12, 1)
    one = rearrange(tree, tr.MatrixMetric(d), power=2.0)
    other = rearrange(tree.with_weights(tree.weights * scale), tr.MatrixMetric(d * scale), power=2.0)
    assert_array_equal(other.tree.weights, one.tree.weights * scale)
    assert other.after == one.after


def test_the_seed_decides() -> None:
    d, tree = random_matrix(60, 0), random_tree(60, 1)
    metric = tr.MatrixMetric(d)
    runs = [rearrange(tree, metric, rng=seed, sweeps=1) for seed in (1, 1, 2)]
    assert runs[0].tree == runs[1].tree
    assert runs[0].after == runs[1].after
    assert runs[0].tree != runs[2].tree


def test_time_limit_and_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    d, tree = random_matrix(60, 0), random_tree(60, 1)
    metric = tr.MatrixMetric(d)
    assert rearrange(tree, metric, time_limit=0).tree is tree
    whole = rearrange(tree, metric, sweeps=1)
    monkeypatch.setattr(module, "_BUDGET", 1)
    assert rearrange(tree, metric, sweeps=1).tree == whole.tree  # pieces do not matter
    clock = iter(range(10**6))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    short = rearrange(tree, metric, sweeps=100, time_limit=30)
    assert 0 < short.moves <= 30
    assert whole.after < short.after < short.before


def test_bad_arguments() -> None:
    tree = random_tree(5, 0)
    with pytest.raises(ValueError, match="power must be between 0 and 4, got 5"):
        rearrange(tree, tree, power=5)
    with pytest.raises(ValueError, match="sweeps must be a positive whole number, not 0"):
        rearrange(tree, tree, sweeps=0)
    with pytest.raises(ValueError, match="time_limit must be at least 0, got -1"):
        rearrange(tree, tree, time_limit=-1)
    with pytest.raises(ValueError, match="the tree has 5 points and the metric has 4"):
        rearrange(tree, tr.MatrixMetric(random_matrix(4, 0)))


def test_labels_are_kept() -> None:
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 1.0, 1.0], labels=["a", "b", "c"])
    assert rearrange(tree, tr.MatrixMetric(random_matrix(3, 0) * 5)).tree.labels == (
        "a",
        "b",
        "c",
    )


# The binary form.


@given(trees(min_points=2))
def test_the_binary_form_has_the_same_distances(tree: tr.Tree) -> None:
    n = len(tree)
    edges, lengths = binary_edges(tree.contracted())
    degrees = np.bincount(edges.ravel())
    assert_array_equal(degrees[:n], 1)
    assert_array_equal(degrees[n:], 3)
    assert_allclose(tr.Tree(n, edges, lengths).distances(), tree.distances(), rtol=1e-12, atol=1e-12)
    rooted = binary_preorder(edges, lengths, n - 1)
    check_preorder(rooted)


def test_weights_come_from_the_scale_and_not_from_the_distances() -> None:
    # What other trees leave may be negative, and is weighted by the data. With power 0 the scale does not matter.
    left = np.array([[0, -1, 2, 3], [-1, 0, 2, 3], [2, 2, 0, 1], [3, 3, 1, 0]], float)
    tree = tr.Tree(4, [[0, 4], [2, 4], [4, 5], [5, 1], [5, 3]], [1.0] * 5)

    def moved(power: float, scale: np.ndarray) -> np.ndarray:
        target = Remainder(left, scale, power, 0.5)
        with Workers(1) as workers:
            generator = np.random.default_rng(0)
            search = module.Search(tree, target, generator, workers, np.inf)
            search.sweep()
        return search.tree().distances()

    ones = np.ones((4, 4))
    uneven = ones + 9 * (np.add.outer(range(4), range(4)) == 3)
    assert_allclose(moved(0.0, ones), moved(0.0, uneven))
    assert_allclose(moved(2.0, ones), moved(0.0, ones), atol=1e-9)
    # Pairs (0, 3) and (1, 2) count a hundredth.
    assert np.abs(moved(2.0, uneven) - moved(2.0, ones)).max() > 0.01
