"""Labels mean the same everywhere: points are matched by label, and by position only if that is not a guess."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from paper.bartal_average import tree_average
from tests.strategies import tree_metrics
from treerep.drawing.draw import draw
from treerep.drawing.figures.distortion_picture import distortion_picture
from treerep.drawing.page._content import true_distances
from treerep.formats import read_tree, write_tree
from treerep.metric._matching import Points, matched, point_order, values_in_order
from treerep.refinement.lengths.weights import fit_weights
from treerep.refinement.moves.search import rearrange

# ((a: 1, b: 2): 1.5, (c: 1, d: 3)), added up by hand.
DISTANCES = np.array([[0, 3, 3.5, 5.5], [3, 0, 4.5, 6.5], [3.5, 4.5, 0, 4], [5.5, 6.5, 4, 0]])
TREE = tr.Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [1.0, 2.0, 1.5, 1.0, 3.0], labels="abcd")
ORDER = [3, 0, 2, 1]
SHUFFLED = tr.MatrixMetric(DISTANCES[np.ix_(ORDER, ORDER)], labels=["d", "a", "c", "b"])
# The same tree, but d comes first in the text: by position it would be another tree.
TEXT = "((d:3,c:1):1.5,b:2,a:1);"
REFUSED = (
    r"^[^\n]* labels in the order of a text file, and [^\n]* has no labels: "
    r"give [^\n]*tree\.restrict\(labels\)[^\n]*$"
)

COMPARISONS = {
    "average_distortion": tr.average_distortion,
    "worst_distortion": tr.worst_distortion,
    "distance_error": tr.distance_error,
    "refine": tr.refine,
    "rearrange": lambda tree, data: rearrange(tree, tr.as_metric(data)),
    "fit_weights": lambda tree, data: fit_weights(tree, tr.as_metric(data)),
    "distortion_picture": distortion_picture,
    "true_distances": true_distances,
}


def test_position_of_each_point():
    order = point_order(Points(3, ("a", "b", "c")), Points(3, ("c", "a", "b")), ("one", "two"))
    np.testing.assert_array_equal(order, [2, 0, 1])
    for labels in (("a", "b", "c"), None):
        assert point_order(Points(3, labels), Points(3, ("a", "b", "c")), ("one", "two")) is None


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            Points(2, None),
            Points(3, None),
            "one has 2 points and two has 3: use metrics on the same points",
        ),
        (Points(1, None), Points(3, None), "one has 1 point and two has 3: "),
        (
            Points(3, ("a", "b", "c")),
            Points(3, ("c", "y", "x")),
            "one has no point 'y', which is in two: ",
        ),
        (Points(2, ("a", "a")), Points(2, ("a", "b")), "one has no point 'b'"),
        (Points(2, ("a", "b")), Points(2, ("a", "a")), "points 0 and 1 share the label 'a'"),
        (
            Points(2, ("a", "b"), False),
            Points(2, None),
            "one has labels in the order of a text file, and two has no labels",
        ),
        (
            Points(2, None),
            Points(2, ("a", "b"), False),
            "two has labels in the order of a text file, and one has no labels",
        ),
        (
            Points(2, None, False),
            Points(2, ("a", "b"), False),
            "two has labels in the order of a text file",
        ),
    ],
)
def test_what_does_not_match_is_refused(first, second, message):
    with pytest.raises(ValueError, match=message) as caught:
        point_order(first, second, ("one", "two"))
    assert "\n" not in str(caught.value)


def test_a_single_point_has_one_order():
    assert tr.average_distortion(tr.Tree.from_newick("a;"), [[0.0]]) == 0


def test_nothing_is_done_for_the_same_labels():
    data = tr.MatrixMetric(DISTANCES, labels=TREE.labels)
    assert matched(TREE, data, ("tree", "data")) is TREE
    assert matched(TREE, tr.MatrixMetric(DISTANCES), ("tree", "data")) is TREE


def test_scores_match_by_label():
    for tree in (TREE, tr.Tree.from_newick(TEXT), tr.Tree.from_newick(TREE.newick("d"))):
        assert tr.average_distortion(tree, SHUFFLED) == pytest.approx(0, abs=1e-15)
        assert tr.average_distortion(SHUFFLED, tree) == pytest.approx(0, abs=1e-15)
        assert tr.worst_distortion(tree, SHUFFLED) == pytest.approx(1)
        assert tr.distance_error(tree, SHUFFLED) == pytest.approx(0, abs=1e-15)
    # Twice as far from a to b, which are 3 apart: one of six pairs has an error of 1.
    wrong = DISTANCES.copy()
    wrong[0, 1] = wrong[1, 0] = 6
    assert tr.average_distortion(tr.MatrixMetric(wrong, labels="abcd"), SHUFFLED) == pytest.approx(1 / 6)
    assert tr.average_distortion(pd.DataFrame(wrong, list("abcd"), list("abcd")), SHUFFLED) == pytest.approx(
        1 / 6
    )


def test_precision_matches_by_label():
    path = tr.GraphMetric([(0, 1), (1, 2), (2, 3)], labels="abcd")
    tree = tr.fit(path, method="treerep")
    shuffled = tree.restrict("cadb")
    assert tr.mean_average_precision(tree, path) == 1
    assert tr.mean_average_precision(shuffled, path) == 1
    embedded = tr.embed(shuffled)  # which is looked at in another order, not copied
    assert tr.mean_average_precision(embedded, path) == 1
    assert tr.average_distortion(embedded, path) == pytest.approx(
        float(tr.average_distortion(tr.embed(tree), path))
    )
    with pytest.raises(ValueError, match=REFUSED):
        tr.mean_average_precision(
            tr.Tree.from_newick(shuffled.newick()), tr.GraphMetric([(0, 1), (1, 2), (2, 3)])
        )


def test_refined_trees_are_in_the_order_of_the_data():
    rough = TREE.with_weights([1.0, 1.0, 1.0, 1.0, 1.0])
    for tree in (rough, tr.Tree.from_newick(rough.newick("d")), rough.restrict("bdca")):
        better = tr.refine(tree, SHUFFLED, balance=0)
        assert better.labels == SHUFFLED.labels
        np.testing.assert_allclose(better.distances(), SHUFFLED.distances, atol=1e-6)
        assert tr.average_distortion(better, SHUFFLED.distances) < 1e-6  # its order is that of the data
    # Also if the text happens to have the order of the data.
    lucky = tr.Tree.from_newick("(d:1,a:1,c:1,b:1);")
    assert lucky.labels == SHUFFLED.labels
    assert tr.refine(lucky, SHUFFLED).order_known
    with pytest.raises(ValueError, match=REFUSED):
        tr.refine(lucky, SHUFFLED.distances)


def test_pieces_of_refine_match_by_label():
    assert rearrange(tr.Tree.from_newick(TEXT), SHUFFLED).after == pytest.approx(0, abs=1e-12)
    fitted = fit_weights(TREE.with_weights(np.ones(5)), SHUFFLED).tree
    np.testing.assert_allclose(fitted.distances(), SHUFFLED.distances)


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_text_is_not_matched_by_position(name):
    compare, tree = COMPARISONS[name], tr.Tree.from_newick(TEXT)
    with pytest.raises(ValueError, match=REFUSED):
        compare(tree, DISTANCES)
    compare(tree, SHUFFLED)
    compare(tree.restrict("abcd"), DISTANCES)
    compare(TREE, DISTANCES)  # of `fit`, say: its order is that of the data


def test_the_message_names_the_fix():
    with pytest.raises(ValueError, match=REFUSED) as caught:
        tr.average_distortion(tr.Tree.from_newick(TEXT), DISTANCES)
    assert str(caught.value) == (
        "approx has labels in the order of a text file, and truth has no labels: give truth labels, "
        "or reorder the tree with tree.restrict(labels); .json and .npz tree files keep the order"
    )


def same(tree):
    return tree


def saved(suffix):
    def through(tree, folder):
        tree.save(folder / f"tree{suffix}")
        return tr.Tree.load(folder / f"tree{suffix}")

    return through


def written(suffix):
    def through(tree, folder):
        write_tree(tree, folder / f"tree{suffix}")
        return read_tree(folder / f"tree{suffix}")

    return through


FROM_A_TEXT = {
    "itself": same,
    "pickle": lambda tree: pickle.loads(pickle.dumps(tree)),
    "copy": copy.deepcopy,
    "canonical": lambda tree: tree.canonical(),
    "contracted": lambda tree: tree.contracted(),
    "with_weights": lambda tree: tree.with_weights(tree.weights),
    "with_support": lambda tree: tree.with_support([tree]).contracted(),
    "root_at_midpoint": lambda tree: tree.root_at_midpoint()[0],
    "root_at_outgroup": lambda tree: tree.root_at_outgroup("d")[0],
    "fit": tr.fit,
    "trials": lambda tree: tr.fit(tree, trials=2, method="treerep"),
    "bartal": lambda tree: tr.fit(tree, method="bartal", draws=2),
    "refine": lambda tree: tr.refine(tree, tree),
    "embed": tr.embed,
    "average": lambda tree: tree_average([tree, TREE]),
    "networkx": lambda tree: tr.Tree.from_networkx(tree.to_networkx()),
    "reordered": lambda tree: matched(tr.embed(TREE), tree, ("one", "two")),
}


@pytest.mark.parametrize("name", FROM_A_TEXT)
def test_what_is_made_of_a_text_has_no_known_order(name):
    made = FROM_A_TEXT[name](tr.Tree.from_newick(TEXT))
    assert made.labels == ("d", "c", "b", "a")
    with pytest.raises(ValueError, match=REFUSED):
        tr.average_distortion(made, DISTANCES)
    assert tr.average_distortion(made, SHUFFLED) >= 0


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_saved_trees_keep_what_is_known(suffix, tmp_path):
    through = saved(suffix)
    assert through(TREE, tmp_path).order_known
    assert not through(tr.Tree.from_newick(TEXT), tmp_path).order_known
    assert written(suffix)(TREE, tmp_path).order_known
    tr.embed(tr.Tree.from_newick(TEXT)).save(tmp_path / "embedding.npz")
    assert not tr.Embedding.load(tmp_path / "embedding.npz").order_known
    tr.embed(TREE).save(tmp_path / "embedding.npz")
    assert tr.Embedding.load(tmp_path / "embedding.npz").order_known


def test_files_that_say_something_else_are_damaged(tmp_path):
    tr.Tree.from_newick(TEXT).save(tmp_path / "tree.json")
    text = (tmp_path / "tree.json").read_text().replace('"order_known": false', '"order_known": "no"')
    (tmp_path / "tree.json").write_text(text)
    with pytest.raises(ValueError, match=r"tree\.json is damaged: order_known is not true or false"):
        tr.Tree.load(tmp_path / "tree.json")


@pytest.mark.parametrize("suffix", [".nwk", ".nex", ".graphml"])
def test_other_formats_are_matched_by_label(suffix, tmp_path):
    tree = written(suffix)(TREE, tmp_path)
    with pytest.raises(ValueError, match=REFUSED):
        tr.average_distortion(tree, DISTANCES)
    assert tr.average_distortion(tree, SHUFFLED) == pytest.approx(0, abs=1e-15)


def test_skbio_has_no_known_order():
    pytest.importorskip("skbio")
    assert not tr.Tree.from_skbio(TREE.to_skbio()).order_known


def test_equality_does_not_look_at_the_order():
    text = tr.Tree.from_newick(TEXT)
    known = text.restrict(text.labels)
    assert (known.order_known, text.order_known) == (True, False)
    assert known == text.canonical()
    assert known.isclose(text)
    assert tr.Tree.__hash__ is None


def test_numbers_name_positions():
    plain = tr.Tree(4, TREE.edges, TREE.weights)
    text = tr.Tree.from_newick(plain.newick(3))  # point 3 comes first
    assert text.labels is None
    assert tr.average_distortion(text, DISTANCES) == pytest.approx(0, abs=1e-15)
    assert tr.average_distortion(text, tr.MatrixMetric(DISTANCES, labels="abcd")) == pytest.approx(
        0, abs=1e-15
    )
    assert tr.refine(text, DISTANCES).labels is None


def test_numbers_in_a_text_are_names_beside_labels_that_are_numbers():
    data = pd.DataFrame(DISTANCES)[ORDER].loc[ORDER]
    tree = tr.fit(data, method="treerep")
    text = tr.Tree.from_newick(tree.newick())
    assert (tree.labels, text.labels) == (("3", "0", "2", "1"), None)
    for one, two in ((text, data), (data, text), (tree, data), (tree, data.to_numpy())):
        assert tr.average_distortion(one, two) == pytest.approx(0, abs=1e-15)
    assert text.difference(tree).path == tree.difference(text).path == pytest.approx(0, abs=1e-12)
    better = tr.refine(text, data)
    assert better.labels == tree.labels
    np.testing.assert_allclose(better.distances(), data.to_numpy())


def test_trees_are_compared_by_label():
    text = tr.Tree.from_newick(TEXT)
    assert TREE.difference(text) == text.difference(TREE) == (0, 0.0, pytest.approx(0, abs=1e-12))
    with pytest.raises(
        ValueError,
        match="the other tree has labels in the order of a text file, and this tree has no labels",
    ):
        tr.Tree(4, TREE.edges, TREE.weights).difference(text)
    np.testing.assert_allclose(tree_average([TREE, text]).block(range(4), range(4)), DISTANCES)
    np.testing.assert_array_equal(
        TREE.with_support([text, text]).support, [np.nan, np.nan, 1.0, np.nan, np.nan]
    )


def test_pages_match_by_label():
    assert true_distances(TREE, SHUFFLED) == true_distances(TREE, DISTANCES)


def test_values_of_points_are_matched_by_label(tmp_path):
    table = pd.DataFrame({"height": [4.0, 1.0, 3.0, 2.0]}, index=["d", "a", "c", "b"])
    assert list(values_in_order(table["height"], TREE.labels)) == [1, 2, 3, 4]
    for other in (table["height"].to_numpy(), table["height"].reset_index(drop=True)):
        assert values_in_order(other, TREE.labels) is other
    with pytest.raises(ValueError, match="the table has no row 'd'"):
        values_in_order(table["height"].iloc[1:], TREE.labels)
    by_label, in_order = (
        draw(TREE, color=values).collections[-1].get_facecolors()
        for values in (table["height"], [1.0, 2.0, 3.0, 4.0])
    )
    np.testing.assert_array_equal(by_label, in_order)
    for name, attributes in (("one", table), ("two", {"height": [1.0, 2.0, 3.0, 4.0]})):
        write_tree(TREE, tmp_path / f"{name}.graphml", attributes=attributes)
    assert (tmp_path / "one.graphml").read_text() == (tmp_path / "two.graphml").read_text()


def test_distances_on_disk_are_not_copied():
    class OnDisk(tr.Metric):
        on_disk, labels = True, tuple("dacb")

        def __len__(self):
            return 4

        def block(self, rows, cols):
            return SHUFFLED.block(rows, cols)

    view = matched(OnDisk(), TREE, ("one", "two"))
    assert view.on_disk
    np.testing.assert_array_equal(view.pairs([0, 1], [2, 3]), DISTANCES[[0, 1], [2, 3]])
    assert tr.average_distortion(OnDisk(), TREE) == pytest.approx(0, abs=1e-15)
    with pytest.raises(IndexError, match="point 4 does not exist"):
        view.block([4], [0])


@settings(max_examples=25)
@given(tree_metrics(max_nodes=10), st.data())
def test_any_order_of_the_labels_gives_the_same(d, data):
    n = len(d)
    tree = tr.fit(tr.MatrixMetric(d, labels=[f"p{i}" for i in range(n)]), method="treerep")
    order = data.draw(st.permutations(range(n)))
    other = data.draw(st.permutations(range(n)))
    truth = tr.MatrixMetric(d[np.ix_(order, order)], labels=[f"p{i}" for i in order])
    text = tr.Tree.from_newick(tree.restrict(other).newick(data.draw(st.integers(0, n - 1))))
    limit = 1e-9 * max(float(d.max()), 1e-300)
    for approx in (tree, tree.restrict(other), text):
        assert tr.average_distortion(approx, truth) <= 1e-9
        assert tr.distance_error(approx, truth, norm="linf") <= limit
        better = tr.refine(approx, truth)
        assert better.labels == truth.labels
        assert np.abs(better.distances() - truth.distances).max() <= limit
        assert tree.difference(approx, path=False).robinson_foulds == 0
