"""Where work is done."""

import pytest

from treerep._core import engines
from treerep._core.engines import elsewhere


def test_threads_need_nobody_else() -> None:
    assert elsewhere("fit") is None
    assert elsewhere("fit", engine="threads") is None


def test_the_function_is_called_with_the_device_or_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {("a test", "torch"): "builtins:dict", ("a test", "dask"): "builtins:dict"}
    monkeypatch.setattr(engines, "ELSEWHERE", table)
    on_device, on_cluster = elsewhere("a test", device="cuda:1"), elsewhere("a test", engine="dask")
    assert on_device is not None
    assert on_cluster is not None
    assert on_device(x=1) == {"x": 1, "device": "cuda:1"}
    assert on_cluster(x=1) == {"x": 1, "client": None}


def test_what_does_not_run_elsewhere_says_so() -> None:
    with pytest.raises(ValueError, match="no such work does not run with device='cuda': leave it out"):
        elsewhere("no such work", device="cuda")
    with pytest.raises(ValueError, match="no such work does not run with engine='dask'"):
        elsewhere("no such work", engine="dask")


@pytest.mark.parametrize("engine", ["spark", 3, True])
def test_unknown_engines(engine: object) -> None:
    with pytest.raises(ValueError, match="engine is 'threads', 'dask' or a dask.distributed Client, not"):
        elsewhere("fit", engine=engine)


def test_one_place_only() -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        elsewhere("fit", engine="dask", device="cuda")
