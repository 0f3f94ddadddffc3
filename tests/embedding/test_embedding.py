"""An embedding is a metric, with coordinates."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.rounding import FUNCTIONS
from treerep.embedding._models import from_polar
from treerep.embedding.embedding import Embedding
from treerep.metric.points import PointMetric


def random_embedding(
    seed: int = 0, n: int = 12, dim: int = 3, far: float = 4.0, **fields: object
) -> Embedding:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, dim))
    return Embedding(
        vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        rng.uniform(0, far, n),
        **fields,
    )


def test_by_hand() -> None:
    # Two rays at a right angle, log 3 long: cosh d = cosh^2 = 25/9; and the origin.
    embedding = Embedding([[1, 0], [0, 1], [0, 0]], [np.log(3), np.log(3), 0], scale=2.0)
    assert embedding.pairs(0, 1) == pytest.approx(np.arccosh(25 / 9) / 2, rel=FUNCTIONS)
    assert embedding.pairs(0, 2) == pytest.approx(np.log(3) / 2, rel=FUNCTIONS)
    assert (len(embedding), embedding.n_nodes, embedding.dim, embedding.curvature) == (
        3,
        3,
        2,
        -4.0,
    )


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(1, 5),
    st.sampled_from([1e-3, 1.0, 7.0]),
)
def test_distances_are_those_of_point_metrics(seed: int, n: int, dim: int, scale: float) -> None:
    embedding, nodes = random_embedding(seed, n, dim, scale=scale), np.arange(n)
    for points, metric in (
        (embedding.poincare, "poincare"),
        (embedding.lorentz, "hyperboloid"),
    ):
        expected = PointMetric(points, metric).block(nodes, nodes) / scale
        np.testing.assert_allclose(embedding.block(nodes, nodes), expected, rtol=1e-9, atol=1e-9 / scale)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 5))
def test_coordinates_and_back(seed: int, n: int, dim: int) -> None:
    embedding, nodes = random_embedding(seed, n, dim), np.arange(n)
    for again in (
        Embedding.from_poincare(embedding.poincare),
        Embedding.from_lorentz(embedding.lorentz),
    ):
        np.testing.assert_allclose(
            again.block(nodes, nodes), embedding.block(nodes, nodes), rtol=1e-9, atol=1e-9
        )


def test_steiner_nodes_and_labels() -> None:
    embedding = random_embedding(n=5, n_points=3, labels=["a", "b", "c"])
    assert repr(embedding) == "Embedding(3 points, 2 Steiner nodes, dim 3)"
    assert embedding.labels == ("a", "b", "c") and len(embedding) == 3
    assert embedding.poincare.shape == (5, 3) and embedding.lorentz.shape == (5, 4)
    assert embedding.pairs(0, 4) > 0
    with pytest.raises(IndexError, match="point 5 does not exist"):
        embedding.pairs(0, 5)
    made = Embedding.from_poincare(embedding.poincare, n_points=3, labels="xyz", scale=2.0)
    assert (made.labels, made.n_points, made.scale) == (("x", "y", "z"), 3, 2.0)


def test_it_is_scored_and_fitted() -> None:
    embedding = random_embedding(n=10, scale=3.0)
    nodes = np.arange(10)
    assert tr.average_distortion(embedding, embedding.block(nodes, nodes)) == 0
    assert tr.average_distortion(embedding.block(nodes, nodes) / 2, embedding) == pytest.approx(0.5)
    tree = tr.fit(embedding, method="treerep")
    assert len(tree) == 10 and tr.average_distortion(tree, embedding) < 0.5


def test_one_point_and_one_dimension() -> None:
    single = Embedding([[0.0]], [0.0])
    assert repr(single) == "Embedding(1 point, dim 1)" and single.block([0], [0]).tolist() == [[0.0]]
    line = Embedding([[1.0], [-1.0]], [1.0, 2.5])
    assert line.pairs(0, 1) == pytest.approx(3.5, rel=FUNCTIONS)
    assert line.lorentz.shape == (2, 2)


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
    ids=["deepcopy", "pickle"],
)
def test_copies(copied: object) -> None:
    embedding = random_embedding(n_points=7, labels="abcdefg", scale=2.0)
    other = copied(embedding)
    np.testing.assert_array_equal(other.block(range(12), range(12)), embedding.block(range(12), range(12)))
    assert (other.labels, other.scale, other.n_points) == (embedding.labels, 2.0, 7)
    assert not other.radii.flags.writeable and not other.oracle.radii.flags.writeable


def test_later_changes_of_the_arrays_do_not_matter() -> None:
    directions, radii = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 2.0])
    embedding = Embedding(directions, radii)
    before = float(embedding.pairs(0, 1))
    radii[:] = 5.0
    directions[:] = [1.0, 0.0]
    assert float(embedding.pairs(0, 1)) == before and radii.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        embedding.radii[0] = 0.0


@pytest.mark.parametrize(
    ("arguments", "fields", "message"),
    [
        (
            ([1.0, 0.0], [1.0]),
            {},
            r"directions of shape \(N, dim\) and radii of shape \(N,\), got \(2,\) and \(1,\)",
        ),
        (([[1.0, 0.0]], [1.0, 2.0]), {}, "directions of shape"),
        ((np.zeros((0, 2)), []), {}, "directions of shape"),
        (("ab", [1.0]), {}, "directions must be an array of real numbers"),
        (([[1.0, 0.0]], [-1.0]), {}, "node 0 has radius -1.0"),
        (([[1.0], [1.0]], [0.0, np.nan]), {}, "node 1 has radius nan"),
        (([[1.0, 1.0]], [1.0]), {}, "the direction of node 0 has norm 1.41"),
        (([[np.nan, 1.0]], [1.0]), {}, "the direction of node 0 has norm nan"),
        (([[0.0, 0.0]], [1.0]), {}, "the direction of node 0 has norm 0"),
        (
            ([[1.0], [1.0]], [1.0, 351.0]),
            {},
            "node 1 is 351 from the origin, beyond 350: use a smaller scale",
        ),
        (([[1.0]], [1.0]), {"scale": 0.0}, "scale must be a positive number, not 0.0"),
        (([[1.0]], [1.0]), {"scale": np.inf}, "scale must be"),
        (([[1.0]], [1.0]), {"scale": 1e-320}, "scale must be"),
        (([[1.0]], [1.0]), {"scale": "large"}, "scale must be a positive number, not 'large'"),
        (([[1.0]], [1.0]), {"scale": True}, "scale must be a positive number, not True"),
        (([[1.0]], [1.0]), {"scale": None}, "scale must be a positive number, not None"),
        (([[1.0]], [1.0]), {"n_points": 2}, "n_points=2 does not match 1 nodes"),
        (([[1.0]], [1.0]), {"n_points": 0}, "n_points must be a positive whole number, not 0"),
        (
            ([[1.0]], [1.0]),
            {"n_points": 0.5},
            "n_points must be a positive whole number, not 0.5",
        ),
        (([[1.0]], [1.0]), {"labels": "ab"}, "2 labels were given for 1 points"),
    ],
)
def test_bad_input(arguments: tuple, fields: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        Embedding(*arguments, **fields)
    assert "\n" not in str(error.value)


def test_unknown_model() -> None:
    for model in ("disk", 3, ["klein"]):
        with pytest.raises(ValueError, match="unknown model .*: choose one of poincare, klein, lorentz"):
            random_embedding().coordinates(model)


def test_a_direction_at_the_origin_means_nothing() -> None:
    embedding = Embedding([[1.0, 0.0], [0.0, 0.0], [3.0, 4.0]], [0.0, 0.0, 0.0])
    assert not embedding.directions.any()
    assert not embedding.poincare.any()  # and no warning that they coincide


RIGHT, UP = [1.0, 0.0], [0.0, 1.0]


@pytest.mark.parametrize(
    ("directions", "radii", "poincare", "lorentz"),
    [
        ([RIGHT, UP, UP], [1.0, 2.0, 2.0], 0, 0),  # the same place twice is no loss
        # tanh(r / 2) of these are neighboring floats or equal ones: the ball cannot tell the last two apart.
        ([RIGHT, UP, UP], [1.0, 36.0, 36.0 + 1e-14], 2, 0),
        ([RIGHT, UP, UP, UP], [1.0, 30.0, 30.0 + 1e-14, 30.0], 3, 0),
        # Beyond 37.4, tanh(r / 2) = 1.
        ([RIGHT, UP], [1.0, 40.0], 1, 0),
        ([RIGHT, UP, UP], [1.0, 40.0, 45.0], 2, 0),
        ([RIGHT, RIGHT, UP, UP, UP], [40.0, 41.0, 40.0, 42.0, 42.0], 5, 0),
    ],
)
def test_the_warning_counts_lost_nodes(directions: list, radii: list, poincare: int, lorentz: int) -> None:
    embedding = Embedding(directions, radii)
    for model, expected in (("poincare", poincare), ("lorentz", lorentz)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            embedding.coordinates(model)
        told = [int(str(w.message).split(" of ")[0]) for w in caught]
        assert told == ([expected] if expected else [])


def test_the_warning_points_at_the_caller() -> None:
    embedding = Embedding([RIGHT, UP], [1.0, 40.0])
    for look in (lambda: embedding.poincare, lambda: embedding.coordinates("klein")):
        with pytest.warns(
            UserWarning, match="1 of 2 nodes coincide with others or lie on the edge of the"
        ) as caught:
            look()
        assert [w.filename for w in caught] == [__file__]


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.sampled_from(["poincare", "klein", "lorentz"]),
)
def test_lost_nodes_are_those_of_the_definition(seed: int, n: int, model: str) -> None:
    rng = np.random.default_rng(seed)
    directions = np.array([RIGHT, UP])[rng.integers(2, size=n)]
    radii = rng.choice([0.0, 1.0, 18.0, 18.0 + 4e-15, 30.0, 30.0 + 4e-15, 50.0], n)
    embedding = Embedding(directions, radii)
    points = from_polar(embedding.directions, embedding.radii, model)
    place = [(*d, r) for d, r in zip(embedding.directions.tolist(), radii.tolist(), strict=True)]
    naive = [
        any((points[i] == points[j]).all() and place[i] != place[j] for j in range(n))
        or (model != "lorentz" and np.linalg.norm(points[i]) >= 1)
        for i in range(n)
    ]
    assert embedding._lost(points, model).tolist() == naive
