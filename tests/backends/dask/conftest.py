"""Fixtures of the tests of Dask."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A client of a local cluster: the module's CLUSTER has the arguments of `local_client`."""
    pytest.importorskip("distributed")
    from tests.backends.dask.local import local_client

    with local_client(**getattr(request.module, "CLUSTER", {})) as client:
        yield client


@pytest.fixture
def many_waves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few points make many waves: zones are sorted down to the module's FINISH_POINTS, or 8."""
    from treerep.backends.dask import fit as dask_fit

    monkeypatch.setattr(dask_fit, "_FINISH_POINTS", getattr(request.module, "FINISH_POINTS", 8))
    monkeypatch.setattr(dask_fit, "_SHARES", 1 << 30)
