"""What the direct methods do before torch is needed, and without it."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import treerep as tr
from treerep._core.device import find_device
from treerep.embedding._models import from_polar
from treerep.embedding.embed import embed
from treerep.embedding.learned._manifolds import Hyperboloid, PoincareBall
from treerep.embedding.learned._training import warm_start


@pytest.mark.parametrize("method", ["poincare", "lorentz", "pt"])
def test_without_torch_one_line_says_what_to_install(method, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        ImportError,
        match=r"^this needs torch, which is not installed: pip install 'treerep\[embed\]'$",
    ):
        embed(tr.GraphMetric([[0, 1], [1, 2]]), method=method)


def test_no_gpu_is_chosen_without_being_asked_for(monkeypatch):
    # Torch is not everywhere, and a GPU is rare: this stands for a machine that has both.
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True), device=lambda name: name)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert find_device(None) == "cpu"


@pytest.mark.parametrize("space", [PoincareBall(), Hyperboloid()], ids=lambda space: space.model)
@pytest.mark.parametrize("pivots", [30, 60])
def test_the_spectral_start_finds_points_of_hyperbolic_space(space, pivots, monkeypatch):
    # h-MDS is exact at the scale of the data, and so is what the pivots say of the other points.
    monkeypatch.setattr("treerep.embedding.learned._training._PIVOTS", pivots)
    monkeypatch.setattr("treerep.embedding.learned._training._JITTER", 0.0)
    rng = np.random.default_rng(0)
    units = rng.normal(size=(60, 3))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    data = tr.PointMetric(from_polar(units, rng.uniform(0, 2, 60), "poincare"), "poincare")
    reach = data.block(range(60), range(60)).max()
    if pivots < 60:
        chosen = np.random.default_rng(1).choice(60, pivots, replace=False)
        reach = data.block(range(60), np.sort(chosen)).max()
    start = warm_start(space, data, 60, 3, None, reach, np.random.default_rng(1))
    model = {"poincare": "poincare", "lorentz": "hyperboloid"}[space.model]
    found = tr.PointMetric(start, model)
    assert tr.average_distortion(found, data) < 1e-6


def test_a_start_stays_within_reach_and_points_that_coincide_are_parted():
    data = tr.MatrixMetric(np.zeros((5, 5)))
    start = warm_start(Hyperboloid(), data, 5, 2, None, 12.0, np.random.default_rng(0))
    assert len(np.unique(start, axis=0)) == 5 and np.abs(start[:, 1:]).max() < 0.01
    far = tr.embedding.embedding.Embedding([[1.0, 0.0], [0.0, 1.0]], [40.0, 20.0])
    moved = warm_start(
        PoincareBall(),
        tr.MatrixMetric(np.zeros((2, 2))),
        2,
        2,
        far,
        12.0,
        np.random.default_rng(0),
    )
    radii = 2 * np.arctanh(np.linalg.norm(moved, axis=1))
    assert radii == pytest.approx([12.2, 6.1], abs=0.01)
