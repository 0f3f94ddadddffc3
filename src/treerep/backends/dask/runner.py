"""Many pieces of the same work, done by the workers of a Dask cluster, and done again where a worker is lost."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..._core.extras import require

Task = TypeVar("Task")
Result = TypeVar("Result")
Shared = TypeVar("Shared")

# Messages of this many to each thread: few enough to cost little, and enough for even shares.
_SHARES = 8
# How often what all share is sent again after it was lost with all workers that had it.
_SENDINGS = 5


class Spread:
    """The Runner of a Dask cluster: see `_core.parallel.Runner`.

    What all pieces share is sent to every worker once, and kept there until something else is
    shared. Pieces are pure, so the scheduler gives those of a lost worker to others. If all
    workers that had the shared data are lost at once, it is sent again and what is missing is
    asked for again.

    As a context manager it takes everything back from the workers when it is left, whatever the
    traceback of an error holds on to.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._distributed = require("distributed", "dask")
        self._sent: tuple[Any, Any] | None = None  # what is shared, and Dask's name for it
        self._asked: set[Any] = set()  # answers to come

    def __enter__(self) -> "Spread":
        return self

    def __exit__(self, *error: object) -> None:
        futures = [*self._asked, *([self._sent[1]] if self._sent else [])]
        self._asked = set()
        self._sent = None
        if futures:
            self._client.cancel(futures, force=True)

    def map(
        self, work: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task]
    ) -> Iterator[Result]:
        """Yield work(shared, task) for every task, in the order of the tasks."""
        groups = self._groups(list(tasks))
        asked: list[Any] = []  # the answers to come, the next one last
        for k in range(len(groups)):
            results: list[Result] | None = None
            for _ in range(_SENDINGS):
                asked = asked or self._ask(work, shared, groups[k:])
                results = self._answer(asked.pop()) if asked else None
                if results is not None:
                    break
                self._asked.difference_update(asked)
                asked = []
                self._sent = None
            if results is None:
                raise RuntimeError(
                    f"all workers of the cluster were lost {_SENDINGS} times: look at their logs"
                )
            yield from results

    def _answer(self, future: Any) -> Any:
        """What a worker found, or None if what it needs was lost."""
        self._asked.discard(future)
        try:
            return future.result()
        except self._distributed.CancelledError:
            return None
        except self._distributed.KilledWorker as error:
            raise RuntimeError(
                f"workers died {error.allowed_failures + 1} times at the same piece of work: give them more memory"
            ) from error

    def _groups(self, tasks: list[Task]) -> list[list[Task]]:
        """Neighboring tasks that go to a worker together."""
        threads = max(1, sum(self._client.nthreads().values()))
        size = -(-len(tasks) // (_SHARES * threads)) or 1
        return [tasks[k : k + size] for k in range(0, len(tasks), size)]

    def _ask(
        self, work: Callable[[Shared, Task], Result], shared: Shared, groups: list[list[Task]]
    ) -> list[Any]:
        """Send out all groups, the first one last in the list; none if workers are lost while data is sent to them."""
        if self._sent is None or self._sent[0] is not shared:
            self._sent = None  # frees the workers' memory before it is filled again
            try:
                self._sent = (
                    shared,
                    self._client.scatter([Parcel(shared)], broadcast=True, hash=False)[0],
                )
            except OSError:
                return []
        parcels = (Parcel((work, group)) for group in groups)
        asked = [
            self._client.submit(_do, self._sent[1], parcel, pure=False) for parcel in parcels
        ][::-1]
        self._asked.update(asked)
        return asked


def refuse_dask_arrays(**given: Any) -> None:
    """Raise a TypeError for data that is spread over workers already, where every worker needs all of it."""
    for name, data in given.items():
        if type(data).__module__.partition(".")[0] == "dask":
            raise TypeError(
                f"{name} is a Dask array, and every worker needs all of it: give PointMetric({name}.compute(), "
                f"'euclidean') for points, or {name}.compute() for distances"
            )


class Parcel:
    """Something that is packed whole.

    Dask sends arrays beside their object, and they arrive at odd addresses.

    Kernels would be compiled again for those, half a minute each, and run several times slower.
    """

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __reduce__(self) -> tuple[Any, ...]:
        # As Dask packs: also what only this session knows.
        return _unpacked, (require("distributed.protocol.pickle", "dask").dumps(self.thing),)


def _unpacked(packed: bytes) -> Parcel:
    return Parcel(require("distributed.protocol.pickle", "dask").loads(packed))


def _do(shared: Parcel, parcel: Parcel) -> list[Any]:
    work, group = parcel.thing
    return [work(shared.thing, task) for task in group]
