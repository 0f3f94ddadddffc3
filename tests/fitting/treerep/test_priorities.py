"""Priorities: a random permutation, of which any part can be had."""

import numpy as np
import pytest

from treerep.fitting.treerep._priorities import Priorities

LARGE = (1 << 20) + 12_345  # beyond what is shuffled


def priorities(n: int, seed: int = 0) -> Priorities:
    return Priorities(n, np.random.default_rng(seed))


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
def test_few_points_are_shuffled(n: int) -> None:
    expected = np.random.default_rng(3).permutation(n)
    np.testing.assert_array_equal(priorities(n, 3).of_points(0, n), expected)


@pytest.mark.parametrize("n", [1000, LARGE, 1 << 21, (1 << 21) + 1])
def test_they_are_a_permutation_and_its_inverse(n: int) -> None:
    mine = priorities(n)
    ranks = mine.of_points(0, n)
    assert ranks.dtype == np.int32
    assert np.bincount(ranks, minlength=n).max() == 1
    np.testing.assert_array_equal(mine.points_at(ranks.astype(np.int64)), np.arange(n))


def test_parts_are_parts_of_the_whole() -> None:
    whole = priorities(LARGE).of_points(0, LARGE)
    for start, stop in [(0, 1), (123_456, 200_001), (LARGE - 5, LARGE)]:
        np.testing.assert_array_equal(priorities(LARGE).of_points(start, stop), whole[start:stop])


def test_seeds_differ() -> None:
    assert not np.array_equal(priorities(LARGE, 1).of_points(0, 100), priorities(LARGE, 2).of_points(0, 100))


def test_many_points_are_as_good_as_shuffled() -> None:
    """Over many seeds: who comes first is spread evenly, and so is the rank of any point; neighbors are unrelated."""
    first = np.array([priorities(LARGE, seed).points_at(np.arange(2)) for seed in range(600)])
    rank = np.array([priorities(LARGE, seed).of_points(777, 779) for seed in range(600)])
    for sample in (
        *first.T,
        *rank.T,
        (first[:, 1] - first[:, 0]) % LARGE,
        (rank[:, 1] - rank[:, 0]) % LARGE,
    ):
        counts = np.histogram(sample, bins=10, range=(0, LARGE))[0]
        # Chi-squared with 9 degrees of freedom: beyond 33 once in ten thousand.
        assert ((counts - 60) ** 2 / 60).sum() < 33


def test_any_stretch_of_points_has_evenly_spread_ranks() -> None:
    ranks = priorities(LARGE).of_points(0, LARGE)
    for start in range(0, LARGE - 4096, 99_991):
        counts = np.histogram(ranks[start : start + 4096], bins=16, range=(0, LARGE))[0]
        assert ((counts - 256) ** 2 / 256).sum() < 50  # 15 degrees of freedom
