import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treerep.datasets import random_alignment


def codes(alignment):
    return np.array([["ACGT".index(letter) for letter in text] for text in alignment.sequences])


@given(st.integers(2, 30), st.integers(1, 40), st.floats(0, 0.9), st.integers(0, 99))
def test_every_taxon_is_a_leaf_with_a_sequence(n, sites, extinction, seed):
    alignment = random_alignment(n, sites=sites, extinction=extinction, rng=seed)
    assert [len(text) for text in alignment.sequences] == [sites] * n
    assert len(alignment.tree) == n
    assert (alignment.tree.degrees[:n] == 1).all()
    assert (alignment.tree.weights >= 0).all()
    again = random_alignment(n, sites=sites, extinction=extinction, rng=seed)
    assert again.sequences == alignment.sequences
    assert again.tree == alignment.tree


@pytest.mark.parametrize("kappa", [1.0, 6.0])
def test_differences_follow_the_model(kappa):
    """Compare with the expected shares of Kimura (1980) at 100,000 sites, within five standard errors."""
    sites = 100_000
    alignment = random_alignment(5, sites=sites, depth=0.4, kappa=kappa, rng=1)
    letters = codes(alignment)
    for i in range(5):
        for j in range(i):
            beta = alignment.tree.pairs(i, j) / (kappa + 2)
            transition = 0.25 + 0.25 * np.exp(-4 * beta) - 0.5 * np.exp(-2 * (kappa + 1) * beta)
            transversion = 0.5 - 0.5 * np.exp(-4 * beta)
            change = letters[i] ^ letters[j]
            for share, expected in (
                ((change == 2).mean(), transition),
                ((change % 2 == 1).mean(), transversion),
            ):
                assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / sites)


def test_depth_is_the_mean_distance_from_the_root():
    # Rates have mean 1, so over many branches the tallest tip is near `depth`.
    heights = []
    for seed in range(40):
        tree = random_alignment(20, sites=1, depth=2.0, rng=seed).tree
        heights.append(tree.block(np.arange(20), np.arange(20)).max() / 2)
    assert 1.5 < np.mean(heights) < 3.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "at least 2"),
        ({"n": 5, "sites": 0}, "sites"),
        ({"n": 5, "depth": 0.0}, "depth must be a positive"),
        ({"n": 5, "extinction": 1.0}, "below 1"),
        ({"n": 5, "kappa": -1.0}, "kappa must be a positive"),
    ],
)
def test_bad_arguments_are_named(options, message):
    n = options.pop("n")
    with pytest.raises(ValueError, match=message):
        random_alignment(n, **options)
