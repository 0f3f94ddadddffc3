"""`MatrixMetric(missing=True)`: pairs that were not measured."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from treerep import MatrixMetric, MetricError, as_metric
from treerep.metric.base import BadEntryError
from treerep.metric.oracle.distance_kernels import pair_distances

NAN = float("nan")
SQUARE = np.array([[0, 3, 4], [3, 0, NAN], [4, NAN, 0]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_missing_pairs_are_nan(dtype):
    metric = MatrixMetric(SQUARE.astype(dtype), missing=True)
    for same in (metric, pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):
        assert same.has_missing
        np.testing.assert_array_equal(same.block([0, 1, 2], [0, 1, 2]), SQUARE)
        np.testing.assert_array_equal(same.pairs([0, 1], [1, 2]), [3, NAN])


def test_kernels_never_read_a_missing_distance():
    metric = MatrixMetric(SQUARE, missing=True)
    first = np.array([1])
    first.flags.writeable = False
    second = np.array([2])
    second.flags.writeable = False
    with pytest.raises(BadEntryError):
        pair_distances(metric.oracle, first, second, np.empty(1))


def test_data_of_other_kinds():
    frame = pd.DataFrame(SQUARE, index=list("abc"), columns=list("abc"))
    assert as_metric(frame, missing=True).labels == ("a", "b", "c")
    with pytest.raises(ValueError, match="missing=True does not apply to points"):
        as_metric(SQUARE, metric="euclidean", missing=True)
    with pytest.raises(ValueError, match="missing must be True or False"):
        MatrixMetric(SQUARE, missing="yes")
    assert not MatrixMetric([[0, 1], [1, 0]], missing=True).has_missing


@pytest.mark.parametrize(
    ("square", "message"),
    [
        ([[0, 3], [NAN, 0]], r"d\(1, 0\) is missing but d\(0, 1\) is 3.0: use the same"),
        ([[NAN, 3], [3, 0]], r"d\(0, 0\) is missing, but"),
        ([[0, NAN, -1], [NAN, 0, 1], [-1, 1, 0]], r"d\(0, 2\) is -1.0, but"),
        ([[0, NAN, np.inf], [NAN, 0, 1], [np.inf, 1, 0]], r"d\(0, 2\) is inf"),
        ([[0, NAN, 1], [NAN, 0, 1], [2, 1, 0]], "not symmetric"),
    ],
)
def test_errors(square, message):
    with pytest.raises(MetricError, match=message):
        MatrixMetric(square, missing=True)


def test_the_mean_of_two_triangles():
    metric = MatrixMetric([[0, 1, NAN], [3, 0, 1], [NAN, 1, 0]], missing=True, symmetrize="mean")
    assert metric.pairs(0, 1) == 2


def test_large_files_must_be_loaded_first(tmp_path, monkeypatch):
    from treerep.metric.disk import mapped

    monkeypatch.setattr(mapped, "LARGE", 1)
    np.save(tmp_path / "d.npy", SQUARE)
    with pytest.raises(MetricError, match=r"missing=True needs all .*: load the file"):
        MatrixMetric(np.load(tmp_path / "d.npy", mmap_mode="r"), missing=True)
