"""Which cluster does the work."""

import sys

import pytest

from treerep.scaling.cluster import client_for

distributed = pytest.importorskip("distributed")


def test_the_client_given_or_else_the_current_one() -> None:
    quiet = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    with distributed.LocalCluster(n_workers=1, processes=False, **quiet) as cluster:
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
