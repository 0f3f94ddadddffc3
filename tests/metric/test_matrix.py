"""Distance matrices: what is accepted, kept, and refused with one line."""

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import treerep as tr
from treerep.metric.base import MetricError
from treerep.metric.matrix import MatrixMetric

SMALL = np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]])


def symmetric(n: int, seed: int, high: int = 100) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).integers(1, high, size=(n, n)), 1)
    return upper + upper.T


@pytest.mark.parametrize(
    "dtype",
    ["uint8", "int16", "uint16", "int32", "int64", "float16", "float32", "float64", ">f8"],
)
def test_any_real_dtype_is_kept_and_answers_in_float64(dtype: str) -> None:
    metric = MatrixMetric(SMALL.astype(dtype))
    assert metric.distances.dtype == np.dtype(dtype).newbyteorder("=")
    block = metric.block([0, 2], [1, 2, 0])
    assert block.dtype == np.float64
    assert_array_equal(block, [[3, 4, 0], [5, 0, 4]])
    assert_array_equal(metric.pairs([[0, 1]], [[1, 2]]), [[3, 5]])
    assert metric.integral


def test_the_matrix_is_neither_copied_nor_made_writable() -> None:
    matrix = SMALL.astype(np.float64)
    metric = MatrixMetric(matrix)
    assert np.shares_memory(metric.distances, matrix)
    assert matrix.flags.writeable and not metric.distances.flags.writeable


def test_memmap_is_used_in_place(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", symmetric(50, 0))
    mapped = np.load(tmp_path / "d.npy", mmap_mode="r")
    metric = MatrixMetric(mapped)
    assert np.shares_memory(metric.distances, mapped)
    assert_array_equal(metric.block(range(50), range(50)), mapped)


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric))])
def test_copies_and_pickles_hold_one_read_only_matrix(
    twin: Callable[[MatrixMetric], MatrixMetric],
) -> None:
    metric = MatrixMetric(SMALL.astype(np.uint8), labels="abc")
    other = twin(metric)
    assert not other.distances.flags.writeable and not other.oracle.distances.flags.writeable
    assert np.shares_memory(other.distances, other.oracle.distances)
    assert not np.shares_memory(other.distances, metric.distances)
    assert other.labels == metric.labels and other.integral
    assert_array_equal(other.block(range(3), range(3)), SMALL)


@given(st.integers(1, 200), st.integers(0, 5))
def test_integral_means_every_entry_is_whole(n: int, seed: int) -> None:
    whole = symmetric(n, seed).astype(np.float64)
    assert MatrixMetric(whole).integral
    if n > 1:
        i, j = np.random.default_rng(seed).choice(n, 2, replace=False)
        whole[i, j] = whole[j, i] = whole[i, j] + 0.5
        assert not MatrixMetric(whole).integral


def test_floats_that_are_whole_for_want_of_digits_are_not_called_integral() -> None:
    assert MatrixMetric(SMALL * 2.0**40).integral
    assert not MatrixMetric(SMALL * 2.0**50).integral
    assert not MatrixMetric((SMALL * 2.0**22).astype(np.float32)).integral


def test_precision_follows_the_dtype() -> None:
    single = (symmetric(8, 0) * 0.3).astype(np.float32)
    assert MatrixMetric(single).input_eps == np.finfo(np.float32).eps
    assert (
        MatrixMetric(single.astype(np.float64)).input_eps == np.finfo(np.float32).eps
    )  # rounded once, then widened
    assert MatrixMetric(SMALL * 0.3).input_eps == 0
    assert MatrixMetric(SMALL.astype(np.uint8)).input_eps == 0


def test_rounding_before_the_input_leaves_the_precision_of_sums() -> None:
    assert MatrixMetric((SMALL * 0.3).astype(np.float32)).eps == np.finfo(np.float64).eps


@pytest.mark.parametrize("digits", [3, 6, 9])
def test_rounding_to_digits_is_seen(digits: int) -> None:
    distances = np.linalg.norm(
        np.random.default_rng(0).uniform(1, 9, size=(40, 1, 3)) - np.eye(40)[:, None, :3],
        axis=-1,
    )
    distances = np.abs(distances - distances.T) + 2.0 * (1 - np.eye(40))
    rounded = MatrixMetric(np.round(distances, digits))
    assert rounded.input_eps == pytest.approx(0.5 * 10.0**-digits / np.round(distances, digits).max())
    assert MatrixMetric(distances).input_eps == 0
    # Tables in which single steps matter are taken as exact.
    assert MatrixMetric(0.1 * SMALL).input_eps == 0


@pytest.mark.parametrize("step", [1e-3, 2.0**-9])
def test_a_tree_metric_with_few_digits_is_not_called_rounded(step: float) -> None:
    # The tree ((0, 1), (2, 3)) with leaves of 2,000 steps and an inner edge of two steps.
    steps = np.array(
        [
            [0, 4000, 4002, 4002],
            [4000, 0, 4002, 4002],
            [4002, 4002, 0, 4000],
            [4002, 4002, 4000, 0],
        ]
    )
    assert MatrixMetric(np.round(steps * step, 9)).input_eps == 0
    steps[0, 2] = steps[2, 0] = 4003
    assert MatrixMetric(np.round(steps * step, 9)).input_eps > 0


def test_distances_whose_sums_overflow_are_refused() -> None:
    with pytest.raises(MetricError, match="overflow: rescale the distances"):
        MatrixMetric(SMALL * 3e307)


BAD_ENTRIES = [
    ((2, 5), np.nan, "d(2, 5) is nan: replace or drop"),
    ((2, 5), np.inf, "d(2, 5) is inf: replace or drop"),
    ((2, 5), -1.0, "d(2, 5) is -1.0, but distances are never negative"),
    ((4, 4), 1.0, "d(4, 4) is 1.0, but the distance of a point to itself is 0"),
    ((2, 5), 999.0, "symmetrize='mean'"),
]


@pytest.mark.parametrize("n", [8, 150])  # one tile, several tiles
@pytest.mark.parametrize(("entry", "value", "message"), BAD_ENTRIES)
def test_the_first_bad_entry_is_named(n: int, entry: tuple[int, int], value: float, message: str) -> None:
    matrix = symmetric(n, 1).astype(np.float64)
    matrix[entry] = value
    with pytest.raises(MetricError, match=re.escape(message)) as error:
        MatrixMetric(matrix)
    assert "\n" not in str(error.value)


@given(st.integers(0, 129), st.integers(0, 129), st.sampled_from([np.nan, np.inf, -2.0, 5000.0]))
def test_one_bad_entry_anywhere_is_found(i: int, j: int, value: float) -> None:
    matrix = symmetric(130, 2).astype(np.float64)
    matrix[i, j] = value
    with pytest.raises(MetricError, match=rf"d\(({i}, {j}|{j}, {i})\)"):
        MatrixMetric(matrix)


def test_minus_zero_is_zero() -> None:
    matrix = symmetric(5, 0).astype(np.float64)
    matrix[0, 0] = matrix[1, 2] = matrix[2, 1] = -0.0
    assert MatrixMetric(matrix).pairs(1, 2) == 0.0


def test_rounding_asymmetry_is_accepted_and_symmetrize_averages() -> None:
    matrix = symmetric(10, 3).astype(np.float64)
    matrix[2, 3] *= 1 + 1e-12
    MatrixMetric(matrix)
    matrix[2, 3] = 50.0
    matrix[3, 2] = 60.0
    averaged = MatrixMetric(matrix, symmetrize="mean")
    assert averaged.pairs([2, 3], [3, 2]).tolist() == [55.0, 55.0]
    assert matrix[2, 3] == 50.0
    with pytest.raises(ValueError, match="symmetrize must be 'mean'"):
        MatrixMetric(matrix, symmetrize="max")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            np.full((2, 3), 0.5),
            "expected a square distance matrix, got 2 x 3: for points add metric='euclidean'",
        ),
        (np.zeros(6), "squareform"),
        (np.zeros((0, 0)), "empty"),
        (np.zeros((2, 2, 2)), "2 x 2 x 2"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.array([["a", "b"], ["c", "d"]]), "not supported"),
    ],
)
def test_what_is_no_matrix_is_refused(data: np.ndarray, message: str) -> None:
    with pytest.raises(MetricError, match=re.escape(message)):
        MatrixMetric(data)


def test_labels() -> None:
    assert MatrixMetric(SMALL, labels=["a", 2, "c"]).labels == ("a", "2", "c")
    with pytest.raises(MetricError, match="points 0 and 2 share the label 'a'"):
        MatrixMetric(SMALL, labels=["a", "b", "a"])
    with pytest.raises(MetricError, match="2 labels were given for 3 points"):
        MatrixMetric(SMALL, labels=["a", "b"])


def test_indices_outside_are_refused() -> None:
    metric = MatrixMetric(SMALL)
    with pytest.raises(IndexError, match="point 3 does not exist: the 3 points"):
        metric.pairs([0], [3])
    with pytest.raises(IndexError, match="point -1 does not exist"):
        metric.block([-1], [0])
    with pytest.raises(IndexError, match="integer indices"):
        metric.pairs([0.5], [1])
    assert metric.block([], [0]).shape == (0, 1)


def test_symmetric_tells_whether_every_entry_equals_its_mirror_image():
    distances = tr.datasets.random_tree(70).distances()
    assert MatrixMetric(distances).symmetric
    for i, j in ((3, 1), (1, 3), (69, 68), (65, 2)):  # in a tile and in different tiles
        uneven = distances.copy()
        uneven[i, j] = np.nextafter(uneven[i, j], np.inf)
        assert not MatrixMetric(uneven).symmetric
    assert MatrixMetric(distances.astype(np.float32)).symmetric
