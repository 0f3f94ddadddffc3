"""New points are matched to the tree by name: columns of distances, old points, and coordinates."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.strategies import tree_metrics
from treerep.placement.place import find_places

# (a: 1, b: 2, c: 4); new points x at distance 3 from the middle, and y at 1 from c on the way to it. By hand.
TREE = tr.Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 4.0], labels="abc")
ROWS = pd.DataFrame([[4.0, 5.0, 7.0], [4.0, 5.0, 1.0]], index=["x", "y"], columns=list("abc"))
TEXT = tr.Tree.from_newick("(c:4,a:1,b:2);")
LARGER = tr.Tree(5, [[0, 5], [1, 5], [4, 5], [4, 2], [5, 3]], [1.0, 2.0, 3.0, 1.0, 3.0], labels="abcxy")


@pytest.mark.parametrize("columns", ["abc", "cab", "bca"])
@pytest.mark.parametrize("tree", [TREE, TEXT, TREE.restrict("bca")])
def test_columns_are_found_by_name(tree, columns):
    placed = tr.place(tree, ROWS[list(columns)])
    assert placed.labels == (*tree.labels, "x", "y")
    assert placed.difference(LARGER).path == pytest.approx(0, abs=1e-12)
    assert placed.order_known == tree.order_known
    places = find_places(tree, ROWS[list(columns)])
    np.testing.assert_allclose(places.height, [3, 0])


def test_columns_of_new_points_have_the_names_of_the_rows():
    mutual = ROWS.assign(y=[6.0, 0.0], x=[0.0, 6.0])[["y", "c", "x", "b", "a"]]
    placed = tr.place(TEXT, mutual)
    assert placed.difference(LARGER).path == pytest.approx(0, abs=1e-12)
    plain = mutual[["c", "a", "b", "x", "y"]].reset_index(
        drop=True
    )  # rows without names: the last columns are theirs
    placed = tr.place(TEXT, plain, labels=["x", "y"])
    assert placed.difference(LARGER).path == pytest.approx(0, abs=1e-12)


def test_labels_given_come_before_those_of_the_rows():
    assert tr.place(TREE, ROWS, labels=["u", "v"]).labels[3:] == ("u", "v")
    assert tr.place(TREE, ROWS.reset_index(drop=True)).labels[3:] == ("3", "4")


def test_a_tree_without_labels_takes_the_columns_as_they_come():
    plain = tr.Tree(3, TREE.edges, TREE.weights)
    for rows in (
        ROWS,
        ROWS.reset_index(drop=True),
        pd.DataFrame(ROWS.to_numpy()),
        ROWS.to_numpy(),
    ):
        placed = tr.place(plain, rows)
        np.testing.assert_allclose(placed.block([3, 4], range(3)), ROWS.to_numpy())
    assert tr.place(plain, pd.DataFrame(ROWS.to_numpy())).labels is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            ROWS.rename(columns={"b": "z"}),
            "rows has no point 'b', which is in the tree: give one column",
        ),
        (ROWS[["a", "b"]], "rows has 2 points and the tree has 3: give one column"),
        (ROWS.assign(z=1.0), "rows has 4 points and the tree has 3: give one column"),
        (ROWS.assign(x=[0.0, 6.0]), "rows has columns for 1 of 2 new points"),
        (ROWS.rename(index={"x": "a"})[["b", "c"]], "rows has 2 points and the tree has 3"),
        (pd.DataFrame(ROWS.to_numpy()), "rows has no point 'a'"),
        (
            ROWS.assign(x=[0.0, 6.0]).rename(index={"y": "x"}),
            "points 0 and 1 share the label 'x'",
        ),
    ],
)
def test_columns_that_do_not_match_are_refused(rows, message):
    with pytest.raises(ValueError, match=message) as caught:
        tr.place(TREE, rows)
    assert "\n" not in str(caught.value)


def test_an_array_is_not_matched_to_a_text():
    for put in (tr.place, find_places):
        with pytest.raises(
            ValueError,
            match=r"^the tree has labels in the order of a text file, and rows has no labels: .*\)$",
        ):
            put(TEXT, ROWS.to_numpy())
    np.testing.assert_allclose(
        tr.place(TEXT.restrict("abc"), ROWS.to_numpy()).block([3, 4], range(3)), ROWS.to_numpy()
    )
    numbers = tr.Tree.from_newick("(2:4,0:1,1:2);")  # which name the columns
    np.testing.assert_allclose(tr.place(numbers, ROWS.to_numpy()).block([3, 4], range(3)), ROWS.to_numpy())


POINTS = pd.DataFrame({"right": [0.0, 2.0, 9.0], "up": [0.0, 0.0, 1.0]}, index=list("abc"))
NEW = pd.DataFrame({"right": [1.0, 8.0], "up": [0.5, 1.0]}, index=["x", "y"])


def anndata_of(frame):
    anndata = pytest.importorskip("anndata")
    return anndata.AnnData(frame.to_numpy(), obs=pd.DataFrame(index=frame.index))


def points_of(frame):
    return tr.PointMetric(frame.to_numpy(), labels=frame.index)


def same(frame):
    return frame


KINDS = {
    "frames": (same, same),
    "columns in another order": (same, lambda frame: frame[["up", "right"]]),
    "metric and frame": (points_of, same),
    "metrics": (points_of, points_of),
    "anndata": (anndata_of, anndata_of),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("as_text", [False, True])
def test_old_points_are_found_by_name(kind, as_text):
    tree = tr.fit(POINTS, metric="euclidean", method="treerep")
    expected = tr.place(tree, NEW.to_numpy(), data=POINTS.to_numpy(), metric="euclidean", labels=["x", "y"])
    old, given = KINDS[kind][0](POINTS.loc[list("cab")]), KINDS[kind][1](NEW)
    measure = None if isinstance(old, tr.Metric) else "euclidean"
    placed = tr.place(
        tr.Tree.from_newick(tree.newick("c")) if as_text else tree,
        given,
        data=old,
        metric=measure,
    )
    assert placed.labels[3:] == ("x", "y")
    assert placed.difference(expected).path == pytest.approx(0, abs=1e-9)


def test_old_points_that_do_not_match_are_refused():
    tree = tr.fit(POINTS, metric="euclidean", method="treerep")
    with pytest.raises(
        ValueError,
        match="data has no point 'b', which is in the tree: use the points that the tree",
    ):
        tr.place(tree, NEW, data=POINTS.rename(index={"b": "z"}), metric="euclidean")
    with pytest.raises(
        ValueError,
        match="the tree has labels in the order of a text file, and data has no labels: give data",
    ):
        tr.place(tr.Tree.from_newick(tree.newick()), NEW, data=POINTS.to_numpy(), metric="euclidean")
    with pytest.raises(
        ValueError,
        match="rows has no column 'up', which is in data: use the same columns in both",
    ):
        tr.place(tree, NEW.rename(columns={"up": "down"}), data=POINTS, metric="euclidean")
    with pytest.raises(TypeError, match="use points with the same metric"):
        tr.place(tree, tr.PointMetric(NEW, "manhattan"), data=POINTS, metric="euclidean")


def test_whole_numbers_beside_fractions_are_exact():
    # From the middle of an edge of 3.9 the point is 0.05 away: less than the 0.1 that counts for whole numbers alone.
    line = tr.Tree(2, [[0, 1]], [3.9])
    placed = tr.place(line, [[2, 2]])
    np.testing.assert_allclose(placed.block([2], [0, 1]), [[2.0, 2.0]], rtol=1e-15)
    assert find_places(line, [[2, 2]]).height[0] == pytest.approx(0.05)
    # In halves, and in quarters as after rooting, nothing shorter than an eighth can be right.
    for length in (3.5, 3.75):
        halves = tr.Tree(2, [[0, 1]], [length])
        np.testing.assert_array_equal(tr.place(halves, [[2, 2]]).block([2], [0, 1]), [[2.0, 2.0]])


@settings(max_examples=40)
@given(tree_metrics(max_nodes=14), st.data())
def test_any_order_of_the_names_is_exact(d, data):
    n = len(d)
    old = data.draw(st.integers(1, n))
    names = [f"p{i}" for i in range(n)]
    tree = tr.fit(tr.MatrixMetric(d[:old, :old], labels=names[:old]), method="treerep")
    tree = tr.Tree.from_newick(tree.restrict(data.draw(st.permutations(range(old)))).newick())
    known = data.draw(st.booleans())
    columns = data.draw(st.permutations(range(n if known else old)))
    index = data.draw(st.permutations(range(old, n)))
    rows = pd.DataFrame(d, names, names).iloc[list(index), list(columns)]
    placed = tr.place(tree, rows).restrict(names)
    found = placed.distances() if known else placed.distances()[:old]
    assert np.abs(found - d[: len(found)]).max() <= 1e-9 * max(float(d.max()), 1e-300)


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 200), min_size=3, max_size=9),
    st.sampled_from([0.5, 0.25, 0.1, 0.05, 0.03]),
)
def test_whole_number_rows_are_exact_in_any_star(lengths, share):
    """A new point at a whole-number distance from points whose lengths are fractions: all sums are whole numbers."""
    arms = (
        np.array(lengths) - share
    )  # the new point hangs by `share`, so that its distances are whole numbers
    tree = tr.Tree(len(arms), [[i, len(arms)] for i in range(len(arms))], arms)
    placed = tr.place(tree, np.array([lengths], dtype=float))
    np.testing.assert_allclose(placed.block([len(arms)], range(len(arms))), [lengths], rtol=1e-12)
