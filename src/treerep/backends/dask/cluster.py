"""Find the Dask cluster that does the work, or start one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType

from ..._core.extras import require
from ..._core.parallel import count_jobs
from ..._core.typing import DaskClient


@contextmanager
def client_for(client: "DaskClient | None") -> Iterator[DaskClient]:
    """Yield this client of Dask. None means the current one, or a cluster for this call.

    The cluster of a call has one process of one thread per core, listens only on the loopback
    interface, shows no dashboard, and is closed afterwards. Its processes are spawned, so a
    script that starts it needs `if __name__ == "__main__":`.

    Inside a task, the current client is that of the cluster that runs the task. The task leaves
    the thread pool meanwhile: the work that it waits for may need its thread.
    """
    distributed = require("distributed", "dask")
    require("dask.array", "dask")
    with ExitStack() as stack:
        inside = (
            stack.enter_context(distributed.worker_client()) if _is_task(distributed) else None
        )
        if client is None:
            client = (
                inside
                or _current(distributed)
                or stack.enter_context(_own_cluster(distributed))
            )
        _check(client, distributed)
        yield client


def _is_task(distributed: ModuleType) -> bool:
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _current(distributed: ModuleType) -> "DaskClient | None":
    try:
        return distributed.Client.current()
    except ValueError:  # there is none
        return None


def _check(client: object, distributed: ModuleType) -> None:
    """Refuse a client with which work would fail much later, or wait forever."""
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"engine is a dask.distributed Client, not a {type(client).__name__}: give Client(cluster)"
        )
    if client.asynchronous:
        raise TypeError("this client of Dask is asynchronous: give a synchronous one")
    if client.status != "running":
        raise ValueError(
            f"this client of Dask is {client.status}: give one that is connected to its scheduler"
        )
    if client.nthreads():
        return
    # An adaptive cluster starts workers when there is something to do.
    task = client.submit(int, pure=False)
    timeout = require("dask", "dask").config.get("distributed.comm.timeouts.connect")
    try:
        task.result(timeout=timeout)
    except distributed.TimeoutError:
        task.cancel(force=True)
        raise RuntimeError(
            f"the Dask cluster has no worker, and none started within {timeout}: start some, then wait_for_workers(1)"
        ) from None


@contextmanager
def _own_cluster(distributed: ModuleType) -> Iterator[DaskClient]:
    # The HTTP server of the scheduler takes any free port: it would warn if its default port
    # were in use.
    with (
        distributed.LocalCluster(
            n_workers=count_jobs(),
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
