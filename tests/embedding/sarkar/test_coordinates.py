"""Coordinates in three models, and what float64 loses."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import treerep as tr
from treerep.embedding.tree_embedding import TreeEmbedding


def test_models_agree_with_each_other() -> None:
    embedding = tr.embed(tr.datasets.random_tree(20, hidden=0.5), dim=3, scale=1.0)
    points = np.arange(20)
    for again in (
        tr.Embedding.from_poincare(embedding.poincare, n_points=20),
        tr.Embedding.from_lorentz(embedding.lorentz, n_points=20),
    ):
        assert_allclose(again.block(points, points), embedding.block(points, points), rtol=1e-9, atol=1e-7)


def test_float64_says_what_it_loses() -> None:
    embedding = tr.embed(tr.datasets.random_tree(50, weights=(1, 1)), scale=64.0)
    with pytest.warns(UserWarning, match=r"49 of 50 nodes coincide with others or lie on the edge"):
        embedding.coordinates("poincare")
    with pytest.raises(
        ValueError,
        match="cosh overflows float64 there: use a smaller scale",
    ):
        tr.embed(tr.datasets.random_tree(50, weights=(1, 1)), scale=640.0).coordinates("lorentz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = tr.embed(tr.datasets.random_tree(50, weights=(1, 1)), scale=1.0).poincare
    assert len(np.unique(small, axis=0)) == 50


def test_one_point() -> None:
    embedding = TreeEmbedding([-1], [0.0], [[1.0, 0.0]])
    assert embedding.lorentz.tolist() == [[1, 0, 0]]
    assert embedding.poincare.tolist() == [[0, 0]]
