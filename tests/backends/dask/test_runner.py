"""Work spread over a cluster: in order, sent once, and done again where workers are lost."""

import os
import signal
import time
from functools import partial
from pathlib import Path

import dask
import numpy as np
import pytest
from distributed import Client

from tests.backends.dask.local import local_client
from treerep.backends.dask.runner import Spread

CLUSTER = {"workers": 1}


class Once:
    """Data that can be sent once."""

    sendings = 0

    def __reduce__(self) -> tuple[type, tuple[()]]:
        self.sendings += 1
        return Once, ()


def shifted(shared: int, task: int) -> int:
    return shared + task


def plain(_: Once, task: int) -> int:
    return task


def missing(_: int, task: int) -> int:
    raise FileNotFoundError(f"there is no file {task}")


def deadly(marks: Path, task: int) -> int:
    if task == 5:
        for mark in marks.iterdir():
            mark.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
    return task


@pytest.mark.parametrize("count", [0, 1, 2, 100])
def test_results_come_in_the_order_of_the_tasks(client: Client, count: int) -> None:
    assert list(Spread(client).map(shifted, 7, range(count))) == list(range(7, 7 + count))


def test_what_is_shared_is_sent_once(client: Client) -> None:
    spread, once = Spread(client), Once()
    for _ in range(3):
        assert list(spread.map(plain, once, range(20))) == list(range(20))
    assert once.sendings == 1


def test_another_thing_can_be_shared(client: Client) -> None:
    spread = Spread(client)
    assert [list(spread.map(shifted, k, [1])) for k in (1, 2, 1)] == [[2], [3], [2]]


def test_errors_of_the_work_are_raised_as_they_are(client: Client) -> None:
    with pytest.raises(FileNotFoundError, match="^there is no file 3$"):
        list(Spread(client).map(missing, 0, [3]))


def held(client: Client) -> set[str]:
    return {key for keys in client.has_what().values() for key in keys}


def test_nothing_stays_with_the_workers_after_an_error(client: Client) -> None:
    before = held(client)
    with pytest.raises(FileNotFoundError) as error, Spread(client) as spread:
        list(spread.map(missing, 0, range(50)))
    deadline = time.monotonic() + 10
    while held(client) - before and time.monotonic() < deadline:  # Dask lets go a little later
        time.sleep(0.05)
    assert not held(client) - before
    assert error.tb is not None  # which knows the spread, its generator and its futures


def aligned(mine: np.ndarray, shared: tuple[np.ndarray, ...], task: np.ndarray) -> bool:
    return all(array.flags.aligned for array in (mine, *shared, task))


def test_arrays_arrive_as_kernels_were_compiled_for_them(client: Client) -> None:
    shared, tasks = (
        tuple(np.arange(n, dtype=float) for n in range(1, 40)),
        [np.arange(n) for n in range(1, 40)],
    )
    assert all(Spread(client).map(partial(aligned, np.ones(7)), shared, tasks))


def test_large_data_travels(client: Client) -> None:
    assert list(Spread(client).map(np.take, np.arange(3_000_000), [2_999_999])) == [2_999_999]


def test_the_only_worker_dies_and_takes_the_data_with_it(client: Client, tmp_path: Path) -> None:
    (tmp_path / "mark").touch()
    assert list(Spread(client).map(deadly, tmp_path, range(10))) == list(range(10))
    assert not list(tmp_path.iterdir())


def test_work_that_kills_workers_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "mark").touch()
    given_up = pytest.raises(
        RuntimeError,
        match="^workers died 1 times at the same task: use workers with more mem",
    )
    never = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with never, local_client() as client, given_up:
        list(Spread(client).map(deadly, tmp_path, [5]))
