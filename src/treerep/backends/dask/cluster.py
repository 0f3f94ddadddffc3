"""Selection of the Dask cluster that does the work."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType

from ..._core.extras import require
from ..._core.parallel import count_jobs
from ..._core.typing import DaskClient


@contextmanager
def client_for(client: "DaskClient | None") -> Iterator[DaskClient]:
    """Yield this Dask client. None means the current client, or a temporary cluster.

    A temporary cluster has one single-threaded process per core, listens only on the loopback
    interface, has no dashboard, and is closed afterwards. The processes are spawned, so a script
    that starts such a cluster needs `if __name__ == "__main__":`.

    Inside a task, the current client is that of the cluster that runs the task. The task leaves
    the thread pool in the meantime, because the work that it waits for may need its thread.
    """
    distributed = require("distributed", "dask")
    require("dask.array", "dask")
    with ExitStack() as stack:
        inside = stack.enter_context(distributed.worker_client()) if _is_task(distributed) else None
        if client is None:
            client = inside or _current(distributed) or stack.enter_context(_own_cluster(distributed))
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
    except ValueError:  # no current client
        return None


def _check(client: object, distributed: ModuleType) -> None:
    """Raise an error for a client with which work would fail much later or wait forever."""
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"engine must be a dask.distributed Client, got a {type(client).__name__}: pass Client(cluster)"
        )
    if client.asynchronous:
        raise TypeError("this Dask client is asynchronous: pass a synchronous one")
    if client.status != "running":
        raise ValueError(
            f"this Dask client is {client.status}: pass a client that is connected to its scheduler"
        )
    if client.nthreads():
        return
    # An adaptive cluster starts workers when there is work.
    task = client.submit(int, pure=False)
    timeout = require("dask", "dask").config.get("distributed.comm.timeouts.connect")
    try:
        task.result(timeout=timeout)
    except distributed.TimeoutError:
        task.cancel(force=True)
        raise RuntimeError(
            f"the Dask cluster has no workers, and none started within {timeout}: start "
            "some, then call wait_for_workers(1)"
        ) from None


@contextmanager
def _own_cluster(distributed: ModuleType) -> Iterator[DaskClient]:
    # Let the scheduler's HTTP server use any free port. It would warn if its default port were
    # in use.
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
