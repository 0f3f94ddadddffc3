import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests.backends.devices import DEVICE
from tests.strategies import any_symmetric, integer_metrics
from treerep.backends.torch import _rectangles as torch_rectangles
from treerep.backends.torch._max_min import max_min_rows

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

FIELDS = ("low", "high", "exact", "witness", "diameter", "relative", "method", "mean")


def assert_same(data, **options):
    ours = tr.hyperbolicity(data, method="base", **options)
    theirs = tr.hyperbolicity(data, method="base", device=DEVICE, **options)
    assert float(theirs) == float(ours)
    assert [getattr(theirs, name) for name in FIELDS] == [getattr(ours, name) for name in FIELDS]


@settings(max_examples=30)
@given(
    data=st.one_of(integer_metrics(), any_symmetric()),
    bases=st.integers(1, 3),
    entries=st.sampled_from([1, 400]),
)
def test_the_same_as_by_threads(data, bases, entries):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_rectangles, "CPU_ENTRIES", entries)
        assert_same(tr.MatrixMetric(data), bases=bases)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_points(n):
    assert_same(np.ones((n, n)) - np.eye(n))


def test_a_square_by_hand():
    square = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
    found = tr.hyperbolicity(square, method="base", device="cpu")
    assert float(found) == 1.0 and sorted(found.witness) == [0, 1, 2, 3] and found.method == "base"


def test_graphs_points_and_several_tasks_of_rows():
    assert_same(nx.grid_2d_graph(9, 9), normalize=True)
    assert_same(nx.cycle_graph(150))
    assert_same(tr.PointMetric(np.random.default_rng(0).normal(size=(150, 4))), bases=2)


def test_more_columns_than_a_strip():
    # Two blocks of ties, beyond the first 2,048 columns and within: the threads' first pair is the witness.
    rng = np.random.default_rng(1)
    d = np.triu(rng.integers(1, 3, size=(2100, 2100)).astype(np.uint8), 1)
    assert_same(tr.MatrixMetric(d + d.T), bases=1)


@given(n=st.integers(1, 30), seed=st.integers(0, 100), real=st.booleans())
def test_products_over_max_and_min(n, seed, real):
    import torch

    rng = np.random.default_rng(seed)
    p = rng.normal(size=(n, n)) if real else rng.integers(0, 9, size=(n, n)).astype(np.int32)
    p = np.maximum(p, p.T)
    first, last = sorted((seed % n, n))
    expected = np.minimum(p[first:last, :, None], p[None, :, first:]).max(axis=1)
    found = max_min_rows(torch.from_numpy(p).to(DEVICE), first, last)  # by Triton on a GPU
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_other_methods_say_so():
    with pytest.raises(ValueError, match="method='auto' does not run with device='cpu': use 'base'"):
        tr.hyperbolicity(np.ones((5, 5)) - np.eye(5), device="cpu")
