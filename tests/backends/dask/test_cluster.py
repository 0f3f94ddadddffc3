"""Which cluster does the work."""

import asyncio
import sys
from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests.backends.dask.local import local_client
from treerep._core.backend import backend_for
from treerep.backends.dask.backend import Dask
from treerep.backends.dask.cluster import client_for

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


QUIET: dict[str, Any] = {
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
}
POINTS = np.random.default_rng(0).normal(size=(50, 3))


def test_the_client_given_or_else_the_current_one() -> None:
    with distributed.LocalCluster(n_workers=1, processes=False, **QUIET) as cluster:
        with distributed.Client(cluster) as current, client_for(None) as found:
            assert found is current
        with distributed.Client(cluster, set_as_default=False) as given:
            with client_for(given) as found:
                assert found is given
            assert given.status == "running"  # it is not ours to close


def test_a_cluster_of_the_calls_own_listens_on_loopback_and_is_closed() -> None:
    with client_for(None) as client:
        addresses = [client.scheduler.address, *client.nthreads()]
        assert all(address.startswith("tcp://127.0.0.1:") for address in addresses)
        assert set(client.nthreads().values()) == {1}
        with pytest.raises(ValueError, match="No clients"):  # others do not get it by accident
            distributed.Client.current()
    assert client.status == "closed"


def test_without_dask_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'treerep\[dask\]'"), client_for(None):
        pass


def test_what_is_no_usable_client_is_refused() -> None:
    with distributed.LocalCluster(n_workers=0, processes=False, **QUIET) as cluster:
        with (
            pytest.raises(TypeError, match=r"got a LocalCluster: pass Client\(cluster\)$"),
            client_for(cluster),
        ):
            pass
        with distributed.Client(cluster, set_as_default=False) as client:
            soon = dask.config.set({"distributed.comm.timeouts.connect": "0.2s"})
            with (
                soon,
                pytest.raises(RuntimeError, match="has no workers, and none started within 0.2s"),
                client_for(client),
            ):
                pass
        with (
            pytest.raises(ValueError, match="this Dask client is closed"),
            client_for(client),
        ):
            pass


def test_an_asynchronous_client_is_refused() -> None:
    async def use() -> None:
        async with distributed.Client(processes=False, n_workers=1, asynchronous=True, **QUIET) as client:
            with (
                pytest.raises(TypeError, match="this Dask client is asynchronous"),
                client_for(client),
            ):
                pass

    asyncio.run(use())


def test_a_client_of_a_kind_of_its_own_is_one() -> None:
    class Mine(distributed.Client):
        pass

    assert isinstance(backend_for(engine=Mine.__new__(Mine)), Dask)


def fit_here(given: bool) -> tr.Tree:
    return tr.fit(
        POINTS,
        metric="euclidean",
        engine=distributed.get_client() if given else "dask",
        method="treerep",
    )


def test_a_fit_inside_a_task_does_not_wait_for_itself() -> None:
    with local_client(1) as client:
        for given in (False, True):
            found = client.submit(fit_here, given).result(timeout=60)
            assert found == tr.fit(POINTS, metric="euclidean", method="treerep")
