"""Linkage by nearest-neighbor chains: the same bits as an implementation that keeps the whole matrix up to date."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import treerep as tr
from tests.strategies import any_symmetric, integer_metrics
from treerep.fitting.rooted._linkage import link_matrix, link_metric


def eager_linkage(d: np.ndarray, complete: bool) -> list[tuple[int, int, float]]:
    """Nearest-neighbor chains on the entries above the diagonal, with one eager update per merge."""
    matrix = np.triu(d, 1) + np.triu(d, 1).T
    np.fill_diagonal(matrix, np.inf)
    size = np.ones(len(d))
    chain: list[int] = []
    merges = []
    while len(merges) < len(d) - 1:
        chain = chain or [int(np.flatnonzero(size)[0])]
        while True:
            row = matrix[chain[-1]]
            nearest = int(np.argmin(row))
            if len(chain) > 1 and row[chain[-2]] == row[nearest]:
                break
            chain.append(nearest)
        x, y = chain.pop(), chain.pop()
        merges.append((x, y, float(matrix[x, y])))
        share = size[x] / (size[x] + size[y])
        low, high = np.minimum(matrix[x], matrix[y]), np.maximum(matrix[x], matrix[y])
        mean = np.clip(share * matrix[x] + (1 - share) * matrix[y], low, high)
        matrix[y] = matrix[:, y] = high if complete else mean
        matrix[x] = matrix[:, x] = matrix[y, y] = np.inf
        size[y] += size[x]
        size[x] = 0
    return sorted(merges, key=lambda merge: merge[2])


def as_list(merges: tuple[np.ndarray, ...]) -> list[tuple[int, int, float]]:
    return list(zip(*(part.tolist() for part in merges), strict=True))


def random_matrix(n: int, kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "points":
        x = rng.normal(size=(n, 3))
        return np.linalg.norm(x[:, None] - x[None], axis=-1)
    d = np.triu(rng.integers(1, 5, (n, n)).astype(float), 1)
    return d + d.T


@given(
    st.one_of(
        any_symmetric(),
        integer_metrics(),
        st.builds(
            random_matrix,
            st.integers(2, 60),
            st.sampled_from(["points", "ties"]),
            st.integers(0, 2**32 - 1),
        ),
    ),
    st.booleans(),
)
def test_the_same_merges_as_with_a_matrix_that_is_always_up_to_date(d: np.ndarray, complete: bool) -> None:
    d = np.asarray(d, np.float64)
    if len(d) < 2:
        return
    expected = eager_linkage(d, complete)
    assert as_list(link_matrix(d.copy(), complete)) == expected
    if not complete:
        assert as_list(link_metric(tr.MatrixMetric(d), "upgma")) == expected


@pytest.mark.parametrize("n", [17, 130])
def test_a_chain_of_all_points(n: int) -> None:
    # The gaps shrink, so the first chain visits every point: all rows are in use at once.
    x = -(1.01 ** -np.arange(n))
    d = np.abs(x[:, None] - x[None])
    assert as_list(link_metric(tr.MatrixMetric(d), "upgma")) == eager_linkage(d, False)


@pytest.mark.parametrize("n", [2, 3, 400, 1100])
def test_heights_are_scipys(n: int) -> None:
    d = random_matrix(n, "points", n)
    for complete in (False, True):
        _, _, height = link_matrix(d.copy(), complete)
        expected = linkage(squareform(d), "complete" if complete else "average")[:, 2]
        assert_allclose(height, expected, rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_entries_below_the_diagonal_are_not_read(n_jobs: int) -> None:
    for n in (40, 1100):
        d = random_matrix(n, "points", 0)
        uneven = d * np.where(np.tri(n, dtype=bool), 1 + 1e-10, 1)
        assert (uneven != uneven.T).any()
        merges = link_metric(tr.MatrixMetric(uneven), "upgma", n_jobs)
        for found, expected in zip(merges, link_metric(tr.MatrixMetric(d), "upgma"), strict=True):
            assert_array_equal(found, expected)


def test_one_uneven_pair_is_found() -> None:
    # A pair in each corner of the matrix: a row that is copied would give another height.
    n = 600
    for i, j in ((0, 1), (0, n - 1), (n - 2, n - 1)):
        d = np.full((n, n), 2.0)
        np.fill_diagonal(d, 0)
        d[i, j] = 1.0
        d[j, i] = 1.0 + 1e-9
        first, second, height = link_metric(tr.MatrixMetric(d), "upgma")
        assert ({int(first[0]), int(second[0])}, height[0]) == ({i, j}, 1.0)
