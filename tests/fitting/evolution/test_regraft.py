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
    length,
    random_matrix,
    splits,
)
from tests.strategies import any_symmetric, integer_metrics, tree_metrics
from treerep._core.parallel import Workers
from treerep.fitting.evolution import _regraft
from treerep.fitting.evolution import minimum_evolution as module
from treerep.fitting.evolution._regraft import Regrafting
from treerep.fitting.evolution.minimum_evolution import Search

BUDGET = 10**9


def searched(d: np.ndarray, *steps: str) -> Search:
    """Insert all points and carry out the steps."""
    with Workers(1) as workers:
        search = Search(d, True, workers)
        search.insert()
        search.average()
        for step in steps:
            getattr(search, step)()
    return search


def regrafting(search: Search) -> Regrafting:
    return Regrafting(search.sides, search.matrix, search.workers, BUDGET)


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


def points_of(search: Search, side: int) -> frozenset[int]:
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
    search = searched(d, "exchange")
    assert splits(5, as_edges(search.tree()[0])) >= {frozenset({1, 2}), frozenset({1, 2, 3})}
    assert search.length() == 6.25
    search.regraft()
    assert splits(5, as_edges(search.tree()[0])) >= {frozenset({1, 4}), frozenset({2, 3})}
    assert search.length() == 6.125
    tree = tr.fit(d, method="minimum_evolution")
    assert tree.total_length == 6.125
    assert tree == tr.fit(d, method="minimum_evolution", spr=True)
    assert tr.fit(d, method="minimum_evolution", spr=False).total_length == 6.25


# Against the reference implementation


@pytest.mark.parametrize("seed", range(4))
def test_gains_are_those_of_all_neighbors(seed: int) -> None:
    n = 5 + seed
    d = random_matrix(n, 20 + seed)
    search = searched(d)
    edges = as_edges(search.tree()[0])
    own = length(d, edges, "balanced")
    gains: dict[frozenset[int], list[float]] = {}
    for moved, other in regrafts(n, edges):
        gains.setdefault(moved, []).append(own - length(d, other, "balanced"))
    tried = regrafting(search)
    assert_allclose(tried.length(), own)
    assert tried.evaluate(-np.inf)
    moved_by_side = [points_of(search, side) for side in range(len(search.sides.point))]
    # At least two edges must be left for a move.
    assert {*gains} == {points for points in moved_by_side if len(points) <= n - 3}
    for side, points in enumerate(moved_by_side):
        assert (tried.averages.place[side] >= 0) == (points in gains)
        if points in gains:
            assert_allclose(tried.averages.gain[side], max(gains[points]), atol=1e-12)


@pytest.mark.parametrize("n", [4, 6, 9, 30])
def test_each_move_saves_its_gain_and_leaves_right_averages(n: int) -> None:
    search = searched(random_matrix(n, n))
    tried = regrafting(search)
    sides, moves = search.sides, 0
    while tried.evaluate(1e-12):
        before, gain = tried.length(), tried.averages.gain[tried.averages.place >= 0].max()
        assert tried._move(1) == (1, gain)
        tried.update()
        moves += 1
        assert_allclose(before - tried.length(), gain, atol=1e-12)
        assert_allclose(tried.length(), length(search.matrix, tree_edges(search), "balanced"))
        pair = sides.pair.copy()
        search.average()  # an older algorithm
        inner = sides.point < 0
        assert_allclose(pair[inner], sides.pair[inner], rtol=1e-12)
        assert_allclose(tried.lengths(), search.tree()[1], atol=1e-12)
        assert_array_equal(sides.size, [len(points_of(search, s)) for s in range(len(inner))])
        assert (points_of(search, 1), sides.point[1]) == (frozenset([0]), 0)
    assert moves >= (n > 5)


def tree_edges(search: Search) -> Edges:
    return as_edges(search.tree()[0])


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_of_moves_shortens_the_tree(seed: int) -> None:
    d = random_matrix(80, seed)
    search = searched(d)
    tried = regrafting(search)
    before, made = tried.length(), []
    while tried.evaluate(1e-12, everywhere=not made):
        made.append(tried.improve())
        assert tried.length() < before
        before = tried.length()
    assert max(made) > 1
    assert_allclose(before, length(d, tree_edges(search), "balanced"))


def test_moves_that_interfere_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    free, tried = (regrafting(searched(random_matrix(60, 0))) for _ in range(2))
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
    search = searched(d)
    sides, tried = search.sides, regrafting(search)
    for _ in range(4):
        tried.evaluate(-np.inf)  # moves that make the tree longer, and across half of the tree
        made, _ = tried._move(len(sides.point))
        assert made > 3
        tried.update()
        assert points_of(search, 0) == frozenset(range(1, n))
        assert points_of(search, 1) == frozenset([0])
        assert_array_equal(sides.size, [len(points_of(search, s)) for s in range(len(sides.size))])
        assert_allclose(tried.length(), length(d, tree_edges(search), "balanced"))


@pytest.mark.parametrize("n", [20, 600])
def test_moves_found_from_kept_rows_are_those_of_a_full_search(n: int) -> None:
    tried = regrafting(searched(random_matrix(n, 3)))
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
        search = Search(d, True, workers)
        search.join()
        tried = regrafting(search)
    batches = 0
    while tried.evaluate(1e-12, everywhere=batches == 0):
        tried.improve()
        batches += 1
    assert batches <= 14


def test_the_averages_after_moves_are_those_from_scratch() -> None:
    search = searched(random_matrix(30, 4), "regraft")
    pair, lengths = search.sides.pair.copy(), search.tree()[1]
    search.average()
    inner = search.sides.point < 0
    assert_allclose(pair[inner], search.sides.pair[inner], rtol=1e-12)
    search._lengths = None
    assert_allclose(lengths, search.tree()[1], atol=1e-12)


@pytest.mark.parametrize("n", [3, 4, 5, 40])
def test_the_first_tree_is_that_of_bionj(n: int) -> None:
    d = random_matrix(n, n)
    with Workers(1) as workers:
        search = Search(d, True, workers)
        search.join()
    tree = tr.fit(d, method="bionj")
    assert splits(n, tree_edges(search)) == splits(n, as_edges(tree.edges))
    sides = search.sides
    assert_array_equal(sides.size, [len(points_of(search, side)) for side in range(len(sides.size))])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("steps", [("regraft",), ("exchange", "regraft")])
def test_no_move_makes_the_result_shorter(seed: int, steps: tuple[str, ...]) -> None:
    n = 8
    d = random_matrix(n, 50 + seed)
    search = searched(d, *steps)
    edges = as_edges(search.tree()[0])
    own = length(d, edges, "balanced")
    assert_allclose(search.length(), own)
    others = [length(d, other, "balanced") for _, other in regrafts(n, edges)]
    assert min(others) >= own - 1e-9


# Invariants


@settings(max_examples=60)
@given(st.one_of(any_symmetric(), integer_metrics()))
def test_moves_only_shorten_the_tree(d: np.ndarray) -> None:
    if len(d) < 3:
        return
    slack = 1e-9 * d.max()
    inserted, exchanged, regrafted = (
        searched(d, *steps).length() for steps in ((), ("exchange",), ("exchange", "regraft"))
    )
    assert regrafted <= exchanged + slack
    assert exchanged <= inserted + slack
    edges, _ = searched(d, "regraft").tree()
    assert_array_equal(np.bincount(edges.ravel()), [1] * len(d) + [3] * (len(d) - 2))


@settings(max_examples=60)
@given(tree_metrics(30), st.booleans())
def test_tree_metrics_are_recovered(d: np.ndarray, nni: bool) -> None:
    tree = tr.fit(d, method="minimum_evolution", nni=nni, spr=True)
    assert_allclose(tree.distances(), d, atol=1e-11 * d.max(initial=0.0))


@pytest.mark.parametrize("n", [3, 60])
def test_any_number_of_threads_and_any_budget_give_the_same_tree(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    d = random_matrix(n, 5)
    tree = tr.fit(d, method="minimum_evolution", n_jobs=1)
    assert tr.fit(d, method="minimum_evolution", n_jobs=2) == tree
    monkeypatch.setattr(module, "_BUDGET", 1)
    assert tr.fit(d, method="minimum_evolution") == tree
    monkeypatch.setattr(_regraft, "_POINTS_OF_THREADS", 0)
    for jobs in (1, 3):
        assert tr.fit(d, method="minimum_evolution", n_jobs=jobs) == tree


# Options and errors


def test_spr_is_on_for_balanced_trees_with_exchanges() -> None:
    d = random_matrix(40, 1)
    with_spr = searched(d, "exchange", "regraft").length()
    assert with_spr < searched(d, "exchange").length()

    def total(**options: object) -> float:
        return tr.fit(d, method="minimum_evolution", **options).total_length  # type: ignore[arg-type]

    assert total() == total(spr=True) < total(spr=False)
    assert total(nni=False) == total(nni=False, spr=False) > total(nni=False, spr=True)
    assert total(criterion="ols") == total(criterion="ols", spr=False)


def test_ols_trees_have_no_spr() -> None:
    with pytest.raises(ValueError, match="spr needs criterion='balanced', not 'ols'"):
        tr.fit(random_matrix(5, 0), method="minimum_evolution", criterion="ols", spr=True)


def test_an_interrupt_is_noticed() -> None:
    with Workers(1) as workers:
        search = Search(random_matrix(10, 0), True, workers)
        search.insert()
        search.average()
        workers.stopped.set()
        with pytest.raises(KeyboardInterrupt):
            search.regraft()


def test_too_little_memory_is_an_error_that_names_the_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("treerep._core.memory.available_memory", lambda: 100_000)
    d = random_matrix(70, 0)
    with pytest.raises(MemoryError, match="minimum_evolution on 70 points .* spr=False"):
        tr.fit(d, method="minimum_evolution")
    assert len(tr.fit(d, method="minimum_evolution", spr=False)) == 70


def test_spr_is_off_by_default_for_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    d = random_matrix(40, 3)
    off = tr.fit(d, method="minimum_evolution", spr=False)
    assert tr.fit(d, method="minimum_evolution") != off
    monkeypatch.setattr("treerep.fitting.evolution.minimum_evolution._MOST_POINTS_OF_SPR", 39)
    assert tr.fit(d, method="minimum_evolution") == off
    assert tr.fit(d, method="minimum_evolution", spr=True) != off
