"""Distances of any metric on a torch device, a block at a time.

Points are measured there. A matrix is moved there whole where it fits, and rows at a time
otherwise. All others (such as graphs, a second tree, metrics of a user's own) are asked on the
host, and their answers moved.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ...metric._compiled import CompiledMetric
from ...metric.base import BadEntryError, Metric, MetricError
from ...metric.matrix import MatrixMetric
from ...metric.oracle.classes import (
    AngleOracle,
    ChebyshevOracle,
    EmbeddingOracle,
    EuclideanOracle,
    HyperbolicOracle,
    ManhattanOracle,
    MatrixOracle,
)
from ...scores._streaming import read_block
from .metric import no_distance

# Squares |x - y|^2 below this share of |x|^2 + |y|^2 are taken from the differences themselves:
# |x|^2 + |y|^2 - 2 x y has lost their digits.
_NEAR = 1e-3
_NEAR_PAIRS = 1 << 22
# What stays on a GPU takes no more than this share of the memory that is free there.
_SHARE = 0.6
_ROWS = 1024  # rows of a matrix that are moved together

#: Answers blocks: called with numbers of points, (pieces, height) and (pieces, width), gives
#: (pieces, height, width).
Blocks = Callable[[NDArray[np.int64], NDArray[np.int64]], Any]


def room_on(device: Any) -> int:
    """How many bytes of distances may stay on a device; none on the CPU, where they are already."""
    return (
        int(_SHARE * require("torch", "embed").cuda.mem_get_info(device)[0])
        if device.type == "cuda"
        else 0
    )


def blocks_of(metric: Metric, order: NDArray[np.int64], device: Any, name: str) -> Blocks:
    """Return who answers blocks of a metric on a device, in float64, its points numbered as in `order`.

    `name` is what an error calls the metric.
    """
    measure = _MEASURES.get(type(metric.oracle)) if isinstance(metric, CompiledMetric) else None
    if measure is not None:
        return _Points(metric.oracle, measure, order, device)
    if isinstance(metric, MatrixMetric) and metric.distances.dtype != np.uint64:
        return _Matrix(metric, order, device)
    return _Host(metric, order, device, name)


class _Points:
    def __init__(
        self,
        oracle: Any,
        measure: Callable[..., Any],
        order: NDArray[np.int64],
        device: Any,
    ) -> None:
        self.torch = torch = require("torch", "embed")
        # float32 coordinates are measured in float64, unlike on the host: there, no digits of
        # sums are lost.
        self.fields = [
            torch.from_numpy(field[order]).to(device).to(torch.float64) for field in oracle
        ]
        self.measure = measure
        self.device = device
        self.center = self.fields[0].mean(dim=0)

    def __call__(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Any:
        i, j = (self.torch.from_numpy(x).to(self.device) for x in (rows, cols))
        return self.measure(self, i, j)

    def squares(self, i: Any, j: Any, sign: float = 1.0) -> Any:
        """|x_i - sign x_j|^2 of the first field."""
        points = self.fields[0]
        center = self.center if sign > 0 else 0.0 * self.center
        x = points[i] - center
        y = points[j] - center
        sizes = (x * x).sum(-1)[:, :, None] + (y * y).sum(-1)[:, None, :]
        found = self.torch.baddbmm(sizes, x, y.transpose(1, 2), alpha=-2.0 * sign)
        near = (found <= sizes.mul_(_NEAR)).nonzero()
        for part in near.split(_NEAR_PAIRS):
            b, r, c = part.unbind(1)
            difference = points[i[b, r]] - sign * points[j[b, c]]
            found[b, r, c] = (difference * difference).sum(-1)
        return found


def _euclidean(points: _Points, i: Any, j: Any) -> Any:
    return points.squares(i, j).sqrt_()


def _manhattan(points: _Points, i: Any, j: Any) -> Any:
    return points.torch.cdist(points.fields[0][i], points.fields[0][j], p=1.0)


def _chebyshev(points: _Points, i: Any, j: Any) -> Any:
    return points.torch.cdist(points.fields[0][i], points.fields[0][j], p=float("inf"))


def _angle(points: _Points, i: Any, j: Any) -> Any:
    # As in metric/oracle/distance_kernels.py: tan(angle / 2) = |u - v| / |u + v|.
    across = points.squares(i, j).sqrt_()
    along = points.squares(i, j, -1.0).sqrt_()
    return points.torch.atan2(across, along).mul_(2.0)


def _hyperbolic(points: _Points, i: Any, j: Any) -> Any:
    # As in metric/oracle/distance_kernels.py: sinh^2(d/2) = sinh^2((r - s)/2) + sinh r sinh s
    # |u - v|^2 / 4.
    radii = points.fields[1]
    sinh = points.fields[2]
    radial = ((radii[i][:, :, None] - radii[j][:, None, :]) / 2).sinh_()
    turn = points.squares(i, j).mul_(0.25).mul_(sinh[i][:, :, None] * sinh[j][:, None, :])
    return turn.addcmul_(radial, radial).sqrt_().asinh_().mul_(2.0)


def _embedding(points: _Points, i: Any, j: Any) -> Any:
    return _hyperbolic(points, i, j) * points.fields[3][i][:, :, None]


_MEASURES: dict[type, Callable[..., Any]] = {
    EuclideanOracle: _euclidean,
    ManhattanOracle: _manhattan,
    ChebyshevOracle: _chebyshev,
    AngleOracle: _angle,
    HyperbolicOracle: _hyperbolic,
    EmbeddingOracle: _embedding,
}


class _Matrix:
    """A matrix in the order of the points: all of it on the device where it fits, otherwise read from the host."""

    def __init__(self, metric: MatrixMetric, order: NDArray[np.int64], device: Any) -> None:
        self.torch = require("torch", "embed")
        self.device = device
        distances = metric.distances
        self.kind = metric.distances.dtype
        # Of a large mapped file, a sample alone was looked at so far.
        self.seen = isinstance(metric.oracle, MatrixOracle)
        # torch has few operations for unsigned numbers: the same bits as signed ones are moved
        # about instead.
        self.given = (
            distances.view(f"i{self.kind.itemsize}") if self.kind.kind == "u" else distances
        )
        self.order, self.places = order, self.torch.from_numpy(order).to(device)
        self.held = self._hold() if self.given.nbytes <= room_on(device) else None

    def _hold(self) -> Any:
        n = len(self.order)
        held = self.torch.empty(
            (n, n), dtype=self._rows(self.order[:1]).dtype, device=self.device
        )
        for start in range(0, n, _ROWS):
            held[start : start + _ROWS] = self._rows(
                self.order[start : start + _ROWS]
            ).index_select(1, self.places)
        return held

    def _rows(self, points: NDArray[np.int64]) -> Any:
        """Whole rows, in the order of the matrix."""
        kind = self.torch.from_numpy(np.empty(0, self.given.dtype)).dtype
        shape = (len(points), len(self.given))
        # Pinned memory is what a GPU reads at full speed.
        buffer = self.torch.empty(shape, dtype=kind, pin_memory=self.device.type == "cuda")
        np.take(self.given, points, axis=0, out=buffer.numpy(), mode="clip")
        return buffer.to(self.device)

    def __call__(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Any:
        if (
            self.held is not None
            and len(rows) == 1
            and np.ptp(rows) < rows.size
            and np.ptp(cols) < cols.size
        ):
            block = self.held[rows[0, 0] : rows[0, -1] + 1, cols[0, 0] : cols[0, -1] + 1][None]
        elif self.held is not None:
            i, j = (self.torch.from_numpy(x).to(self.device) for x in (rows, cols))
            block = self.held[i[:, :, None], j[:, None, :]]
        elif len(rows) == 1:
            places = self.torch.from_numpy(self.order[cols[0]]).to(self.device)
            block = self._rows(self.order[rows[0]]).index_select(1, places)[None]
        else:
            i = self.order[rows]
            j = self.order[cols]
            block = self.torch.from_numpy(self.given[i[:, :, None], j[:, None, :]]).to(
                self.device
            )
        block = self._widened(block)
        bad = [] if self.seen else no_distance(block)
        if bad:
            piece, i, j = bad
            raise BadEntryError(
                self.order[rows[piece, i]],
                self.order[cols[piece, j]],
                float(block[piece, i, j]),
            )
        return block

    def _widened(self, block: Any) -> Any:
        if self.kind.kind == "u":
            block = block.to(self.torch.int64) & ((1 << 8 * self.kind.itemsize) - 1)
        return block.to(self.torch.float64, copy=True)  # whoever asks may write to it


class _Host:
    def __init__(
        self, metric: Metric, order: NDArray[np.int64], device: Any, name: str
    ) -> None:
        self.torch = require("torch", "embed")
        self.metric = metric
        self.order = order
        self.device = device
        self.name = name

    def __call__(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Any:
        pieces = [
            self._read(self.order[i], self.order[j]) for i, j in zip(rows, cols, strict=True)
        ]
        return self.torch.from_numpy(np.stack(pieces)).to(self.device)

    def _read(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> NDArray[np.float64]:
        block = read_block(self.metric, rows, cols)
        bad = ~((block >= 0) & (block < np.inf)) & (rows[:, None] != cols)
        for a, b in np.argwhere(bad)[:1]:
            raise MetricError(
                f"{self.name} has d({rows[a]}, {cols[b]}) = {block[a, b]}: distances are finite and never negative"
            )
        return block
