"""Backbone trees on a device are those of the threads, bit for bit where distances are."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treerep as tr
from tests import trees
from tests.backends.devices import DEVICE
from tests.strategies import tree_metrics
from treerep.backends.torch.backbone import _branches as torch_branches
from treerep.refinement.backbone import _branches as branches
from treerep.refinement.backbone import build as backbone
from treerep.refinement.backbone._limits import Limits

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]


@pytest.fixture
def small_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few points make zones that are split, and no fit of lengths hides where they were placed."""
    for module in (branches, torch_branches):
        monkeypatch.setattr(module, "LARGEST", 32)
        monkeypatch.setattr(module, "CENTERS", 8)
    monkeypatch.setattr(backbone, "LIMITS", Limits(fitted_points=0))


def assert_same(data: object, size: int, **options: object) -> None:
    ours, theirs = (
        tr.fit(data, method="backbone", size=size, **given, **options) for given in ({}, {"device": DEVICE})
    )
    trees.assert_same(ours, theirs)


@pytest.mark.usefixtures("small_zones")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_points_give_the_same_tree(metric: str, dtype: str) -> None:
    assert_same(np.random.default_rng(0).normal(size=(700, 11)).astype(dtype), 20, metric=metric, rng=1)


@pytest.mark.usefixtures("small_zones")
def test_matrices_give_the_same_tree() -> None:
    half = np.triu(np.random.default_rng(1).integers(1, 40, size=(200, 200)), 1)
    assert_same((half + half.T).astype("uint8"), 15, rng=2)


@pytest.mark.usefixtures("small_zones")
@pytest.mark.parametrize("metric", ["cosine", "poincare"])
def test_points_whose_distances_round_otherwise(metric: str) -> None:
    points = np.random.default_rng(0).uniform(-0.3, 0.3, size=(300, 5))
    options = {"metric": metric, "method": "backbone", "size": 20, "rng": 1}
    trees = tr.fit(points, **options), tr.fit(points, device=DEVICE, **options)
    ours, theirs = (tr.average_distortion(tree, tr.PointMetric(points, metric)) for tree in trees)
    assert theirs == pytest.approx(ours, abs=1e-3)


@pytest.mark.usefixtures("small_zones")
def test_duplicates_are_together() -> None:
    rng = np.random.default_rng(3)
    assert_same(np.round(rng.normal(size=(800, 2)) * 1.5), 12, metric="manhattan", rng=3)
    heap = np.zeros((300, 3))  # more in one place than a zone holds
    heap[:40] = rng.normal(size=(40, 3))
    assert_same(rng.permutation(heap), 10, metric="euclidean", rng=1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_few_points(n: int) -> None:
    assert_same(np.random.default_rng(n).normal(size=(n, 2)), 4, metric="euclidean", rng=0)


def test_lengths_are_fitted_and_a_generator_moves_on() -> None:
    points, here, there = (
        np.random.default_rng(0).normal(size=(300, 5)),
        *map(np.random.default_rng, (7, 7)),
    )
    ours = tr.fit(points, metric="euclidean", method="backbone", size=30, rng=here)
    theirs = tr.fit(points, metric="euclidean", method="backbone", size=30, rng=there, device=DEVICE)
    assert ours == theirs
    assert here.integers(1 << 40) == there.integers(1 << 40)


@given(tree_metrics(), st.integers(3, 45), st.integers(0, 3))
@settings(max_examples=20)
def test_tree_metrics_are_recovered(distances: np.ndarray, size: int, seed: int) -> None:
    tree = tr.fit(distances, method="backbone", size=size, rng=seed, device=DEVICE)
    np.testing.assert_allclose(tree.distances(), distances, rtol=1e-9, atol=1e-13 * distances.max())
    assert tree.n_nodes == tr.fit(distances).n_nodes


def test_tensors_and_labels() -> None:
    import torch

    points = np.random.default_rng(0).normal(size=(200, 4)).astype("float32")
    tree = tr.fit(points, metric="euclidean", method="backbone", size=20, rng=1)
    there = torch.from_numpy(points).to(DEVICE)
    assert tr.fit(there, metric="euclidean", method="backbone", size=20, rng=1, device=DEVICE) == tree
    named = tr.PointMetric(points, labels=[f"cell {k}" for k in range(200)])
    assert_same(named, 20, rng=1)


def test_bad_requests() -> None:
    with pytest.raises(ValueError, match="at least 3, got 2"):
        tr.fit(np.zeros((9, 2)), metric="euclidean", method="backbone", size=2, device=DEVICE)
    with pytest.raises(ValueError, match="a GraphMetric cannot be evaluated on a device"):
        tr.fit(tr.GraphMetric([[0, 1], [1, 2], [2, 3]]), method="backbone", device=DEVICE)
    with pytest.raises(ValueError, match="does not run on a device: use one of treerep, auto, backbone"):
        tr.fit(np.zeros((9, 9)), method="upgma", device=DEVICE)
    bad = np.zeros((9, 2))
    bad[4, 1] = np.nan
    with pytest.raises(tr.MetricError, match="coordinate 1 of point 4 is nan"):
        tr.fit(bad, metric="euclidean", method="backbone", device=DEVICE)


# The Triton kernels, which Triton's interpreter runs where there is no GPU.

SCRIPT = """
import numpy as np
import treerep as tr
from treerep.refinement.backbone import _branches as branches
from treerep.refinement.backbone import build as backbone
from treerep.refinement.backbone._limits import Limits
from treerep.backends.torch.backbone import _branches as torch_branches
from treerep.backends.torch.backbone import _triton_kernels as triton_backbone
from treerep.backends.torch.backbone import engine as torch_backbone

torch_backbone.zone_passes = lambda device: triton_backbone
backbone.LIMITS = Limits(fitted_points=0, test_points=20)
used = []  # the powers with which the device placed points
place = triton_backbone.Placement

def watched(space, tree, sample, scale):
    used.append(scale.power)
    return place(space, tree, sample, scale)

triton_backbone.Placement = watched
for module in (branches, torch_branches):
    module.LARGEST, module.CENTERS = 24, 8
rng = np.random.default_rng(0)

def compare(data, size, powers, **options):
    for power in powers:  # without `balance`, the data would choose one of them
        used.clear()
        ours, theirs = (tr.fit(data, method="backbone", size=size, rng=1, balance=power / 4, **where, **options)
                        for where in ({}, {"device": "DEVICE"}))
        assert set(used) == {power}
        np.testing.assert_array_equal(ours.edges, theirs.edges)
        np.testing.assert_array_equal(ours.weights, theirs.weights)

compare(rng.normal(size=(50, 11)).astype("float32"), 5, (0.0, 1.0, 2.0, 3.0, 4.0), metric="euclidean")
compare(rng.normal(size=(150, 9)), 5, (2.0,), metric="chebyshev")  # more than a program processes
heap = np.round(rng.normal(size=(70, 2)))  # duplicates, and more in one place than a zone holds
heap[20:] = 0.0
compare(rng.permutation(heap), 6, (1.0,), metric="manhattan")
half = np.triu(rng.integers(1, 9, size=(40, 40)), 1)
compare((half + half.T).astype("uint8"), 8, (2.0,))
"""


def test_the_kernels_give_the_same_trees() -> None:
    pytest.importorskip("triton", reason="no Triton on this system")
    env = {**os.environ, **({} if DEVICE.startswith("cuda") else {"TRITON_INTERPRET": "1"})}
    # In a separate process: whether Triton interprets is decided when it is imported.
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("DEVICE", DEVICE)],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
