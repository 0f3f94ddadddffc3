"""A metric on a device: distances between pairs of points as torch tensors.

Sums over coordinates are added in the order of the compiled kernels
(metric/oracle/lane_kernels.py): eight lanes, pairwise, then the rest. So matrices and
Euclidean, Manhattan and Chebyshev points give the same bits as on the CPU.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..._core.device import find_device
from ..._core.extras import require
from ..._core.typing import DeviceLike, MetricLike
from ...metric.as_metric import as_metric
from ...metric.base import BadEntryError, MetricError
from ...metric.matrix import MatrixMetric
from ...metric.oracle.classes import (
    AngleOracle,
    ChebyshevOracle,
    EmbeddingOracle,
    EuclideanOracle,
    HyperbolicOracle,
    ManhattanOracle,
)
from ...metric.points import coordinate_bounds

Tensor = Any  # of torch, which is imported where it is used

_LANES = 8
_CHUNK = 1 << 24  # numbers looked at or moved together

_KINDS = {
    EuclideanOracle: "euclidean",
    ManhattanOracle: "manhattan",
    ChebyshevOracle: "chebyshev",
    AngleOracle: "angle",
    HyperbolicOracle: "hyperbolic",
    EmbeddingOracle: "hyperbolic",
}
#: Kinds that are measured from coordinates as they are, which may be on the device already.
PLAIN = ("euclidean", "manhattan", "chebyshev")


class DeviceMetric:
    """What TreeRep needs of a metric: distances, and what is known of their precision.

    Attributes
    ----------
    kind : str
        One of the values of `_KINDS`, or "matrix".
    table : (n, k) or (n, n) tensor
        Points, unit vectors or directions; or the distances themselves.
    radii, sinh_radii : (n,) tensors or None
        Of hyperbolic points: distances from the origin. Distances are in multiples of `unit`.
    labels, integral, eps, input_eps
        As those of a `Metric`.
    """

    input_eps = 0.0

    def __init__(
        self, kind: str, table: Tensor, *, labels: Any = None, integral: bool, eps: float
    ) -> None:
        self.kind = kind
        self.table = table
        self.labels = labels
        self.integral = integral
        self.eps = eps
        self.radii: Tensor | None = None
        self.sinh_radii: Tensor | None = None
        self.unit = 1.0
        self.order_known = True

    def __len__(self) -> int:
        return len(self.table)

    def current(self) -> Any:
        """A context in which new kernels go to this device, if it is one of several GPUs."""
        torch = require("torch", "embed")
        device = self.table.device
        return torch.cuda.device(device) if device.type == "cuda" else nullcontext()

    def between(self, i: Tensor, j: Tensor) -> Tensor:
        """Distances d(i[k], j[k]) in float64, for two tensors of indices."""
        torch = require("torch", "embed")
        step = max(1, _CHUNK // (1 if self.kind == "matrix" else self.table.shape[1]))
        out = torch.empty(len(i), dtype=torch.float64, device=self.table.device)
        for lo in range(0, len(i), step):
            out[lo : lo + step] = self._between(i[lo : lo + step], j[lo : lo + step])
        return out

    def _between(self, i: Tensor, j: Tensor) -> Tensor:
        torch = require("torch", "embed")
        if self.kind == "matrix":
            return self.table[i, j].double()
        # Half-precision coordinates are measured in float64, as on the CPU.
        x, y = (
            rows.double() if rows.element_size() < 4 else rows
            for rows in (self.table[i], self.table[j])
        )
        if self.kind in ("manhattan", "chebyshev"):
            return _put_together(
                (x - y).abs(), torch.add if self.kind == "manhattan" else torch.maximum
            )
        across = _put_together((x - y) ** 2, torch.add)
        if self.kind == "euclidean":
            return _root(across)
        if self.kind == "angle":  # tan(angle / 2) = |u - v| / |u + v|
            return 2.0 * torch.atan2(
                across.sqrt(), _put_together((x + y) ** 2, torch.add).sqrt()
            )
        # sinh^2(d/2) = sinh^2((r - s)/2) + sinh r sinh s |u - v|^2 / 4
        assert self.radii is not None
        assert self.sinh_radii is not None
        radial = (0.5 * (self.radii[i] - self.radii[j])).sinh()
        turn = self.sinh_radii[i] * self.sinh_radii[j] * (0.25 * across)
        return self.unit * (2.0 * (radial * radial + turn).sqrt().asinh())


def _put_together(terms: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combine the terms (m, k) of each row in the order of the compiled kernels and in their own precision."""
    blocks = terms.shape[1] // _LANES
    lanes = terms.new_zeros((len(terms), _LANES))
    for k in range(blocks):
        lanes = combine(lanes, terms[:, k * _LANES : (k + 1) * _LANES])
    while lanes.shape[1] > 1:
        lanes = combine(lanes[:, ::2], lanes[:, 1::2])
    total = lanes[:, 0]
    for k in range(blocks * _LANES, terms.shape[1]):
        total = combine(total, terms[:, k])
    return total.double()


def _root(x: Tensor) -> Tensor:
    """Square roots, correctly rounded: those of torch on a CPU come from a vector library and are not, always."""
    if x.device.type == "cpu":
        return require("torch", "embed").from_numpy(np.sqrt(x.numpy()))
    return x.sqrt()


def device_metric(data: MetricLike, metric: str | None, device: DeviceLike) -> DeviceMetric:
    """Bring data to a device: a tensor that is there already stays where it is, anything else goes by `as_metric`."""
    torch = require("torch", "embed")
    where = find_device(device)
    if isinstance(data, torch.Tensor) and metric in PLAIN:
        return _points(data.to(where), metric)
    space = as_metric(data, metric=metric)
    oracle = space.oracle
    if isinstance(space, MatrixMetric):
        table = _moved(space.distances, where)
        _check_entries(table)
        held = DeviceMetric(
            "matrix", table, labels=space.labels, integral=space.integral, eps=space.eps
        )
        held.input_eps = space.input_eps
        return held
    if type(oracle) not in _KINDS:
        raise ValueError(
            f"a {type(space).__name__} cannot be measured on a device: give points, or a matrix of its distances, or "
            "leave out device"
        )
    # An embedding has Steiner nodes, too, behind its points.
    kind = _KINDS[type(oracle)]
    tables = [_moved(array[: len(space)], where) for array in oracle]
    made = DeviceMetric(
        kind, tables[0], labels=space.labels, integral=space.integral, eps=space.eps
    )
    if kind == "hyperbolic":
        made.radii, made.sinh_radii = tables[1:3]
        made.unit = float(oracle.unit[0]) if isinstance(oracle, EmbeddingOracle) else 1.0
    made.order_known = space.order_known
    return made


def _moved(array: Any, device: DeviceLike) -> Tensor:
    """Copy an array to a device piece by piece, whole numbers that torch does not know to wider ones."""
    torch = require("torch", "embed")
    wider = {"uint16": np.int32, "uint32": np.int64, "uint64": np.float64}.get(
        array.dtype.name, array.dtype
    )
    kind = torch.from_numpy(np.empty(0, wider)).dtype
    out = torch.empty(array.shape, dtype=kind, device=device)
    step = max(1, _CHUNK // max(1, array[0].size))
    for lo in range(0, len(array), step):
        out[lo : lo + step] = torch.from_numpy(array[lo : lo + step].astype(wider))
    return out


def _check_entries(distances: Tensor) -> None:
    """Look at every entry of a matrix: one that is mapped from a file has been sampled only."""
    step = max(1, _CHUNK // len(distances))
    for lo in range(0, len(distances), step):
        rows = distances[lo : lo + step]
        bad = no_distance(rows)
        if bad:
            raise BadEntryError(lo + bad[0], bad[1], float(rows[tuple(bad)]))


def no_distance(block: Tensor) -> list[int]:
    """Where a number is that is no distance; an empty list if there is none."""
    torch = require("torch", "embed")
    bad: list[list[int]] = torch.nonzero(~((block >= 0) & (block < torch.inf)))[:1].tolist()
    return bad[0] if bad else []


def _points(points: Tensor, metric: str) -> DeviceMetric:
    """Points that are on the device: looked at there, as `PointMetric` does on the CPU."""
    torch = require("torch", "embed")
    if points.layout != torch.strided:
        raise MetricError(
            "points in a sparse tensor cannot be measured on a device: give tensor.to_dense()"
        )
    if points.ndim != 2 or 0 in points.shape:
        shape = " x ".join(map(str, points.shape)) or "a single value"
        raise MetricError(
            f"points are rows of a table (n x k, at least one of each), this tensor is {shape}"
        )
    if points.is_complex():
        raise MetricError(
            f"coordinates of dtype {points.dtype} are not supported: give real numbers"
        )
    if points.dtype not in (torch.float16, torch.float32, torch.float64):
        points = points.double()
    points = points.detach().contiguous()
    low, high = (float(x) for x in torch.aminmax(points))
    largest = max(-low, high)
    if not np.isfinite(largest) or low != low:
        i, k = torch.nonzero(~torch.isfinite(points))[0].tolist()
        raise MetricError(
            f"coordinate {k} of point {i} is {float(points[i, k])}: replace it or drop the point"
        )
    floats: Any = np.float32 if points.dtype == torch.float32 else np.float64
    least, most = coordinate_bounds(metric, points.shape[1], floats)
    if 0 < largest < least or largest > most:
        raise MetricError(
            f"the largest coordinate is {largest:g}, too {'small' if largest < least else 'large'} for {metric} "
            f"distances in {floats.__name__}: rescale the points towards 1"
        )
    whole = (
        metric != "euclidean"
        and largest * points.shape[1] < 2**22
        and bool((points.floor() == points).all())
    )
    return DeviceMetric(metric, points, integral=whole, eps=float(np.finfo(floats).eps))
