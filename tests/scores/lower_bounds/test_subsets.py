import itertools
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treerep.scores.lower_bounds.subsets import cover_pairs, cover_size, random_subsets


@given(st.integers(3, 90), st.integers(4, 32), st.integers(0, 9))
def test_a_cover_contains_every_pair(n, points, seed):
    cover = cover_pairs(n, points, np.random.default_rng(seed))
    assert len(cover.subsets) == cover_size(n, points)
    seen = Counter(pair for subset in cover.subsets for pair in itertools.combinations(subset.tolist(), 2))
    for i, j in itertools.combinations(range(n), 2):
        same = cover.cells[i] == cover.cells[j]
        assert seen[i, j] == (cover.repeats if same else 1)


def test_nine_points_by_hand():
    # The affine plane of order 3 has 12 lines of 3 points.
    cover = cover_pairs(9, 3, np.random.default_rng(0))
    assert [len(subset) for subset in cover.subsets] == [3] * 12


def test_sizes_are_near_the_request():
    cover = cover_pairs(500, 30, np.random.default_rng(0))
    sizes = [len(subset) for subset in cover.subsets]
    assert 20 < np.mean(sizes) <= 33
    assert max(sizes) <= 45


def test_random_subsets_are_uniform():
    rng = np.random.default_rng(0)
    counts = Counter(tuple(subset) for subset in random_subsets(5, 2, 5_000, rng))
    assert len(counts) == 10
    # 500 each, with a standard deviation of 21
    assert all(400 < count < 600 for count in counts.values())
