"""Workers whose processors differ: one has the instructions of this machine, the other those of any x86 or ARM."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest

import treerep as tr

distributed = pytest.importorskip("distributed")
array = pytest.importorskip("dask.array")

# Kernels are compiled again for the other processor: a minute.
pytestmark = pytest.mark.slow

PLAIN = {
    "NUMBA_CPU_NAME": "generic",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}


@contextmanager
def worker(address: str, **environment: str) -> Iterator[None]:
    command = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--no-nanny",
        "--nthreads",
        "1",
    ]
    process = subprocess.Popen(
        [*command, "--no-dashboard"],
        env={**os.environ, **environment},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with ExitStack() as stack:
        cluster = stack.enter_context(distributed.LocalCluster(n_workers=0, host="127.0.0.1", **quiet))
        client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
        for environment in ({}, PLAIN):
            stack.enter_context(worker(cluster.scheduler_address, **environment))
        client.wait_for_workers(2, timeout=120)
        yield client


def processor() -> Any:
    import numba

    return numba.config.CPU_NAME


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_mixed_processors_learn_the_tree_of_the_threads(client, metric):
    assert set(client.run(processor).values()) == {None, "generic"}
    points = np.random.default_rng(0).normal(size=(1500, 20)).astype(np.float32)
    chunks = client.persist(array.from_array(points, chunks=(300, -1)))
    with client.as_current():
        distributed.wait(chunks)
    assert all(client.has_what().values())  # both have blocks to work on
    here = tr.fit(tr.PointMetric(points, metric), method="treerep")
    there = tr.fit(chunks, metric=metric, engine=client, method="treerep")
    np.testing.assert_array_equal(there.edges, here.edges)
    np.testing.assert_array_equal(there.weights, here.weights)
    score = tr.average_distortion(here, tr.PointMetric(points, metric), engine=client)
    assert score == tr.average_distortion(here, tr.PointMetric(points, metric))
