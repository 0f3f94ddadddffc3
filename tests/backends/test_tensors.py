"""Tensors of torch are welcome wherever arrays are."""

import numpy as np
import pytest

import treerep as tr
from tests.backends.devices import DEVICE

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

D = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("device", sorted({"cpu", DEVICE}))
def test_distances(dtype, device):
    import torch

    metric = tr.as_metric(torch.tensor(D, dtype=getattr(torch, dtype), device=device), labels=["a", "b", "c"])
    assert isinstance(metric, tr.MatrixMetric) and metric.labels == ("a", "b", "c")
    assert metric.block(range(3), range(3)).tolist() == D


def test_points_with_a_gradient_and_parameters():
    import torch

    x = np.random.default_rng(0).normal(size=(9, 2))
    for tensor in (
        torch.tensor(x, device=DEVICE, requires_grad=True),
        torch.nn.Parameter(torch.tensor(x)),
    ):
        assert tr.fit(tensor, metric="euclidean", method="treerep") == tr.fit(
            x, metric="euclidean", method="treerep"
        )
        tree, d = tr.fit(x, metric="euclidean", method="treerep"), torch.cdist(tensor, tensor)
        score = tr.average_distortion(tree, tr.PointMetric(x))
        assert float(tr.average_distortion(tree, d)) == pytest.approx(float(score), rel=1e-12)


def test_what_cannot_be_read_says_so():
    import torch

    with pytest.raises(
        TypeError,
        match=r"a sparse tensor cannot be used as distances or points: pass tensor.to_dense\(\)",
    ):
        tr.as_metric(torch.eye(3).to_sparse())
    with pytest.raises(tr.MetricError, match="complex128 are not supported"):
        tr.as_metric(torch.zeros((3, 3), dtype=torch.complex128))
    with pytest.raises(ValueError, match="symmetrize='mean' does not apply to points"):
        tr.as_metric(torch.eye(3), metric="euclidean", symmetrize="mean")
