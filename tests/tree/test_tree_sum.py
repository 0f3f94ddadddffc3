"""`TreeSum`: distances of a sum, matching by label, files, and its use as a metric."""

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import treerep as tr
from tests.tree.strategies import naive_distances, trees
from treerep.tree.tree import Tree
from treerep.tree.tree_sum import TreeSum

STAR = Tree(3, [[0, 3], [1, 3], [2, 3]], [1.0, 2.0, 3.0], labels="abc")
PATH = Tree(3, [[0, 1], [1, 2]], [1.0, 4.0], labels="abc")
BOTH = TreeSum([STAR, PATH])
# d = 3, 4, 5 in the star and 1, 5, 4 in the path.
SUM = np.array([[0, 4, 9], [4, 0, 9], [9, 9, 0]], float)


def test_distances_by_hand() -> None:
    assert BOTH.distances().tolist() == SUM.tolist()
    assert BOTH.block([2, 0], [1]).tolist() == [[9.0], [4.0]]
    assert BOTH.pairs([0, 1], [1, 1]).tolist() == [4.0, 0.0]
    assert BOTH.pairs(0, 2) == 9.0
    assert BOTH.pairs([[0], [1]], [[2], [2]]).shape == (2, 1)
    assert len(BOTH) == 3
    assert BOTH.n_nodes == 7
    assert list(BOTH) == [STAR, PATH]
    assert BOTH.labels == ("a", "b", "c")
    assert repr(BOTH) == "TreeSum(3 points, 2 trees)"
    assert repr(TreeSum([Tree(1, [], [])])) == "TreeSum(1 point, 1 tree)"


@settings(max_examples=30)
@given(st.lists(trees(max_nodes=12), min_size=1, max_size=4), st.sampled_from([1, 2]))
def test_distances_are_the_sums_of_networkx(given_trees: list[Tree], jobs: int) -> None:
    n = min(len(tree) for tree in given_trees)
    parts = [tree.restrict(range(n)) for tree in given_trees]
    total = TreeSum(parts)
    expected = sum(naive_distances(tree)[:n, :n] for tree in parts)
    assert_allclose(total.distances(n_jobs=jobs), expected, atol=1e-12)
    points = np.arange(n)
    assert_allclose(total.block(points, points[::-1]), expected[:, ::-1], atol=1e-12)
    assert_allclose(total.pairs(points, 0), expected[:, 0], atol=1e-12)


@given(trees(max_nodes=15), st.randoms(use_true_random=False))
def test_the_order_of_points_does_not_matter_with_labels(tree: Tree, random: object) -> None:
    labels = [f"p{i}" for i in range(len(tree))]
    named = tree._replace(labels=tuple(labels))
    random.shuffle(labels)  # type: ignore[attr-defined]
    other = named.restrict(labels)
    assert_allclose(TreeSum([named, other]).distances(), 2 * tree.distances(), atol=1e-12)
    assert TreeSum([other, named]).labels == tuple(labels)


def test_trees_from_text_are_matched_by_label() -> None:
    text = Tree.from_newick("((c:1,a:2):1,b:3);")
    total = TreeSum([STAR, text])
    assert total.order_known
    assert total.labels == ("a", "b", "c")
    assert {tree.labels for tree in total.trees} == {("a", "b", "c")}
    assert total.pairs(0, 1) == 3 + 6
    assert total.pairs(0, 2) == 4 + 3
    assert not TreeSum([text, STAR]).order_known


def test_labels_of_any_tree_are_those_of_all() -> None:
    plain = STAR._replace(labels=None)
    turned = PATH.restrict("cab")
    total = TreeSum([plain, PATH, turned])
    # `turned` is matched with PATH by label, although the first tree has no labels.
    assert [tree.labels for tree in total.trees] == [("a", "b", "c")] * 3
    assert total.labels == ("a", "b", "c")
    assert_allclose(total.distances(), STAR.distances() + 2 * PATH.distances())
    assert total.restrict("ca").labels == ("c", "a")
    assert plain.labels is None


@pytest.mark.parametrize(
    ("given_trees", "error", "message"),
    [
        ([], ValueError, "a TreeSum needs at least one tree"),
        ([STAR, SUM], TypeError, "a TreeSum consists of trees, not of ndarray"),
        ([BOTH], TypeError, "a TreeSum consists of trees, not of TreeSum"),
        (
            [STAR, Tree(2, [[0, 1]], [1.0])],
            ValueError,
            r"trees\[1\] has 2 points and trees\[0\] has 3: use metrics on the same points",
        ),
        (
            [STAR, STAR._replace(labels=("a", "b", "x"))],
            ValueError,
            r"trees\[1\] has no point 'c', which is in trees\[0\]: use metrics on the same points",
        ),
        (
            [STAR._replace(labels=None), Tree.from_newick("(a:1,b:1,c:1);")],
            ValueError,
            r"trees\[1\] has labels in the order of a text file, and trees\[0\] has no labels",
        ),
    ],
)
def test_a_sum_that_makes_no_sense_gets_one_clear_line(
    given_trees: list[Tree], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        TreeSum(given_trees)
    assert "\n" not in str(caught.value)


def test_sums_are_immutable() -> None:
    with pytest.raises(AttributeError, match="sums of trees are immutable"):
        BOTH.trees = ()  # type: ignore[misc]
    with pytest.raises(AttributeError, match="sums of trees are immutable"):
        del BOTH.labels
    with pytest.raises(TypeError, match="unhashable"):
        hash(BOTH)
    block = BOTH.block([0], [1])
    block[:] = 7.0
    assert BOTH.pairs(0, 1) == 4.0


def test_equality() -> None:
    assert TreeSum(iter([STAR, PATH])) == BOTH
    assert TreeSum([PATH, STAR]) != BOTH
    assert TreeSum([STAR]) != BOTH
    assert TreeSum([STAR, PATH.with_weights([1.0, 5.0])]) != BOTH
    assert TreeSum([STAR]) != STAR
    assert BOTH != "sum"


def test_copies_are_equal() -> None:
    loose = TreeSum([Tree.from_newick("(a:1,b:2,c:3);"), STAR])
    for total in (BOTH, loose):
        for other in (
            pickle.loads(pickle.dumps(total)),
            copy.copy(total),
            copy.deepcopy(total),
        ):
            assert other == total
            assert other.labels == total.labels
            assert other.order_known == total.order_known


def test_restrict() -> None:
    part = BOTH.restrict(["c", "a"])
    assert part.labels == ("c", "a")
    assert part.distances().tolist() == [[0, 9], [9, 0]]
    assert BOTH.restrict(iter([1, 2])).distances().tolist() == [[0, 9], [9, 0]]
    with pytest.raises(ValueError, match="choose at least one point"):
        BOTH.restrict([])


# Files.


@settings(max_examples=15)
@given(st.lists(trees(max_nodes=10), min_size=1, max_size=3), st.booleans(), st.booleans())
def test_files_keep_everything(
    tmp_path_factory: pytest.TempPathFactory,
    given_trees: list[Tree],
    named: bool,
    order_known: bool,
) -> None:
    n = min(len(tree) for tree in given_trees)
    labels = tuple(f"é {i}" for i in range(n)) if named else None
    total = TreeSum(tree.restrict(range(n)) for tree in given_trees)
    total = total._with_points(labels, order_known)
    path = tmp_path_factory.mktemp("sums") / "sum.npz"
    total.save(path)
    again = TreeSum.load(path)
    assert again == total
    assert again.labels == labels
    assert again.order_known == order_known
    for tree, expected in zip(again.trees, total.trees, strict=True):
        np.testing.assert_array_equal(tree.weights, expected.weights)


def test_every_truncated_file_gets_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "sum.npz"
    BOTH.save(path)
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match="it is not a sum of trees file") as caught:
            TreeSum.load(path)
        assert "\n" not in str(caught.value)


def test_other_files_get_one_clear_line(tmp_path: Path) -> None:
    STAR.save(tmp_path / "tree.npz")
    with pytest.raises(ValueError, match="tree.npz holds one tree: use Tree.load"):
        TreeSum.load(tmp_path / "tree.npz")
    with pytest.raises(FileNotFoundError):
        TreeSum.load(tmp_path / "none.npz")
    for name in ("sum.json", "sum"):
        with pytest.raises(ValueError, match="a sum of trees is saved as .npz"):
            BOTH.save(tmp_path / name)
        with pytest.raises(ValueError, match="use a name that ends in .npz"):
            TreeSum.load(tmp_path / name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_trees": 3}, "is damaged: edges_2 is missing"),
        ({"n_trees": 0}, "is damaged: n_trees is not a positive number"),
        ({"n_trees": "two"}, "is damaged: n_trees is not a positive number"),
        ({"n_points": 9}, "is damaged: "),
        ({"n_points": None}, "is damaged: "),
        ({"order_known": 3}, "is damaged: order_known is not true or false"),
        ({"version": 99}, "has version 99, but this treerep reads version 1: update treerep"),
        ({"format": "other"}, "was not written by TreeSum.save"),
        ({"weights_0": np.array([1.0, -1.0, 1.0])}, "is damaged: "),
        ({"edges_1": np.array([[0, 1], [0, 1]], np.int32)}, "is damaged: "),
    ],
)
def test_damaged_fields_get_one_clear_line(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = tmp_path / "sum.npz"
    BOTH.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    for name, value in changes.items():
        if name in arrays:
            arrays[name] = value
        else:
            header[name] = value
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=message) as caught:
        TreeSum.load(path)
    assert "\n" not in str(caught.value)


# As a metric.


def test_a_sum_is_a_metric() -> None:
    assert tr.as_metric(BOTH) is BOTH
    assert tr.average_distortion(BOTH, SUM) == 0
    assert tr.average_distortion(SUM, BOTH) == 0
    assert tr.average_distortion(BOTH, BOTH.restrict("cab")) == 0
    assert tr.distance_error(STAR, BOTH, norm="linf") == 5
    graph = tr.GraphMetric([[0, 1], [1, 2]])
    assert 0 < tr.mean_average_precision(BOTH, graph) <= 1


def test_a_tree_fits_a_sum_of_three_points() -> None:
    tree = tr.fit(BOTH)
    assert tree.labels == BOTH.labels
    assert_allclose(tree.distances(), SUM, atol=1e-12)
    assert float(tr.hyperbolicity(BOTH).delta) == pytest.approx(0, abs=1e-12)


def test_hyperbolicity_of_a_cycle_of_two_splits() -> None:
    # d(0, 2) + d(1, 3) = 4 exceeds both other sums of the four points, 2, by 2: delta = 1.
    split = Tree(4, [[0, 4], [1, 4], [4, 5], [5, 2], [5, 3]], [0, 0, 1.0, 0, 0])
    other = Tree(4, [[0, 4], [3, 4], [4, 5], [5, 1], [5, 2]], [0, 0, 1.0, 0, 0])
    cycle = TreeSum([split, other])
    assert cycle.distances().tolist() == [
        [0, 1, 2, 1],
        [1, 0, 1, 2],
        [2, 1, 0, 1],
        [1, 2, 1, 0],
    ]
    found = tr.hyperbolicity(cycle)
    expected = tr.hyperbolicity(cycle.distances())
    assert float(found.delta) == float(expected.delta) == 1.0
