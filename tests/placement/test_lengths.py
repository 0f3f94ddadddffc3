"""Lengths of the tree in other units than the distances: refitted, scaled, or as given."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import treerep as tr
from benchmarks.biology.placement_lengths import Case, backbones, made_case, right_edges
from tests.strategies import tree_metrics
from tests.tree.strategies import trees

MISFIT = "the lengths of the tree do not fit the distances"


def exact_case(seed: int, n: int = 30, m: int = 5) -> tuple[tr.Tree, np.ndarray]:
    """A random tree of n + m points without short edges, and its distances."""
    tree = tr.datasets.random_tree(n + m, rng=seed)
    tree = tree.with_weights(tree.weights + 0.1)
    return tree, tree.distances()


def scaled(tree: tr.Tree, factor: float) -> tr.Tree:
    return tree.with_weights(tree.weights * factor)


@pytest.fixture(scope="module")
def simulated() -> list[Case]:
    return [made_case(seed, taxa=120, queries=30) for seed in range(3)]


def test_right_edges_in_any_unit(simulated: list[Case]) -> None:
    """Lengths in other units, or of a dated tree, cost few right edges, but many as they are."""
    share: dict[tuple[str, str], float] = {}
    for lengths in ("given", "scale", "refit"):
        for case in simulated:
            for name, backbone in backbones(case).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    right = right_edges(case, backbone, lengths)
                share[lengths, name] = share.get((lengths, name), 0) + right / len(simulated)
    true = share["given", "true"]
    for name in ("x 2", "x 0.1", "x 100", "dated"):
        assert share["given", name] < true - 0.1
        assert share["refit", name] > true - 0.05
    for name in ("true", "x 2", "x 0.1", "x 100"):
        assert share["scale", name] > true - 0.05
    assert share["refit", "true"] > true - 0.05


@pytest.mark.parametrize("factor", [2.0, 0.1, 100.0, 1e12, 1e-12])
@pytest.mark.parametrize("m", [1, 5])
def test_exact_distances_in_any_unit(factor: float, m: int) -> None:
    whole, d = exact_case(0, m=m)
    n = len(d) - m
    old = whole.restrict(range(n))
    other = scaled(old, factor)
    refitted = tr.place(other, d[n:, :n], data=d[:n, :n])
    assert_allclose(refitted.distances()[:, :n], d[:, :n], rtol=1e-6)
    with pytest.warns(UserWarning, match=f"{MISFIT}, so they were multiplied by"):
        placed = tr.place(other, d[n:, :n])
    assert_allclose(placed.distances()[:, :n], d[:, :n], rtol=1e-3)
    assert tr.place(other, d[n:, :n], lengths="scale") == placed  # and no warning
    # Without the factor, the old distances stay.
    with pytest.warns(UserWarning, match=f"{MISFIT}, which are about") as caught:
        kept = tr.place(other, d[n:, :n], lengths="given")
    assert_allclose(kept.distances()[:n, :n], other.distances(), rtol=1e-12)
    assert caught[0].filename == __file__
    assert "\n" not in str(caught[0].message)


@given(tree_metrics(), st.data())
@settings(max_examples=40)
def test_fitting_lengths_do_not_change(d: np.ndarray, data: st.DataObject) -> None:
    """Also with points inside the tree, points at distance 0, and edges of length 0."""
    if len(d) < 2:
        return
    n = data.draw(st.integers(1, len(d) - 1))
    old = tr.fit(d[:n, :n], method=data.draw(st.sampled_from(["treerep", "neighbor_joining"])))
    largest = float(d.max())
    for lengths in ("given", "scale"):
        placed = tr.place(old, d[n:, :n], lengths=lengths)
        check = placed.restrict(range(n)), old.restrict(range(n))
        assert check[0] == check[1]  # to the last bit
    metric = tr.MatrixMetric(d, labels=[f"p{k}" for k in range(len(d))])
    old = tr.Tree(n, old.edges, old.weights, labels=metric.labels[:n])
    for rows, known in ((d[n:, :n], d[:n, :n]), (metric.labels[n:], metric)):
        placed = tr.place(old, rows, data=known)
        assert_allclose(placed.distances()[:, :n], d[:, :n], atol=1e-9 * largest)


@given(trees(), st.data())
@settings(max_examples=40)
def test_any_tree_can_be_refitted(tree: tr.Tree, data: st.DataObject) -> None:
    """Distances have nothing to do with the tree, whose edges may all have length 0."""
    n = len(tree)
    points = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 4, (n + 2, 2))
    metric = tr.PointMetric(points.astype(float), "manhattan")
    d = metric.block(range(n + 2), range(n + 2))
    tree = data.draw(st.sampled_from([tree, scaled(tree, 0.0)]))
    for placed in (
        tr.place(tree, points[n:], data=points[:n].astype(float), metric="manhattan"),
        tr.place(tree, d[n:, :n], data=d[:n, :n]),
    ):
        assert len(placed) == n + 2
        assert np.isfinite(placed.weights).all()
        part = placed.restrict(range(n))
        assert part.difference(tree).robinson_foulds >= 0
    if n > 1 and d[:n, :n].any():  # no worse than the best multiple of the given lengths
        before = np.square(1 - tree.distances() / np.where(d[:n, :n] > 0, d[:n, :n], 1))
        after = np.square(1 - part.distances() / np.where(d[:n, :n] > 0, d[:n, :n], 1))
        if (d[:n, :n] + np.eye(n) > 0).all():
            assert after.sum() <= before.sum() * (1 + 1e-9) + 1e-9


def test_the_tree_of_the_places_has_the_lengths_used() -> None:
    whole, d = exact_case(1)
    names = [f"t{k}" for k in range(len(d))]
    metric = tr.MatrixMetric(d, labels=names)
    old = tr.Tree.from_newick(
        scaled(tr.Tree(len(d), whole.edges, whole.weights, labels=names), 7.0).restrict(names[:30]).newick()
    ).with_root("t3")
    found = tr.placements(old, names[30:], data=metric)
    assert found.tree.labels == old.labels
    assert found.tree.root == old.root
    assert_array_equal(found.tree.edges, old.edges)
    assert_allclose(found.tree.weights, old.weights / 7, rtol=1e-6, atol=1e-9)
    given_lengths = tr.placements(old, names[30:], data=scaled_metric(metric, 7), lengths="given")
    assert given_lengths.tree is old
    assert_array_equal(given_lengths.nodes[:, 0], found.nodes[:, 0])
    assert_allclose(given_lengths.pendant[:, 0], found.pendant[:, 0] * 7, atol=1e-6)
    assert found.attached() == tr.place(old, names[30:], data=metric)


def scaled_metric(metric: tr.MatrixMetric, factor: float) -> tr.MatrixMetric:
    return tr.MatrixMetric(metric.distances * factor, labels=metric.labels)


def test_distances_of_old_points_are_matched_by_label() -> None:
    whole, d = exact_case(2, n=8, m=2)
    names = list("abcdefghxy")
    table = pd.DataFrame(d, names, names)
    old = tr.Tree(10, whole.edges, whole.weights * 5, labels=names).restrict(names[:8])
    rows = table.loc[["x", "y"], list("hgfedcba")]
    placed = tr.place(old, rows, data=table.loc[list("cabdhgfe"), list("cabdhgfe")])
    assert_allclose(placed.restrict(names).distances()[:8], d[:8], rtol=1e-6)
    with pytest.raises(ValueError, match="data has no point 'h', which is in the tree"):
        tr.place(old, rows, data=table.loc[list("abcdefgx"), list("abcdefgx")])


def test_missing_distances_between_old_points() -> None:
    _, d = exact_case(3)
    tree = tr.fit(d[:30, :30], method="treerep")
    gaps = d[:30, :30].copy()
    gaps[3, 4] = gaps[4, 3] = np.nan
    metric = tr.MatrixMetric(gaps, missing=True)
    placed = tr.place(scaled(tree, 3), d[30:, :30], data=metric)
    assert_allclose(placed.distances()[:, :30], d[:, :30], rtol=1e-6)


@pytest.mark.parametrize("pendant", [0.01, 10.0, 1000.0])
def test_long_edges_of_new_points_are_no_reason_to_scale(pendant: float) -> None:
    whole, d = exact_case(4)
    far = d[30:, :30] + pendant
    for row in (far, far[:1], far * np.random.default_rng(0).uniform(0.99, 1.01, far.shape)):
        placed = tr.place(whole.restrict(range(30)), row)  # a warning would be an error
        assert_allclose(placed.distances()[:30, :30], d[:30, :30])
    star = tr.Tree(4, [[0, 4], [1, 4], [2, 4], [3, 4]], [1.0, 1.0, 1.0, 1.0])
    assert_allclose(tr.place(star, [[9.0, 9.0, 9.0, 9.0]]).block([4], range(4)), 9)


def test_many_points_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """With sampled rows, the lengths fit about as well as with all pairs."""
    cells = np.asarray(tr.datasets.branching_cells(700, dim=10).points)
    metric = tr.PointMetric(cells[:600])
    tree = scaled(tr.fit(metric, method="treerep"), 3)
    full = tr.placements(tree, cells[600:], data=metric).tree
    monkeypatch.setattr("treerep.placement._lengths._ALL_PAIRS", 100)
    monkeypatch.setattr("treerep.placement._lengths._ROWS", 64)
    few = tr.placements(tree, cells[600:], data=metric).tree
    assert few != full
    distortion = [tr.average_distortion(t, metric) for t in (full, few)]
    assert distortion[1] < 1.2 * distortion[0]
    monkeypatch.setattr("treerep.placement._lengths._SAMPLED_ROWS", 100)
    factor = tr.placements(tree, cells[600:], data=metric).tree.weights / tree.weights
    assert_allclose(factor, factor[0])
    assert 0.25 < factor[0] < 0.4


def test_errors() -> None:
    tree = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels="abc")
    rows = [[3.0, 4.0, 1.0]]
    with pytest.raises(ValueError, match="lengths='refit' needs the distances between the points"):
        tr.place(tree, rows, lengths="refit")
    with pytest.raises(ValueError, match="lengths must be"):
        tr.placements(tree, rows, lengths="fit")  # type: ignore[arg-type]
    sequences = tr.SequenceMetric(["ACGT"] * 2, labels=["x", "b"])
    with pytest.raises(
        ValueError, match="data has no points 'a', 'c': use data of the old and the new points"
    ):
        tr.place(tree, ["x"], data=sequences)
    five = tr.Tree(5, [[k, 5] for k in range(5)], [1.0] * 5, labels="abcde")
    with pytest.raises(ValueError, match="data has no points 'a', 'c', 'd' and 1 more: use"):
        tr.place(five, ["x"], data=sequences)
