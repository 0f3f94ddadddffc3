"""`backend_for`: one object from the arguments n_jobs, engine and device."""

import subprocess
import sys

import pytest

from treerep._core.backend import BACKENDS, Backend, backend_for
from treerep._core.lazy import load


@pytest.mark.parametrize("engine", [None, "threads"])
def test_threads_are_the_default(engine: str | None) -> None:
    backend = backend_for(n_jobs=3, engine=engine)
    assert type(backend).__name__ == "Threads"
    assert backend.n_jobs == 3


def test_a_device_makes_a_torch_backend() -> None:
    backend = backend_for(n_jobs=2, device="cuda:1")
    assert (type(backend).__name__, backend.device, backend.n_jobs) == ("Torch", "cuda:1", 2)
    assert backend.name == "device='cuda:1'"


def test_dask_without_a_client() -> None:
    backend = backend_for(n_jobs=2, engine="dask")
    assert (type(backend).__name__, backend.client, backend.n_jobs) == ("Dask", None, 2)
    assert backend.name == "engine='dask'"


@pytest.mark.parametrize("name", BACKENDS)
def test_all_backends_have_all_operations(name: str) -> None:
    kind = load(BACKENDS[name])
    assert issubclass(kind, Backend)
    assert not kind.__abstractmethods__


@pytest.mark.parametrize("engine", ["spark", 3, True])
def test_unknown_engines(engine: object) -> None:
    with pytest.raises(
        ValueError, match=r"engine must be 'threads', 'dask' or a dask.distributed Client, not"
    ):
        backend_for(engine=engine)


def test_engine_and_device_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="cannot be combined"):
        backend_for(engine="dask", device="cuda")


WORK = """
import sys
import numpy as np
import treerep as tr

x = np.random.default_rng(0).random((20, 2))
tree = tr.fit(x, metric="euclidean", method="treerep", trials=2)
points = tr.PointMetric(x, "euclidean")
tr.average_distortion(tree, points, engine="threads")
tr.refine(tree, points, time_limit=0.1)
tr.hyperbolicity(points, method="base")
tr.mean_average_precision(tree, tr.GraphMetric(np.column_stack([np.arange(19), np.arange(1, 20)])))
print([name for name in ("dask", "distributed", "torch") if name in sys.modules])
"""


def test_threads_import_neither_dask_nor_torch() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WORK], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.stdout == "[]\n", run.stderr
