"""A runner for many similar tasks on a Dask cluster. Tasks of a lost worker are repeated."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..._core.extras import require
from ..._core.typing import DaskClient, DaskFuture

Task = TypeVar("Task")
Result = TypeVar("Result")
Shared = TypeVar("Shared")

# Groups of tasks per thread: few enough for low overhead, and enough for an even load.
_SHARES = 8
# How often shared data is sent if all workers that had it are lost.
_SENDINGS = 5


class Spread:
    """The Runner of a Dask cluster: see `_core.parallel.Runner`.

    Shared data is sent to every worker once and kept there until other data is shared. Tasks are
    pure, so the scheduler gives the tasks of a lost worker to other workers. If all workers that
    had the shared data are lost at once, the data is sent again, and missing tasks are resubmitted.

    On exit, the context manager frees the memory of the workers, even if the traceback of an
    error still refers to it.
    """

    def __init__(self, client: DaskClient) -> None:
        self._client = client
        self._distributed = require("distributed", "dask")
        # The shared data, and its future.
        self._sent: tuple[object, DaskFuture] | None = None
        self._pending: set[DaskFuture] = set()

    def __enter__(self) -> "Spread":
        return self

    def __exit__(self, *error: object) -> None:
        futures = [*self._pending, *([self._sent[1]] if self._sent else [])]
        self._pending = set()
        self._sent = None
        if futures:
            self._client.cancel(futures, force=True)

    def map(
        self, work: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task]
    ) -> Iterator[Result]:
        """Yield work(shared, task) for every task, in the order of the tasks."""
        groups = self._groups(list(tasks))
        pending: list[DaskFuture] = []  # the next future is last
        for k in range(len(groups)):
            results: list[Result] | None = None
            for _ in range(_SENDINGS):
                pending = pending or self._submit(work, shared, groups[k:])
                results = self._result(pending.pop()) if pending else None
                if results is not None:
                    break
                self._pending.difference_update(pending)
                pending = []
                self._sent = None
            if results is None:
                raise RuntimeError(
                    f"all workers of the cluster were lost {_SENDINGS} times: check their logs"
                )
            yield from results

    def _result(self, future: DaskFuture) -> list[Any] | None:
        """Return the results of a group, or None if the data that it needs was lost."""
        self._pending.discard(future)
        try:
            return future.result()
        except self._distributed.CancelledError:
            return None
        except self._distributed.KilledWorker as error:
            raise RuntimeError(
                f"workers died {error.allowed_failures + 1} times at the same task: use workers with more memory"
            ) from error

    def _groups(self, tasks: list[Task]) -> list[list[Task]]:
        """Return groups of consecutive tasks that are sent to a worker together."""
        threads = max(1, sum(self._client.nthreads().values()))
        size = -(-len(tasks) // (_SHARES * threads)) or 1
        return [tasks[k : k + size] for k in range(0, len(tasks), size)]

    def _submit(
        self, work: Callable[[Shared, Task], Result], shared: Shared, groups: list[list[Task]]
    ) -> list[DaskFuture]:
        """Submit all groups, and return their futures in reverse order.

        Returns an empty list if workers are lost while data is sent to them.
        """
        if self._sent is None or self._sent[0] is not shared:
            self._sent = None  # frees the memory of the workers before it is filled again
            parcel = Parcel(shared)
            try:
                futures = self._client.scatter([parcel], broadcast=True, hash=False)
            except OSError:
                return []
            self._sent = (shared, futures[0])
        sent = self._sent[1]
        pending = [
            self._client.submit(_work_on_group, sent, Parcel((work, group)), pure=False) for group in groups
        ]
        pending.reverse()
        self._pending.update(pending)
        return pending


def refuse_dask_arrays(**arguments: object) -> None:
    """Raise a TypeError for Dask arrays, because every worker needs all of the data."""
    for name, data in arguments.items():
        if type(data).__module__.partition(".")[0] == "dask":
            raise TypeError(
                f"{name} is a Dask array, but every worker needs all of it: pass "
                f"PointMetric({name}.compute(), 'euclidean') for points, or "
                f"{name}.compute() for distances"
            )


class Parcel:
    """An object that is pickled as a whole.

    Dask sends arrays separately from their object, and they arrive unaligned. Kernels would be
    compiled again for unaligned arrays, half a minute each, and run several times slower.
    """

    thing: Any

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __reduce__(self) -> tuple[Callable[[bytes], "Parcel"], tuple[bytes]]:
        # Dask's pickle also supports classes and functions defined in this session.
        return _unpacked, (require("distributed.protocol.pickle", "dask").dumps(self.thing),)


def _unpacked(packed: bytes) -> Parcel:
    return Parcel(require("distributed.protocol.pickle", "dask").loads(packed))


def _work_on_group(shared: Parcel, parcel: Parcel) -> list[Any]:
    work, group = parcel.thing
    return [work(shared.thing, task) for task in group]
