"""Distances of any metric on a torch device, one block at a time.

Distances between points are computed on the device. A matrix is moved there as a whole if it fits,
and a few rows at a time otherwise. Other metrics, such as graphs and custom metrics, are read on
the host and then moved.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.typing import Tensor, TorchDevice
from ...metric._compiled import CompiledMetric
from ...metric.base import BadEntryError, Metric, MetricError
from ...metric.matrix import MatrixMetric
from ...metric.oracle.classes import MatrixOracle
from ...scores._streaming import read_block
from .metric import POINT_KINDS, device_points, find_bad_entry

# Maximum fraction of a GPU's free memory for distances that stay there.
_SHARE = 0.6
_ROWS = 1024  # rows of a matrix moved together

Points = NDArray[np.int64]


class Blocks(Protocol):
    """Distances in float64 on a device, for points in a given order."""

    def block(self, rows: Points, cols: Points) -> Tensor:
        """Return the distances between rows (pieces, height) and columns (pieces, width).

        The result has the shape (pieces, height, width), and the caller may overwrite it.
        """


def bytes_to_keep(device: TorchDevice) -> int:
    """Return how many bytes of distances may stay on a GPU; 0 for the CPU, which already has them."""
    if device.type != "cuda":
        return 0
    free, _ = require("torch", "embed").cuda.mem_get_info(device)
    return int(_SHARE * free)


def blocks_of(metric: Metric, order: Points, device: TorchDevice, name: str) -> Blocks:
    """Return the blocks of a metric on a device, with its points in this order.

    `name` is the name of the metric in errors.
    """
    if isinstance(metric, CompiledMetric) and type(metric.oracle) in POINT_KINDS:
        return device_points(metric.oracle, order, device)
    if isinstance(metric, MatrixMetric) and metric.distances.dtype != np.uint64:
        return _MatrixBlocks(metric, order, device)
    return _HostBlocks(metric, order, device, name)


class _MatrixBlocks:
    """A matrix in the order of the points, on the device if it fits, or read from the host."""

    def __init__(self, metric: MatrixMetric, order: Points, device: TorchDevice) -> None:
        self.torch = require("torch", "embed")
        self.device = device
        self.dtype = metric.distances.dtype
        # For a large memory-mapped file, only a sample has been validated so far.
        self.checked = isinstance(metric.oracle, MatrixOracle)
        # torch has few operations for unsigned integers, so they are moved as signed integers
        # with the same bits. `_widened` restores them.
        unsigned = self.dtype.kind == "u"
        signed = f"i{self.dtype.itemsize}"
        self.distances = metric.distances.view(signed) if unsigned else metric.distances
        self.order = order
        fits = self.distances.nbytes <= bytes_to_keep(device)
        self.resident = self._move_all() if fits else None

    def _move_all(self) -> Tensor:
        n = len(self.order)
        columns = self._to_device(self.order)
        dtype = self._rows(self.order[:1]).dtype
        resident = self.torch.empty((n, n), dtype=dtype, device=self.device)
        for start in range(0, n, _ROWS):
            part = slice(start, start + _ROWS)
            resident[part] = self._rows(self.order[part]).index_select(1, columns)
        return resident

    def _to_device(self, points: Points) -> Tensor:
        return self.torch.from_numpy(points).to(self.device)

    def _rows(self, points: Points) -> Tensor:
        """Move whole rows, with columns as in the matrix."""
        dtype = self.torch.from_numpy(np.empty(0, self.distances.dtype)).dtype
        shape = (len(points), len(self.distances))
        # A GPU reads pinned memory at full speed.
        buffer = self.torch.empty(shape, dtype=dtype, pin_memory=self.device.type == "cuda")
        np.take(self.distances, points, axis=0, out=buffer.numpy(), mode="clip")
        return buffer.to(self.device)

    def block(self, rows: Points, cols: Points) -> Tensor:
        """Return blocks; see `Blocks.block`."""
        if self.resident is not None:
            block = self._from_device(self.resident, rows, cols)
        else:
            block = self._from_host(rows, cols)
        block = self._widened(block)
        bad = [] if self.checked else find_bad_entry(block)
        if bad:
            piece, i, j = bad
            row = self.order[rows[piece, i]]
            col = self.order[cols[piece, j]]
            raise BadEntryError(row, col, float(block[piece, i, j]))
        return block

    def _from_device(self, resident: Tensor, rows: Points, cols: Points) -> Tensor:
        if len(rows) == 1 and _is_run(rows) and _is_run(cols):
            row_run = slice(rows[0, 0], rows[0, -1] + 1)
            col_run = slice(cols[0, 0], cols[0, -1] + 1)
            return resident[row_run, col_run][None]
        i = self._to_device(rows)
        j = self._to_device(cols)
        return resident[i[:, :, None], j[:, None, :]]

    def _from_host(self, rows: Points, cols: Points) -> Tensor:
        if len(rows) == 1:
            columns = self._to_device(self.order[cols[0]])
            return self._rows(self.order[rows[0]]).index_select(1, columns)[None]
        i = self.order[rows]
        j = self.order[cols]
        block = self.distances[i[:, :, None], j[:, None, :]]
        return self.torch.from_numpy(block).to(self.device)

    def _widened(self, block: Tensor) -> Tensor:
        if self.dtype.kind == "u":
            all_bits = (1 << 8 * self.dtype.itemsize) - 1
            block = block.to(self.torch.int64) & all_bits
        return block.to(self.torch.float64, copy=True)  # the caller may overwrite it


def _is_run(points: Points) -> bool:
    """Return whether ascending points are consecutive."""
    return bool(np.ptp(points) < points.size)


class _HostBlocks:
    """Distances read on the host."""

    def __init__(self, metric: Metric, order: Points, device: TorchDevice, name: str) -> None:
        self.torch = require("torch", "embed")
        self.metric = metric
        self.order = order
        self.device = device
        self.name = name

    def block(self, rows: Points, cols: Points) -> Tensor:
        """Return blocks; see `Blocks.block`."""
        pieces = [self._read(self.order[i], self.order[j]) for i, j in zip(rows, cols, strict=True)]
        return self.torch.from_numpy(np.stack(pieces)).to(self.device)

    def _read(self, rows: Points, cols: Points) -> NDArray[np.float64]:
        block = read_block(self.metric, rows, cols)
        is_distance = (block >= 0) & (block < np.inf)
        bad = ~is_distance & (rows[:, None] != cols)
        for a, b in np.argwhere(bad)[:1]:
            raise MetricError(
                f"{self.name} has d({rows[a]}, {cols[b]}) = {block[a, b]}: distances must "
                "be finite and not negative"
            )
        return block
