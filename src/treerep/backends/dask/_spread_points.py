"""Points distributed over the workers of a Dask cluster, in blocks of rows.

The workers validate and prepare their blocks. Every block is the result of a task, so if a
worker dies, another worker computes its blocks again.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._core.extras import require
from ..._core.typing import DaskClient, DaskFuture
from ...fitting.treerep._priorities import Priorities
from ...metric.base import Metric, MetricError
from ...metric.points import PointMetric, check_extent, prepare_points

if TYPE_CHECKING:
    import dask.array

    from ._oracles import RowOracle

# Points in the client's memory are sent inside tasks. Dask warns about larger pieces.
_PIECE_BYTES = 4 << 20

Thing = TypeVar("Thing")


class Facts(NamedTuple):
    """Information about a block for the client."""

    extent: float
    integral: bool
    kind: tuple[int, str]  # number of coordinates and their dtype, the same for all blocks


class Block(NamedTuple):
    """The points start, start + 1, ..., in the form that kernels accept, and their priorities."""

    oracle: "RowOracle"
    priority: NDArray[np.int32]
    start: int
    facts: Facts


class SpreadPoints(Metric):
    """The client's view of points stored on the workers.

    Attributes
    ----------
    blocks : list of Future
        Each is a Block.
    starts : (blocks + 1,) int64 array
        The points of block b are starts[b] ... starts[b+1]-1.
    homes : list of str
        The worker that stores each block, unless it died.
    """

    def __init__(
        self,
        blocks: list[DaskFuture],
        homes: list[str],
        starts: NDArray[np.int64],
        facts: list[Facts],
        labels: tuple[str, ...] | None,
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
        """Raise a TypeError, because all points would have to pass through the client."""
        raise TypeError(
            "the points are on the workers of a cluster, so the client cannot read their distances"
        )


def is_dask_array(data: object) -> TypeGuard["dask.array.Array"]:
    """Return whether this is a Dask array, without importing Dask.

    >>> is_dask_array([[0.0, 1.0]])
    False
    """
    return type(data).__module__.partition(".")[0] == "dask" and type(data).__name__ == "Array"


def check_shape(array: "dask.array.Array") -> int:
    """Return the number of points of a dask array. Raise a MetricError if it is not a table."""
    if array.ndim != 2 or 0 in array.shape:
        shape = " x ".join(map(str, array.shape)) or "a single value"
        raise MetricError(
            f"points must be rows of a table (n x k, both at least 1), but this dask array has shape {shape}"
        )
    if np.isnan(array.shape).any():
        raise MetricError(
            "the chunks of this dask array have unknown lengths: call compute_chunk_sizes() first"
        )
    return int(array.shape[0])


def spread(
    client: DaskClient,
    data: "dask.array.Array | PointMetric",
    metric: str,
    priorities: Priorities,
    count: int,
) -> SpreadPoints:
    """Make `count` blocks of points, validate them, and keep them on the workers."""
    n = priorities.n
    starts = np.linspace(0, n, min(count, n) + 1).astype(np.int64)
    make_blocks = _from_array if is_dask_array(data) else _from_memory
    blocks = make_blocks(client, data, metric, priorities, starts)
    with dropping(client, blocks):
        facts: list[Facts] = raise_first(client, client.map(_facts, blocks, pure=False))
        _check_alike(facts, starts)
        widest = max(range(len(facts)), key=lambda b: facts[b].extent)
        check = client.submit(_check, blocks[widest], metric, facts[widest].extent, pure=False)
        raise_first(client, [check])
        return SpreadPoints(*_balanced(client, blocks), starts, facts, getattr(data, "labels", None))


def _check_alike(facts: list[Facts], starts: NDArray[np.int64]) -> None:
    """Check that all chunks have the same kind, because Dask does not check this."""
    for fact, start in zip(facts, starts.tolist(), strict=False):
        if fact.kind != facts[0].kind:
            kinds = (f"{width} coordinates of {dtype}" for width, dtype in (facts[0].kind, fact.kind))
            raise MetricError(
                f"the chunks of this dask array differ: point 0 has {next(kinds)} and point "
                f"{start} has {next(kinds)}; read all chunks with the same width and dtype"
            )


def raise_first(client: DaskClient, futures: list[DaskFuture]) -> list[Any]:
    """Gather results. If tasks failed, raise the error of the first failed task."""
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
def dropping(client: DaskClient, futures: Iterable[DaskFuture]) -> Iterator[None]:
    """Cancel futures on an error or an interrupt.

    Otherwise the traceback would keep the futures, and with them the memory of the workers.
    """
    try:
        yield
    except BaseException:
        client.cancel(list(futures), force=True)
        raise


def explained(error: BaseException) -> BaseException:
    """Explain a Dask error in one line. Other errors are returned unchanged."""
    if type(error).__name__ != "KilledWorker":
        return error
    return RuntimeError(
        "several workers died in the same task of this fit, probably because they ran out "
        "of memory: use workers with more memory, or more workers"
    )


def _from_array(
    client: DaskClient,
    array: "dask.array.Array",
    metric: str,
    priorities: Priorities,
    starts: NDArray[np.int64],
) -> list[DaskFuture]:
    make_block = require("dask", "dask").delayed(_block, pure=False)
    lengths = tuple(np.diff(starts).tolist())
    chunks = array.rechunk((lengths, array.shape[1])).to_delayed().ravel()
    bounds = starts.tolist()
    tasks = [
        make_block(metric, start, priorities.part(start, stop), chunk)
        for start, stop, chunk in zip(bounds[:-1], bounds[1:], chunks, strict=True)
    ]
    blocks: list[DaskFuture] = client.compute(tasks)
    return blocks


def _from_memory(
    client: DaskClient,
    data: PointMetric,
    metric: str,
    priorities: Priorities,
    starts: NDArray[np.int64],
) -> list[DaskFuture]:
    rows = max(1, _PIECE_BYTES // data.points[0].nbytes)
    blocks = []
    workers = itertools.cycle(_threads(client) or ["nowhere"])
    bounds = starts.tolist()
    for start, stop, worker in zip(bounds[:-1], bounds[1:], workers, strict=False):
        # Scattered data is lost with its worker. Data inside a task is kept by the scheduler.
        pieces = [
            submit_to(client, worker, _same, data.points[lo : min(lo + rows, stop)])
            for lo in range(start, stop, rows)
        ]
        priority = priorities.part(start, stop)
        blocks.append(submit_to(client, worker, _block, metric, start, priority, *pieces))
    return blocks


def submit_to(
    client: DaskClient,
    worker: str,
    task: Callable[..., object],
    *arguments: object,
    **options: object,
) -> DaskFuture:
    """Submit a task that runs on this worker, or on any other worker if this worker is dead.

    By default, Dask prefers sending a whole block to an idle worker over letting a short task
    wait.
    """
    return client.submit(task, *arguments, **options, workers=[worker], allow_other_workers=True, pure=False)


def _threads(client: DaskClient) -> list[str]:
    """Return the worker of each thread."""
    return [worker for worker, threads in client.nthreads().items() for _ in range(threads)]


def _balanced(client: DaskClient, blocks: list[DaskFuture]) -> tuple[list[DaskFuture], list[str]]:
    """Move blocks from workers with more blocks than threads to workers with fewer.

    Dask may start unevenly. Returns the blocks and the worker of each.
    """
    workers_of = client.who_has(blocks)
    free = _threads(client)
    homes = [next(iter(workers_of.get(block.key, ())), "nowhere") for block in blocks]
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


# Code that runs on the workers.


def _same(thing: Thing) -> Thing:
    return thing


def _block(
    metric: str,
    start: int,
    priority: Callable[[], NDArray[np.int32]],
    *pieces: NDArray[np.generic],
) -> Block:
    for piece in pieces:
        if np.ma.is_masked(piece):
            first = int(np.argwhere(np.ma.getmaskarray(piece))[0, 0])
            raise MetricError(f"point {start + first} has a masked coordinate: fill it in, or drop the point")
    points = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    rows = prepare_points(points, metric, start)
    table = rows.oracle[0]
    ranks = priority()
    if len(table) != len(ranks):
        raise MetricError(
            f"the dask array declares {len(ranks):,} points from number {start} on, but its "
            f"chunks have {len(table):,}: correct the lengths of its chunks, or call "
            "compute_chunk_sizes()"
        )
    kind = rows.points.shape[1], str(table.dtype)
    return Block(rows.oracle, ranks, start, Facts(rows.extent, rows.integral, kind))


def _facts(block: Block) -> Facts:
    return block.facts


def _check(block: Block, metric: str, largest: float) -> None:
    check_extent(block.oracle, metric, largest, block.start)
