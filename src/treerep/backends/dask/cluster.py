"""Which Dask cluster does the work: the one given, the one in force, or one of this call's own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..._core.extras import require
from ..._core.parallel import count_jobs


@contextmanager
def client_for(client: Any) -> Iterator[Any]:
    """Yield a client of Dask: this one; or, for None, the current one; or that of a cluster started for this call.

    Such a cluster has one process of one thread per core, listens on the loopback interface
    alone, shows no dashboard, and is closed afterwards. Its processes are spawned, so a script
    that starts it needs `if __name__ == "__main__":`.

    Inside a task, the current client is that of the cluster which runs it. The task gives its
    thread away meanwhile: its own work may have to be done there.
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


def _is_task(distributed: Any) -> bool:
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _current(distributed: Any) -> Any:
    try:
        return distributed.Client.current()
    except ValueError:  # there is none
        return None


def _check(client: Any, distributed: Any) -> None:
    """Refuse what would fail much later, or wait for ever."""
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"engine is a dask.distributed Client, not a {type(client).__name__}: give Client(cluster)"
        )
    if client.asynchronous:
        raise TypeError(
            "this client of Dask is asynchronous, and its answers are awaited here: give a synchronous one"
        )
    if client.status != "running":
        raise ValueError(
            f"this client of Dask is {client.status}: give one that is connected to its scheduler"
        )
    if client.nthreads():
        return
    # An adaptive cluster starts workers when there is something to do.
    wanted = client.submit(int, pure=False)
    patience = require("dask", "dask").config.get("distributed.comm.timeouts.connect")
    try:
        wanted.result(timeout=patience)
    except distributed.TimeoutError:
        wanted.cancel(force=True)
        raise RuntimeError(
            f"the Dask cluster has no worker, and none came within {patience}: start some, then wait_for_workers(1)"
        ) from None


@contextmanager
def _own_cluster(distributed: Any) -> Iterator[Any]:
    # The scheduler's HTTP server takes any free port; its default one may be in use, and then
    # it warns.
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
