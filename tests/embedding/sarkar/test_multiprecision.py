"""Coordinates in many bits, and what float64 loses."""

import sys
import warnings

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

import treerep as tr
from tests.embedding.sarkar.frames import lorentz_points, random_frames
from treerep.embedding.tree_embedding import TreeEmbedding


@pytest.mark.parametrize("dim", [2, 4])
def test_against_the_twin(dim: int) -> None:
    frames = random_frames(np.random.default_rng(dim), 15, dim)
    embedding = TreeEmbedding(*frames, scale=40.0)
    points = embedding.coordinates("lorentz", precision=300)
    with mpmath.workprec(1500):
        for found, expected in zip(points, lorentz_points(*frames, 40.0), strict=True):
            size = mpmath.norm(expected)
            assert all(
                abs(a - b) < size * mpmath.mpf(2) ** -290 for a, b in zip(found, expected, strict=True)
            )


def test_few_bits_see_the_same_turns() -> None:
    # The turns of these nodes are e_1 but for rounding, and are reflections all the same.
    turns = [[1.0, 0.0], [1.0, 1e-16], [1.0, -2e-16], [0.0, 1.0]]
    embedding = TreeEmbedding([-1, 0, 1, 2], [0.0, 1.0, 1.0, 1.0], turns)
    assert_allclose(
        embedding.coordinates("poincare", precision=20).astype(float),
        embedding.poincare,
        atol=1e-5,
    )


@pytest.mark.parametrize("size", [6e-17, 1e-20, 1e-25])
def test_small_turns_cost_no_bits(size: float) -> None:
    rng = np.random.default_rng(0)
    parent, weights, turns = random_frames(rng, 12, 3, path=True)
    turns[1:9] = np.column_stack([np.ones(8), size * rng.standard_normal((8, 2))])
    points = TreeEmbedding(parent, weights, turns).coordinates("lorentz", precision=120)
    with mpmath.workprec(2000):
        for found, expected in zip(points, lorentz_points(parent, weights, turns, 1.0), strict=True):
            assert all(
                abs(a - b) < expected[0] * mpmath.mpf(2) ** -118 for a, b in zip(found, expected, strict=True)
            )


def test_models_agree_with_each_other_and_with_float64() -> None:
    embedding = tr.embed(tr.datasets.random_tree(20, hidden=0.5), dim=3, scale=1.0)
    for model in ("poincare", "klein", "lorentz"):
        precise = embedding.coordinates(model, precision=120)
        assert precise.shape == getattr(embedding, model).shape
        assert_allclose(
            precise.astype(float),
            getattr(embedding, model),
            rtol=0,
            atol=1e-13 * np.cosh(embedding.radii.max()),
        )
    points = np.arange(20)
    for again in (
        tr.Embedding.from_poincare(embedding.poincare, n_points=20),
        tr.Embedding.from_lorentz(embedding.lorentz, n_points=20),
    ):
        assert_allclose(again.block(points, points), embedding.block(points, points), rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("model", ["poincare", "klein", "lorentz"])
def test_automatic_bits_keep_distances(model: str) -> None:
    embedding = tr.embed(tr.datasets.random_tree(15, weights=(1, 1)), scale=64.0)
    points = embedding.coordinates(model, precision="auto")
    expected = embedding.block(range(15), range(15)) * 64
    with mpmath.workprec(4000):
        for i in range(15):
            for j in range(i):
                assert float(distance(points[i], points[j], model)) == pytest.approx(expected[i, j], rel=1e-9)


def distance(x, y, model: str):
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    if model == "lorentz":
        return mpmath.acosh(2 * x[0] * y[0] - dot)
    left, right = (1 - sum(a * a for a in point) for point in (x, y))
    if model == "klein":
        return mpmath.acosh((1 - dot) / mpmath.sqrt(left * right))
    apart = sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
    return mpmath.acosh(1 + 2 * apart / (left * right))


def test_float64_says_what_it_loses() -> None:
    embedding = tr.embed(tr.datasets.random_tree(50, weights=(1, 1)), scale=64.0)
    with pytest.warns(UserWarning, match=r"49 of 50 nodes coincide with others or lie on the edge"):
        embedding.coordinates("poincare")
    with pytest.raises(
        ValueError,
        match="cosh overflows float64 there: use a smaller scale or set precision to a number of bits",
    ):
        tr.embed(tr.datasets.random_tree(50, weights=(1, 1)), scale=640.0).coordinates("lorentz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = tr.embed(tr.datasets.random_tree(50, weights=(1, 1)), scale=1.0).poincare
    assert len(np.unique(small, axis=0)) == 50


@pytest.mark.parametrize("precision", [1, -5, 2.5, "many", True])
def test_no_number_of_bits(precision) -> None:
    with pytest.raises(ValueError, match='precision must be a number of bits or "auto"'):
        tr.embed(tr.datasets.random_tree(3)).coordinates("poincare", precision=precision)


def test_too_many_bits() -> None:
    embedding = tr.embed(tr.datasets.random_tree(3), scale=1e200)
    with pytest.raises(
        MemoryError,
        match=r"3 nodes with .* bits needs .*: use fewer bits or a smaller scale",
    ):
        embedding.coordinates("poincare", precision="auto")


def test_unknown_model() -> None:
    with pytest.raises(ValueError, match="unknown model 'disc': choose one of poincare, klein, lorentz"):
        tr.embed(tr.datasets.random_tree(3)).coordinates("disc", precision=60)


def test_without_the_library(monkeypatch) -> None:
    embedding = tr.embed(tr.datasets.random_tree(3))
    monkeypatch.setitem(sys.modules, "mpmath", None)
    with pytest.raises(
        ImportError,
        match=r"this needs mpmath, which is not installed: pip install 'treerep\[precision\]'",
    ):
        embedding.coordinates("poincare", precision=100)


def test_one_point() -> None:
    embedding = TreeEmbedding([-1], [0.0], [[1.0, 0.0]])
    assert embedding.coordinates("lorentz", precision="auto").astype(float).tolist() == [[1, 0, 0]]
    assert embedding.poincare.tolist() == [[0, 0]]
