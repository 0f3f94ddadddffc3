"""Points spread over the workers of a Dask cluster, in blocks of rows that are checked and prepared where they are.

Every block is the result of a task, whose inputs Dask knows: when a worker dies, another one
makes its blocks again.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._core.extras import require
from ...fitting.treerep._priorities import Priorities
from ...metric.base import Metric, MetricError
from ...metric.points import PointMetric, check_extent, prepare_points

# Points in the client's memory travel inside tasks, in pieces of which Dask does not say that
# they are large.
_PIECE_BYTES = 4 << 20


class Facts(NamedTuple):
    """What the client must know of a block."""

    extent: float
    integral: bool
    kind: tuple[int, str]  # number of coordinates and their dtype: those of all blocks


class Block(NamedTuple):
    """The points start, start + 1, ..., as kernels take them, and their priorities."""

    oracle: Any
    priority: NDArray[np.int32]
    start: int
    facts: Facts


class SpreadPoints(Metric):
    """What the client knows of points that lie on the workers.

    Attributes
    ----------
    blocks : list of Future
        Each a Block.
    starts : (blocks + 1,) int64 array
        The points of block b are starts[b] ... starts[b+1]-1.
    homes : list of str
        The worker that has each of them, unless it died.
    """

    def __init__(
        self,
        blocks: list[Any],
        homes: list[str],
        starts: NDArray[np.int64],
        facts: list[Facts],
        labels: Any,
    ) -> None:
        self.blocks = blocks
        self.homes = homes
        self.starts = starts
        self.labels = labels
        self.integral = all(fact.integral for fact in facts)
        self.eps = float(np.finfo(facts[0].kind[1]).eps)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def block(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.float64]:  # noqa: ARG002
        """Not for the client: that would be the way of all points through one machine."""
        raise TypeError(
            "these points are on the workers of a cluster: their distances are asked for there"
        )


def is_dask_array(data: object) -> bool:
    """Whether this is an array of Dask, which need not be imported to ask.

    >>> is_dask_array([[0.0, 1.0]])
    False
    """
    return type(data).__module__.partition(".")[0] == "dask" and type(data).__name__ == "Array"


def check_shape(array: Any) -> int:
    """Return how many points a dask array has; whatever is no table of points raises a MetricError."""
    if array.ndim != 2 or 0 in array.shape:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise MetricError(
            f"points are rows of a table (n x k, at least one of each), this dask array is {shape}"
        )
    if np.isnan(array.shape).any():
        raise MetricError(
            "the chunks of this dask array have unknown lengths: call its compute_chunk_sizes() first"
        )
    return int(array.shape[0])


def spread(
    client: Any, data: Any, metric: str, priorities: Priorities, count: int
) -> SpreadPoints:
    """Make `count` blocks of a dask array or of a PointMetric's points, check them, and leave them with the workers."""
    n = priorities.n
    starts = np.linspace(0, n, min(count, n) + 1).astype(np.int64)
    blocks = (_from_array if is_dask_array(data) else _from_memory)(
        client, data, metric, priorities, starts
    )
    with dropping(client, blocks):
        facts: list[Facts] = raise_first(client, client.map(_facts, blocks, pure=False))
        _check_alike(facts, starts)
        widest = max(range(len(facts)), key=lambda b: facts[b].extent)
        check = client.submit(_check, blocks[widest], metric, facts[widest].extent, pure=False)
        raise_first(client, [check])
        return SpreadPoints(
            *_balanced(client, blocks), starts, facts, getattr(data, "labels", None)
        )


def _check_alike(facts: list[Facts], starts: NDArray[np.int64]) -> None:
    """Chunks may be other than their array says, which Dask does not look at."""
    for fact, start in zip(facts, starts.tolist(), strict=False):
        if fact.kind != facts[0].kind:
            kinds = (
                f"{width} coordinates in {dtype}" for width, dtype in (facts[0].kind, fact.kind)
            )
            raise MetricError(
                f"the chunks of this dask array differ: point 0 has {next(kinds)} and point {start} {next(kinds)}; "
                "make them alike where they are read"
            )


def raise_first(client: Any, futures: list[Any]) -> list[Any]:
    """Gather results; if tasks failed, raise the error of the first of them in this order, as one machine would."""
    with dropping(client, futures):
        try:
            return list(client.gather(futures))
        except Exception:
            for future in futures:
                error = future.exception()  # waits until it is done
                if error is not None:
                    raise explained(error) from None
            raise


@contextmanager
def dropping(client: Any, futures: Iterable[Any]) -> Iterator[None]:
    """Cancel futures on an error or an interrupt: its traceback would hold on to them, and they to the workers."""
    try:
        yield
    except BaseException:
        client.cancel(list(futures), force=True)
        raise


def explained(error: BaseException) -> BaseException:
    """Say in one line what Dask means by an error of its own."""
    if type(error).__name__ != "KilledWorker":
        return error
    return RuntimeError(
        "several workers died one after the other in the same task of this fit, most likely for want of memory: "
        "give them more, or take more workers"
    )


def _from_array(
    client: Any, array: Any, metric: str, priorities: Priorities, starts: NDArray[np.int64]
) -> list[Any]:
    delayed = require("dask", "dask").delayed
    chunks = (
        array.rechunk((tuple(np.diff(starts).tolist()), array.shape[1])).to_delayed().ravel()
    )
    tasks = [
        delayed(_block, pure=False)(
            metric, int(start), priorities.part(int(start), int(stop)), chunk
        )
        for start, stop, chunk in zip(starts[:-1], starts[1:], chunks, strict=True)
    ]
    blocks: list[Any] = client.compute(tasks)
    return blocks


def _from_memory(
    client: Any,
    data: PointMetric,
    metric: str,
    priorities: Priorities,
    starts: NDArray[np.int64],
) -> list[Any]:
    rows = max(1, _PIECE_BYTES // data.points[0].nbytes)
    blocks = []
    workers = itertools.cycle(_threads(client) or ["nowhere"])
    for start, stop, worker in zip(
        starts[:-1].tolist(), starts[1:].tolist(), workers, strict=False
    ):
        # Data that is scattered is lost with its worker. A task that holds it stays with the
        # scheduler.
        pieces = [
            submit_to(client, worker, _same, data.points[lo : min(lo + rows, stop)])
            for lo in range(start, stop, rows)
        ]
        blocks.append(
            submit_to(
                client, worker, _block, metric, start, priorities.part(start, stop), *pieces
            )
        )
    return blocks


def submit_to(
    client: Any, worker: str, task: Callable[..., Any], *arguments: Any, **options: Any
) -> Any:
    """A future of a task that runs on this worker, or, when that is dead, on any.

    Left to itself, Dask would rather send a whole block to an idle worker than let a short task
    wait.
    """
    return client.submit(
        task, *arguments, **options, workers=[worker], allow_other_workers=True, pure=False
    )


def _threads(client: Any) -> list[str]:
    """The worker of each thread."""
    return [worker for worker, threads in client.nthreads().items() for _ in range(threads)]


def _balanced(client: Any, blocks: list[Any]) -> tuple[list[Any], list[str]]:
    """Move blocks from workers with more of them than threads to those with fewer: Dask may begin unevenly.

    Returns the blocks and the worker of each.
    """
    places = client.who_has(blocks)
    free = _threads(client)
    homes = [next(iter(places.get(block.key, ())), "nowhere") for block in blocks]
    left = []
    for b, home in enumerate(homes):
        if home in free:
            free.remove(home)
        else:
            left.append(b)
    moved = list(blocks)
    for b, worker in zip(left, free, strict=False):
        homes[b] = worker
        moved[b] = submit_to(client, worker, _same, blocks[b])
    return moved, homes


# On the workers.


def _same(thing: Any) -> Any:
    return thing


def _block(
    metric: str, start: int, priority: Callable[[], NDArray[np.int32]], *pieces: Any
) -> Block:
    for piece in pieces:
        if np.ma.is_masked(piece):
            first = int(np.argwhere(np.ma.getmaskarray(piece))[0, 0])
            raise MetricError(
                f"point {start + first} has a masked coordinate: fill it or drop the point"
            )
    rows = prepare_points(
        pieces[0] if len(pieces) == 1 else np.concatenate(pieces), metric, start
    )
    table = rows.oracle[0]
    ranks = priority()
    if len(table) != len(ranks):
        raise MetricError(
            f"the dask array says that it has {len(ranks):,} points from number {start} on, and its chunks have "
            f"{len(table):,}: state the lengths of its chunks as they are, or call compute_chunk_sizes()"
        )
    kind = rows.points.shape[1], str(table.dtype)
    return Block(rows.oracle, ranks, start, Facts(rows.extent, rows.integral, kind))


def _facts(block: Block) -> Facts:
    return block.facts


def _check(block: Block, metric: str, largest: float) -> None:
    check_extent(block.oracle, metric, largest, block.start)
