import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treerep.backends.torch._rectangles import rectangles


@given(n=st.integers(0, 150), entries=st.sampled_from([1, 60, 500, 10**6]))
def test_every_pair_is_in_one_rectangle(n, entries):
    met = np.zeros((n, n), int)
    for piece in rectangles(n, entries):
        np.add.at(met, (piece.rows[:, :, None], piece.cols[:, None, :]), 1)
        assert (piece.cols[:, 0] == piece.rows[:, -1] + 1).all()
        assert (np.diff(piece.rows, axis=1) == 1).all() and (np.diff(piece.cols, axis=1) == 1).all()
    assert np.array_equal(met, np.triu(np.ones((n, n), int), 1))


@pytest.mark.parametrize("n", [5000, 70_000])
def test_rectangles_are_few_and_keep_to_their_size(n):
    sizes = [piece.rows.size * piece.cols.shape[1] for piece in rectangles(n, 1 << 22)]
    assert sum(sizes) == n * (n - 1) // 2
    assert max(sizes) <= max(1 << 22, 64 * n)
    assert len(sizes) < n // 16
