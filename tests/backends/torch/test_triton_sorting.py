"""The Triton kernels do what plain torch does. Without a GPU, Triton's interpreter runs them."""

import os
import subprocess
import sys

import pytest

from tests.backends.devices import DEVICE

pytestmark = pytest.mark.torch

SCRIPT = """
import numpy as np
import treerep as tr
from treerep.backends.torch.treerep import _triton_finish as triton_finish
from treerep.backends.torch.treerep import _triton_sorting as triton_sorting
from treerep.backends.torch.treerep import zones as torch_zones

torch_zones.has_triton = lambda device: True
triton_sorting.TILE = 64  # so that zones begin and end within tiles
triton_finish.LARGE = 16  # so that there are waves, and several windows of small zones
rng = np.random.default_rng(0)

def compare(data, **options):
    ours, theirs = (
        tr.fit(data, method="treerep", **options), tr.fit(data, method="treerep", device="DEVICE", **options)
    )
    np.testing.assert_array_equal(ours.edges, theirs.edges)
    if options.get("metric") in ("cosine", "hyperboloid"):
        np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(ours.weights, theirs.weights)

on_gpu = "DEVICE" != "cpu"
for n in (2, 3, 40, 500 if on_gpu else 150):
    for k in (1, 8, 19, 137) if on_gpu or n == 40 else (19,):
        x = rng.normal(size=(n, k)).astype("float32" if k % 2 else "float64")
        for metric in ("euclidean", "manhattan", "chebyshev"):
            compare(x, metric=metric, rng=n)
    compare(np.round(rng.normal(size=(n, 3))), metric="manhattan")  # duplicates, and points that become r
    half = np.triu(rng.integers(1, 4, size=(n, n)), 1)
    compare((half + half.T).astype("uint8"))
for pivot in ("near", "closest"):
    compare(rng.normal(size=(60, 3)), metric="euclidean", pivot=pivot)
triton_finish.LARGE = 128
compare(rng.normal(size=(300, 3)), metric="euclidean", pivot="near")
compare(np.round(rng.normal(size=(300, 2))), metric="manhattan")
if on_gpu:  # the interpreter has no atan2, sinh and asinh
    x = rng.normal(size=(100, 9))
    compare(x, metric="cosine")
    x[:, 0] = np.sqrt(1 + (x[:, 1:] ** 2).sum(1))
    compare(x, metric="hyperboloid")
"""

PRIORITIES = """
import numpy as np
import torch
from treerep.backends.torch.treerep._triton_priorities import points_by_priority
from treerep.fitting.treerep import _priorities

_priorities._SHUFFLED = 0
for n in (1, 2, 3, 5, 1000, 5000):
    priorities = _priorities.Priorities(n, np.random.default_rng(n))
    found = points_by_priority(priorities.bijection(), torch.device("DEVICE"))
    np.testing.assert_array_equal(found.numpy(force=True), priorities.points_at(np.arange(n)))
"""


@pytest.mark.parametrize("script", [SCRIPT, PRIORITIES], ids=["trees", "priorities"])
def test_the_kernels_do_what_plain_torch_does(script: str) -> None:
    pytest.importorskip("triton", reason="no Triton on this system")
    env = {**os.environ, **({} if DEVICE.startswith("cuda") else {"TRITON_INTERPRET": "1"})}
    # In a separate process: whether Triton interprets is decided when it is imported.
    done = subprocess.run(
        [sys.executable, "-c", script.replace("DEVICE", DEVICE)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
