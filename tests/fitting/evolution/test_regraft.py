"""Subtree pruning and regrafting: by hand, against all neighbors of small trees, and invariants."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from tests.fitting.evolution.test_minimum_evolution import (
    Edges,
    as_edges,
    balanced_lengths,
    comb,
    length,
    random_matrix,
    splits,
)
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep._core.parallel import Workers
from treerep.fitting.evolution import _regraft
from treerep.fitting.evolution._regraft import Regrafting, regraft
from treerep.fitting.joining._clusters import join_matrix
from treerep.fitting.joining._joining_kernels import join_closest


def regrafting(d: np.ndarray) -> Regrafting:
    """A search that starts at a comb."""
    with Workers(1) as workers:
        return Regrafting(np.array(comb(len(d))), d, workers)


def tree_edges(search: Regrafting) -> Edges:
    return as_edges(search.edges())


# A reference implementation: trees are lists of edges, and every length is computed from scratch.


def side_of(edges: Edges, start: int, without: int) -> set[int]:
    """Nodes on the side of `start` of the edge to `without`."""
    side, todo = {start}, [start]
    while todo:
        node = todo.pop()
        for edge in edges:
            if node in edge and {*edge} != {start, without}:
                other = sum(edge) - node
                if other not in side:
                    side.add(other)
                    todo.append(other)
    return side


def regrafts(n: int, edges: Edges) -> Iterator[tuple[frozenset[int], Edges]]:
    """Every tree that is one move away, with the points of the moved subtree."""
    for edge in edges:
        for node, top in (edge, edge[::-1]):
            if node < n:
                continue
            moved = side_of(edges, top, node)
            ends = [sum(e) - node for e in edges if node in e and top not in e]
            rest = [e for e in edges if node not in e and not moved.issuperset(e)]
            kept = [e for e in edges if moved.issuperset(e)]
            for k, (a, b) in enumerate(rest):
                others = [*rest[:k], *rest[k + 1 :], (ends[0], ends[1])]
                new = [(a, node), (node, b), (node, top)]
                yield frozenset(p for p in moved if p < n), [*kept, *others, *new]


def points_of(search: Regrafting, side: int) -> frozenset[int]:
    if search.sides.point[side] >= 0:
        return frozenset([int(search.sides.point[side])])
    return frozenset().union(*(points_of(search, c) for c in search.sides.child[side]))


# By hand


def test_a_move_where_no_exchange_helps() -> None:
    d = np.array(
        [[0, 3, 3, 2, 2], [3, 0, 2, 4, 2], [3, 2, 0, 2, 4], [2, 4, 2, 0, 3], [2, 2, 4, 3, 0]],
        float,
    )
    # A tree of five points is two pairs and a point between them. Its length is half of the
    # distances within the pairs, a quarter of those to the middle, an eighth of those across.
    # 12|3|04: (2 + 2)/2 + (4 + 2 + 2 + 3)/4 + (3 + 2 + 3 + 4)/8 = 6.25
    # 23|1|04 6.25, 13|2|04 7, 12|0|34 6.25, 12|4|03 6.5: no exchange makes it shorter.
    # 14|0|23: (2 + 2)/2 + (3 + 2 + 3 + 2)/4 + (2 + 4 + 4 + 3)/8 = 6.125: point 1 moves to 4.
    start: Edges = [(1, 5), (2, 5), (5, 6), (3, 6), (6, 7), (0, 7), (4, 7)]
    assert length(d, start) == 6.25
    with Workers(1) as workers:
        edges, lengths = regraft(np.array(start), d, workers)
    assert splits(5, as_edges(edges)) >= {frozenset({1, 4}), frozenset({2, 3})}
    assert lengths.sum() == 6.125
    assert tr.fit(d, method="minimum_evolution").total_length == 6.125


# Against the reference implementation


@pytest.mark.parametrize("seed", range(4))
def test_gains_are_those_of_all_neighbors(seed: int) -> None:
    n = 5 + seed
    d = random_matrix(n, 20 + seed)
    tried = regrafting(d)
    edges = tree_edges(tried)
    own = length(d, edges)
    gains: dict[frozenset[int], list[float]] = {}
    for moved, other in regrafts(n, edges):
        gains.setdefault(moved, []).append(own - length(d, other))
    assert_allclose(tried.length(), own)
    assert tried.evaluate(-np.inf)
    moved_by_side = [points_of(tried, side) for side in range(len(tried.sides.point))]
    # At least two edges must be left for a move.
    assert {*gains} == {points for points in moved_by_side if len(points) <= n - 3}
    for side, points in enumerate(moved_by_side):
        assert (tried.averages.place[side] >= 0) == (points in gains)
        if points in gains:
            assert_allclose(tried.averages.gain[side], max(gains[points]), atol=1e-12)


@pytest.mark.parametrize("n", [4, 6, 9, 30])
def test_each_move_saves_its_gain_and_leaves_right_averages(n: int) -> None:
    d = random_matrix(n, n)
    tried = regrafting(d)
    sides, moves = tried.sides, 0
    while tried.evaluate(1e-12):
        before, gain = tried.length(), tried.averages.gain[tried.averages.place >= 0].max()
        assert tried._move(1) == (1, gain)
        tried.update()
        moves += 1
        assert_allclose(before - tried.length(), gain, atol=1e-12)
        assert_allclose(tried.length(), length(d, tree_edges(tried)))
        assert_allclose(tried.lengths(), balanced_lengths(d, tree_edges(tried)), atol=1e-12)
        assert_array_equal(sides.size, [len(points_of(tried, s)) for s in range(len(sides.size))])
        assert (points_of(tried, 1), sides.point[1]) == (frozenset([0]), 0)
    assert moves >= (n > 5)


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_of_moves_shortens_the_tree(seed: int) -> None:
    d = random_matrix(80, seed)
    tried = regrafting(d)
    before, made = tried.length(), []
    while tried.evaluate(1e-12, everywhere=not made):
        made.append(tried.improve())
        assert tried.length() < before
        before = tried.length()
    assert max(made) > 1
    assert_allclose(before, length(d, tree_edges(tried)))


def test_moves_that_interfere_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    free, tried = (regrafting(random_matrix(60, 0)) for _ in range(2))
    free.evaluate(1e-12)
    tried.evaluate(1e-12)
    before, best = tried.length(), tried.averages.gain[tried.averages.place >= 0].max()
    monkeypatch.setattr(_regraft, "_LEAST_SHARE", -np.inf)
    most = free.improve()
    monkeypatch.setattr(_regraft, "_LEAST_SHARE", 1 - 1e-9)  # moves must not interfere at all
    assert 1 <= tried.improve() < most
    assert before - tried.length() >= (1 - 1e-6) * best
    monkeypatch.setattr(_regraft, "_LEAST_SHARE", 2.0)  # as if all gains were rounding errors
    tried.evaluate(1e-12)
    before = tried.length()
    assert tried.improve() == 0
    assert_allclose(tried.length(), before, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_paths_of_moves_may_cross(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of moves at once leaves a tree of all points, with point 0 at the top."""
    monkeypatch.setattr(_regraft, "_LEAST_APART", 0)
    n = 40
    d = random_matrix(n, seed)
    tried = regrafting(d)
    sides = tried.sides
    for _ in range(4):
        tried.evaluate(-np.inf)  # moves that make the tree longer, and across half of the tree
        made, _ = tried._move(len(sides.point))
        assert made > 3
        tried.update()
        assert points_of(tried, 0) == frozenset(range(1, n))
        assert points_of(tried, 1) == frozenset([0])
        assert_array_equal(sides.size, [len(points_of(tried, s)) for s in range(len(sides.size))])
        assert_allclose(tried.length(), length(d, tree_edges(tried)))


@pytest.mark.parametrize("n", [20, 600])
def test_moves_found_from_kept_rows_are_those_of_a_full_search(n: int) -> None:
    tried = regrafting(random_matrix(n, 3))
    tried.evaluate(1e-12)
    averages = tried.averages
    best = np.argmax(np.where(averages.place >= 0, averages.gain, -1))
    averages.wanted[:] = False
    averages.wanted[[1, best]] = True
    tried.update()
    assert 0 < len(tried.averages.kept) <= 2
    wanted = tried.averages.wanted.copy()
    tried.evaluate(1e-12, everywhere=False)
    place, gain = tried.averages.place.copy(), tried.averages.gain.copy()
    tried.averages.wanted[:] = wanted
    tried.averages.place[:] = -1
    tried._visit(1e-12, seek=True)
    assert_array_equal(place, tried.averages.place)
    assert_array_equal(gain[place >= 0], tried.averages.gain[place >= 0])
    assert 1 <= (place >= 0).sum() <= 6


def test_graphs_with_hubs_need_few_batches() -> None:
    """Most paths pass a few hubs. Each batch takes n^2 time."""
    generator = np.random.default_rng(1)
    ends = [0]
    edges = []
    for v in range(1, 600):  # preferential attachment: a tree, and some edges that close cycles
        for _ in range(1 + (v % 4 == 0)):
            u = ends[generator.integers(len(ends))]
            edges.append((u, v))
            ends += [u, v]
    d = tr.GraphMetric(np.array([e for e in edges if e[0] != e[1]])).block(range(600), range(600))
    with Workers(1) as workers:
        tried = Regrafting(joined(d), d, workers)
    batches = 0
    while tried.evaluate(1e-12, everywhere=batches == 0):
        tried.improve()
        batches += 1
    assert batches <= 14


def joined(d: np.ndarray) -> np.ndarray:
    """The binary tree of BIONJ."""
    edges, _ = join_matrix(d.copy(), "", join_closest, variances=True)
    return edges.astype(np.int64)


@pytest.mark.parametrize("n", [3, 4, 5, 40])
def test_the_first_tree_is_read_and_written(n: int) -> None:
    d = random_matrix(n, n)
    start = joined(d)
    with Workers(1) as workers:
        search = Regrafting(start, d, workers)
    assert splits(n, tree_edges(search)) == splits(n, as_edges(start))
    sides = search.sides
    assert_array_equal(sides.size, [len(points_of(search, side)) for side in range(len(sides.size))])


@pytest.mark.parametrize("seed", range(3))
def test_no_move_makes_the_result_shorter(seed: int) -> None:
    n = 8
    d = random_matrix(n, 50 + seed)
    with Workers(1) as workers:
        array, lengths = regraft(np.array(comb(n)), d, workers)
    edges = as_edges(array)
    own = length(d, edges)
    assert_allclose(lengths.sum(), own)
    others = [length(d, other) for _, other in regrafts(n, edges)]
    assert min(others) >= own - 1e-9


# Invariants


@settings(max_examples=60)
@given(st.one_of(any_symmetric(), integer_metrics()))
def test_moves_only_shorten_the_tree(d: np.ndarray) -> None:
    if len(d) < 3:
        return
    tried = regrafting(d)
    start = tried.length()
    with Workers(1) as workers:
        edges, lengths = regraft(np.array(comb(len(d))), d, workers)
    assert lengths.sum() <= start + 1e-9 * d.max()
    assert_array_equal(np.bincount(edges.ravel()), [1] * len(d) + [3] * (len(d) - 2))


@settings(max_examples=60)
@given(tree_metrics(30))
def test_tree_metrics_are_recovered_from_any_start(d: np.ndarray) -> None:
    if len(d) < 3:
        return
    n = len(d)
    with Workers(1) as workers:
        edges, lengths = regraft(np.array(comb(n)), d, workers)
    tree = tr.Tree(n, edges, np.maximum(lengths, 0))
    assert_allclose(tree.distances(), d, atol=1e-11 * d.max(initial=0.0))


@pytest.mark.parametrize("n", [3, 60])
def test_any_number_of_threads_and_any_budget_give_the_same_tree(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    d = random_matrix(n, 5)
    tree = tr.fit(d, method="minimum_evolution", n_jobs=1)
    assert tr.fit(d, method="minimum_evolution", n_jobs=2) == tree
    monkeypatch.setattr(_regraft, "_BUDGET", 1)
    assert tr.fit(d, method="minimum_evolution") == tree
    monkeypatch.setattr(_regraft, "_POINTS_OF_THREADS", 0)
    for jobs in (1, 3):
        assert tr.fit(d, method="minimum_evolution", n_jobs=jobs) == tree


# Errors


def test_an_interrupt_is_noticed() -> None:
    d = random_matrix(10, 0)
    with Workers(1) as workers:
        workers.stopped.set()
        with pytest.raises(KeyboardInterrupt):
            regraft(np.array(comb(10)), d, workers)


def test_too_little_memory_is_an_error_that_names_other_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 100_000)
    d = random_matrix(70, 0)
    with pytest.raises(MemoryError, match="minimum_evolution on 70 points .* or method='neighbor_joining'"):
        tr.fit(d, method="minimum_evolution")
    assert len(tr.fit(d, method="neighbor_joining")) == 70
