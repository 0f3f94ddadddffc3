"""A product of embeddings is a metric: the sum of the distances of its components."""

import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.rounding import FUNCTIONS
from treerep._core.io.archive import write_archive
from treerep.datasets import random_tree
from treerep.embedding.embedding import Embedding
from treerep.embedding.product import ProductEmbedding
from treerep.embedding.tree_embedding import TreeEmbedding
from treerep.tree.tree import Tree
from treerep.tree.tree_sum import TreeSum


def random_sum(seed: int, n: int = 9, trees: int = 3, hidden: float = 0.5) -> TreeSum:
    return TreeSum([random_tree(n, hidden=hidden, rng=seed + k) for k in range(trees)])


def block(metric: tr.Metric) -> np.ndarray:
    return metric.block(range(len(metric)), range(len(metric)))


def test_by_hand() -> None:
    # Two rays at a right angle, log 3 long, so cosh d = cosh(log 3)^2 = 25/9; and a line through
    # the origin with points at 2 and -4.
    corner = Embedding([[1, 0], [0, 1]], [np.log(3), np.log(3)], scale=2.0)
    line = Embedding([[1, 0], [-1, 0]], [2.0, 4.0], scale=3.0)
    product = ProductEmbedding([corner, line])
    expected = np.arccosh(25 / 9) / 2 + 6 / 3
    assert product.pairs(0, 1) == pytest.approx(expected, rel=FUNCTIONS)
    assert product.pairs([0, 1], 1) == pytest.approx([expected, 0.0], rel=FUNCTIONS)
    np.testing.assert_allclose(block(product), expected * (1 - np.eye(2)), rtol=FUNCTIONS)
    assert (len(product), product.dim, product.scales) == (2, 4, (2.0, 3.0))
    assert repr(product) == "ProductEmbedding(2 points, 2 planes of dim 2)"


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 9), st.integers(2, 12), st.integers(1, 4), st.integers(2, 3))
def test_distances_follow_the_formula(seed: int, n: int, trees: int, dim: int) -> None:
    product = tr.embed(random_sum(seed, n, trees), scale=1.5, dim=dim)
    points = product.lorentz
    assert points.shape == (n, trees, dim + 1)
    # arcosh(-<p, q>) / scale, summed over the components
    inner = np.einsum("imc,jmc->ijm", points[..., 1:], points[..., 1:])
    inner -= np.einsum("im,jm->ijm", points[..., 0], points[..., 0])
    expected = (np.arccosh(np.maximum(-inner, 1.0)) / 1.5).sum(axis=2)
    np.testing.assert_allclose(block(product), expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 9),
    st.integers(2, 15),
    st.integers(1, 4),
    st.sampled_from([1.01, 1.1, 2.0]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_the_distortion_of_every_tree_bounds_that_of_the_sum(
    seed: int, n: int, trees: int, distortion: float, hidden: float
) -> None:
    total = random_sum(seed, n, trees, hidden)
    product = tr.embed(total, distortion=distortion)
    apart = ~np.eye(n, dtype=bool)
    ratios = (block(product) / np.where(apart, block(total), 1.0))[apart]
    assert ratios.max() <= 1 + FUNCTIONS
    assert ratios.min() >= 1 / distortion - FUNCTIONS
    assert tr.worst_distortion(product, total) <= distortion + FUNCTIONS


def test_components_are_the_embeddings_of_the_trees() -> None:
    labels = list("abcdefghi")
    trees = [Tree(9, tree.edges, tree.weights, labels=labels) for tree in random_sum(4).trees]
    product = tr.embed(TreeSum(trees), scale=2.0, root="c", exponent=0, dim=3)
    assert isinstance(product, ProductEmbedding) and product.labels == tuple(labels)
    for part, tree in zip(product.components, trees, strict=True):
        single = tr.embed(tree, scale=2.0, root="c", exponent=0, dim=3)
        assert isinstance(part, TreeEmbedding) and part.radii[2] == 0
        np.testing.assert_array_equal(part.turns, single.turns)
    assert repr(product) == "ProductEmbedding(9 points, 3 spaces of dim 3)"
    assert product.n_nodes == sum(tree.n_nodes for tree in trees) > 27
    with pytest.raises(IndexError, match="point 9 does not exist"):
        product.pairs(0, 9)
    with pytest.raises(IndexError, match="point 9 does not exist"):
        product.block([0], [9])


def test_other_methods_treat_a_sum_as_any_metric() -> None:
    total = random_sum(1)
    found = tr.embed(total, method="hmds", dim=4)
    assert type(found) is Embedding and len(found) == 9
    assert tr.average_distortion(found, total) < 0.3
    with pytest.raises(ValueError, match="epochs"):
        tr.embed(total, epochs=3)


def test_learning_treats_a_sum_as_any_metric() -> None:
    pytest.importorskip("torch")
    found = tr.embed(random_sum(1), method="pt", dim=4, epochs=5)
    assert type(found) is Embedding and len(found) == 9


def test_order_of_the_points() -> None:
    total = random_sum(1)
    assert tr.embed(total).order_known
    unknown = TreeSum(tree._replace(order_known=False) for tree in total.trees)
    assert not tr.embed(unknown).order_known


def test_points_are_matched_by_label() -> None:
    tree = random_tree(6, rng=2)
    first = Tree(6, tree.edges, tree.weights, labels=list("abcdef"))
    product = tr.embed(TreeSum([first, first]), distortion=1.01)
    shuffled = first.restrict(list("fdbace"))
    plain = tr.average_distortion(product, 2 * block(first))
    assert tr.average_distortion(product, TreeSum([shuffled, shuffled])) == pytest.approx(
        float(plain), rel=1e-6
    )


def test_scores() -> None:
    graph = tr.GraphMetric([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    half = Tree(6, [[k, k + 1] for k in range(5)], [0.5] * 5)
    product = tr.embed(TreeSum([half, half]), distortion=1.01)
    assert tr.mean_average_precision(product, graph) == 1
    expected = np.mean(
        np.abs(block(product) / np.where(np.eye(6), 1, block(graph)) - 1)[~np.eye(6, dtype=bool)]
    )
    assert tr.average_distortion(product, graph) == pytest.approx(expected, abs=1e-12)
    assert len(tr.fit(product, method="treerep")) == 6


def test_a_tree_without_lengths_adds_nothing() -> None:
    tree = random_tree(5, rng=3)
    product = tr.embed(TreeSum([tree, tree.with_weights(np.zeros(len(tree.weights)))]))
    np.testing.assert_array_equal(block(product), block(tr.embed(tree)))


@pytest.mark.parametrize(("model", "width"), [("poincare", 2), ("klein", 2), ("lorentz", 3)])
def test_coordinates_are_those_of_the_components(model: str, width: int) -> None:
    product = tr.embed(random_sum(5), scale=1.0)
    points = product.coordinates(model)
    np.testing.assert_array_equal(points, getattr(product, model))
    assert points.shape == (9, 3, width)
    for k, part in enumerate(product.components):
        np.testing.assert_array_equal(points[:, k], part.coordinates(model)[:9])


def test_coordinates_in_torch() -> None:
    torch = pytest.importorskip("torch")
    product = tr.embed(random_sum(5), scale=1.0)
    assert torch.from_numpy(product.poincare).shape == (9, 3, 2)


def test_one_warning_about_lost_digits() -> None:
    product = tr.embed(random_sum(5), scale=500.0)
    with pytest.warns(UserWarning, match="in 3 of 3 components, points coincide") as record:
        product.poincare  # noqa: B018
    assert len(record) == 1 and record[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tr.embed(random_sum(5), scale=1.0).poincare  # noqa: B018


def test_components_of_different_dimensions() -> None:
    tree = random_tree(5)
    product = ProductEmbedding([tr.embed(tree, dim=2), tr.embed(tree, dim=3)])
    assert repr(product) == "ProductEmbedding(5 points, 2 spaces of dim 2 and 3)"
    assert product.dim == 5
    with pytest.raises(ValueError, match=r"dimensions \[2, 3\].*use the coordinates of each"):
        product.klein  # noqa: B018


def test_wrong_arguments() -> None:
    five, six = tr.embed(random_tree(5)), tr.embed(random_tree(6))
    named = Embedding(np.zeros((5, 2)), np.zeros(5), labels="abcde")
    for components, error, message in [
        ([], ValueError, "at least one component"),
        ([five, random_tree(5)], TypeError, "component 1 is a Tree: the components"),
        ([five, six], ValueError, "component 1 has 6 points, and component 0 has 5"),
        ([five, named], ValueError, "component 1 and component 0 have different labels"),
    ]:
        with pytest.raises(error, match=message):
            ProductEmbedding(components)
    with pytest.raises(ValueError, match="2 labels were given for 5 points"):
        ProductEmbedding([five], labels="ab")
    with pytest.raises(ValueError, match="unknown model 'ball': choose one of poincare"):
        ProductEmbedding([five]).coordinates("ball")
    assert repr(ProductEmbedding([five])) == "ProductEmbedding(5 points, 1 plane of dim 2)"


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
    ids=["deepcopy", "pickle"],
)
def test_copies(copied: object) -> None:
    product = tr.embed(random_sum(7))
    np.testing.assert_array_equal(block(copied(product)), block(product))


def test_round_trip_is_exact(tmp_path: Path) -> None:
    parts = random_sum(11).trees
    named = [Tree(9, part.edges, part.weights, labels="abcdefghi") for part in parts]
    flat = Embedding(np.eye(9), np.arange(9.0), scale=0.3, labels="abcdefghi")
    product = ProductEmbedding([tr.embed(named[0]), flat, tr.embed(named[1], dim=3)])
    product.order_known = False
    product.save(tmp_path / "p.npz")
    for read in (Embedding.load(tmp_path / "p.npz"), ProductEmbedding.load(tmp_path / "p.npz")):
        assert isinstance(read, ProductEmbedding)
        assert (read.labels, read.scales, read.dim) == (product.labels, product.scales, 14)
        assert not read.order_known
        kinds = [type(part) for part in read.components]
        assert kinds == [TreeEmbedding, Embedding, TreeEmbedding]
        np.testing.assert_array_equal(block(read), block(product))
    with np.load(tmp_path / "p.npz", allow_pickle=False) as archive:
        assert {"0/parent", "1/radii", "2/turns"} < set(archive)


def test_files_of_other_kinds(tmp_path: Path) -> None:
    tr.embed(random_tree(5)).save(tmp_path / "e.npz")
    with pytest.raises(ValueError, match=r"e.npz holds TreeEmbedding.*: use Embedding.load"):
        ProductEmbedding.load(tmp_path / "e.npz")
    with pytest.raises(ValueError, match="use a name that ends in .npz"):
        tr.embed(random_sum(1)).save(tmp_path / "p.json")


PART = {"kind": "Embedding", "scale": 1.0}
HEADER = {"format": "treerep embedding", "version": 1, "kind": "ProductEmbedding"}
HEADER |= {"n_points": 1, "components": [PART, PART]}
FIELDS = {f"{k}/directions": np.array([[1.0]]) for k in range(2)}
FIELDS |= {"0/radii": np.array([1.0]), "1/radii": np.array([2.0]), "labels": ["a"]}


@pytest.mark.parametrize(
    ("header", "fields", "message"),
    [
        ({"components": 3}, {}, "p.npz is damaged: components is not a list"),
        ({"components": []}, {}, "p.npz is damaged: a product needs at least one component"),
        (
            {"components": [{"scale": 1.0}]},
            {},
            "p.npz is damaged: kind of component 0 is missing",
        ),
        ({"components": [{"kind": "Torus", "scale": 1.0}]}, {}, "of unknown kind 'Torus'"),
        ({"components": [PART, PART, PART]}, {}, "p.npz is damaged: .*directions"),
        ({"n_points": 2}, {}, "p.npz is damaged: n_points=2 does not match 1 nodes"),
        ({}, {"1/radii": np.array([-1.0])}, "p.npz is damaged: node 0 has radius -1.0"),
        ({}, {"labels": ["a", "b"]}, "p.npz is damaged: 2 labels were given for 1 points"),
    ],
)
def test_damaged_files(tmp_path: Path, header: dict, fields: dict, message: str) -> None:
    write_archive(tmp_path / "p.npz", HEADER, FIELDS)
    assert len(ProductEmbedding.load(tmp_path / "p.npz")) == 1
    write_archive(tmp_path / "p.npz", {**HEADER, **header}, {**FIELDS, **fields})
    with pytest.raises(ValueError, match=message) as error:
        Embedding.load(tmp_path / "p.npz")
    assert "\n" not in str(error.value)
