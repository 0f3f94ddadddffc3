"""Which Dask cluster does the work: the one given, the one in force, or one of this call's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..common.extras import require
from ..common.parallel import count_jobs


@contextmanager
def client_for(client: Any) -> Iterator[Any]:
    """Yield a client of Dask: this one; or, for None, the current one; or that of a cluster started for this call.

    Such a cluster has one process of one thread per core, listens on the loopback interface alone, shows no dashboard,
    and is closed afterwards. Its processes are spawned, so a script that starts it needs `if __name__ == "__main__":`.
    """
    distributed = require("distributed", "dask")
    require("dask.array", "dask")
    if client is None:
        try:
            client = distributed.Client.current()
        except ValueError:  # there is none
            with _own_cluster(distributed) as started:
                yield started
            return
    yield client


@contextmanager
def _own_cluster(distributed: Any) -> Iterator[Any]:
    # The scheduler's HTTP server takes any free port; its default one may be in use, and then it warns.
    with (
        distributed.LocalCluster(
            n_workers=count_jobs(), threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield client
