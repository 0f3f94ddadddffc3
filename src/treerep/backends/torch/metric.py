"""A metric on a torch device.

`DeviceMetric.pairs` adds coordinates in the order of the compiled kernels
(metric/oracle/lane_kernels.py): eight lanes, pairwise, then the rest, in the precision of the
coordinates. Matrices and Euclidean, Manhattan and Chebyshev points give the same bits as on the
CPU. Trees need identical bits, because a difference in the last digit can lead to another tree.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..._core.device import find_device
from ..._core.extras import require
from ..._core.typing import DeviceLike, MetricLike, Tensor, TorchDevice
from ...metric._missing import refuse_missing
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

PointKind = Literal["euclidean", "manhattan", "chebyshev", "angle", "hyperbolic"]
Kind = PointKind | Literal["matrix"]

#: The oracles that can be evaluated on a device.
POINT_KINDS: dict[type, PointKind] = {
    EuclideanOracle: "euclidean",
    ManhattanOracle: "manhattan",
    ChebyshevOracle: "chebyshev",
    AngleOracle: "angle",
    HyperbolicOracle: "hyperbolic",
    EmbeddingOracle: "hyperbolic",
}
#: Kinds that use the coordinates unchanged, so the coordinates may already be on the device.
PLAIN: tuple[PointKind, ...] = ("euclidean", "manhattan", "chebyshev")

_LANES = 8
_CHUNK = 1 << 24  # numbers checked or moved together


class DeviceMetric:
    """Distances on a device, and their precision.

    Attributes
    ----------
    kind : str
        The formula: one of the values of `POINT_KINDS`, or "matrix".
    table : (n, k) or (n, n) tensor
        Points, unit vectors or directions; or the distances themselves.
    radii, sinh_radii : (n,) tensors or None
        Distances of hyperbolic points from the origin.
    unit : float
        Hyperbolic distances are multiples of this unit.
    labels, integral, eps, input_eps, order_known
        See `Metric`.
    """

    input_eps = 0.0
    has_missing = False  # refused by `device_metric`

    def __init__(
        self,
        kind: Kind,
        table: Tensor,
        *,
        labels: tuple[str, ...] | None = None,
        integral: bool = False,
        eps: float = 0.0,
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

    def current(self) -> AbstractContextManager[object]:
        """Return a context in which new kernels run on this device, if it is a GPU."""
        torch = require("torch", "embed")
        device = self.table.device
        return torch.cuda.device(device) if device.type == "cuda" else nullcontext()

    def pairs(self, i: Tensor, j: Tensor) -> Tensor:
        """Return the distances d(i[k], j[k]) in float64, for two tensors of points."""
        torch = require("torch", "embed")
        width = 1 if self.kind == "matrix" else self.table.shape[1]
        step = max(1, _CHUNK // width)
        out = torch.empty(len(i), dtype=torch.float64, device=self.table.device)
        for lo in range(0, len(i), step):
            out[lo : lo + step] = self._pairs(i[lo : lo + step], j[lo : lo + step])
        return out

    def _pairs(self, i: Tensor, j: Tensor) -> Tensor:
        torch = require("torch", "embed")
        if self.kind == "matrix":
            return self.table[i, j].double()
        x = _at_least_single(self.table[i])
        y = _at_least_single(self.table[j])
        if self.kind == "manhattan":
            return _combine((x - y).abs(), torch.add)
        if self.kind == "chebyshev":
            return _combine((x - y).abs(), torch.maximum)
        across = _combine((x - y) ** 2, torch.add)
        if self.kind == "euclidean":
            return _root(across)
        if self.kind == "angle":
            # tan(angle / 2) = |u - v| / |u + v|
            along = _combine((x + y) ** 2, torch.add)
            return 2.0 * torch.atan2(across.sqrt(), along.sqrt())
        # sinh^2(d/2) = sinh^2((r - s)/2) + sinh r sinh s |u - v|^2 / 4
        assert self.radii is not None
        assert self.sinh_radii is not None
        radial = (0.5 * (self.radii[i] - self.radii[j])).sinh()
        turn = self.sinh_radii[i] * self.sinh_radii[j] * (0.25 * across)
        return self.unit * (2.0 * (radial * radial + turn).sqrt().asinh())


def _at_least_single(rows: Tensor) -> Tensor:
    """Return half-precision coordinates in float64, as on the CPU."""
    return rows.double() if rows.element_size() < 4 else rows


def _combine(terms: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combine the terms (m, k) of each row in the order of the compiled kernels."""
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
    """Return correctly rounded square roots.

    On a CPU, torch uses a vector library that does not always round correctly.
    """
    if x.device.type == "cpu":
        return require("torch", "embed").from_numpy(np.sqrt(x.numpy()))
    return x.sqrt()


def device_metric(data: MetricLike, metric: str | None, device: DeviceLike) -> DeviceMetric:
    """Move data to a device, for pairwise distances.

    A tensor that is already there is not copied. Other data is read by `as_metric`.
    """
    torch = require("torch", "embed")
    where = find_device(device)
    for kind in PLAIN:
        if metric == kind and isinstance(data, torch.Tensor):
            return _tensor_metric(data.to(where), kind)
    space = as_metric(data, metric=metric)
    refuse_missing(space, f"device={str(where)!r}", "leave out device")
    oracle = space.oracle
    if isinstance(space, MatrixMetric):
        table = _moved(space.distances, where)
        _check_entries(table)
        made = DeviceMetric("matrix", table, labels=space.labels, integral=space.integral, eps=space.eps)
        made.input_eps = space.input_eps
        return made
    if space.squared:
        raise MetricError("squared distances cannot be computed on a device: leave out device")
    if type(oracle) not in POINT_KINDS:
        raise ValueError(
            f"a {type(space).__name__} cannot be evaluated on a device: pass points or a "
            "distance matrix, or leave out device"
        )
    # The Steiner nodes of an embedding follow its points.
    tables = [_moved(array[: len(space)], where) for array in oracle]
    made = DeviceMetric(
        POINT_KINDS[type(oracle)],
        tables[0],
        labels=space.labels,
        integral=space.integral,
        eps=space.eps,
    )
    _add_radii(made, oracle, tables)
    made.order_known = space.order_known
    return made


def _add_radii(made: DeviceMetric, oracle: object, tables: list[Tensor]) -> None:
    if made.kind == "hyperbolic":
        made.radii = tables[1]
        made.sinh_radii = tables[2]
    if isinstance(oracle, EmbeddingOracle):
        made.unit = float(oracle.unit[0])


# Unsigned integer types that torch lacks, and their replacements.
_WIDER = {"uint16": np.int32, "uint32": np.int64, "uint64": np.float64}


def _moved(array: NDArray[Any], device: TorchDevice) -> Tensor:
    """Copy an array to a device piece by piece."""
    torch = require("torch", "embed")
    wider = _WIDER.get(array.dtype.name, array.dtype)
    dtype = torch.from_numpy(np.empty(0, wider)).dtype
    out = torch.empty(array.shape, dtype=dtype, device=device)
    step = max(1, _CHUNK // max(1, array[0].size))
    for lo in range(0, len(array), step):
        out[lo : lo + step] = torch.from_numpy(array[lo : lo + step].astype(wider))
    return out


def _check_entries(distances: Tensor) -> None:
    """Check every entry of a matrix. For a memory-mapped file, only a sample has been checked."""
    step = max(1, _CHUNK // len(distances))
    for lo in range(0, len(distances), step):
        rows = distances[lo : lo + step]
        bad = find_bad_entry(rows)
        if bad:
            raise BadEntryError(lo + bad[0], bad[1], float(rows[tuple(bad)]))


def find_bad_entry(block: Tensor) -> list[int]:
    """Return the indices of the first number that is not a distance, or an empty list."""
    torch = require("torch", "embed")
    is_distance = (block >= 0) & (block < torch.inf)
    bad: list[list[int]] = torch.nonzero(~is_distance)[:1].tolist()
    return bad[0] if bad else []


def _tensor_metric(points: Tensor, metric: PointKind) -> DeviceMetric:
    """Return the metric of points on a device, validated there as in `PointMetric`."""
    torch = require("torch", "embed")
    _check_shape(points)
    if points.dtype not in (torch.float16, torch.float32, torch.float64):
        points = points.double()
    points = points.detach().contiguous()
    largest = _largest_coordinate(points)
    is_single = points.dtype == torch.float32
    floats: type[np.float32 | np.float64] = np.float32 if is_single else np.float64
    least, most = coordinate_bounds(metric, points.shape[1], floats)
    if 0 < largest < least or largest > most:
        size = "small" if largest < least else "large"
        raise MetricError(
            f"the largest coordinate is {largest:g}, too {size} for {metric} distances in "
            f"{floats.__name__}: rescale the points to about 1"
        )
    small = metric != "euclidean" and largest * points.shape[1] < 2**22
    integral = small and bool((points.floor() == points).all())
    return DeviceMetric(metric, points, integral=integral, eps=float(np.finfo(floats).eps))


def _check_shape(points: Tensor) -> None:
    torch = require("torch", "embed")
    if points.layout != torch.strided:
        raise MetricError("points in a sparse tensor cannot be used on a device: pass tensor.to_dense()")
    if points.ndim != 2 or 0 in points.shape:
        shape = " x ".join(map(str, points.shape)) or "a single value"
        raise MetricError(
            f"points must be rows of a table (n x k, both at least 1), but this tensor has shape {shape}"
        )
    if points.is_complex():
        raise MetricError(f"coordinates of dtype {points.dtype} are not supported: use real numbers")


def _largest_coordinate(points: Tensor) -> float:
    """Return the largest absolute coordinate, or raise a MetricError if one is not finite."""
    torch = require("torch", "embed")
    low, high = (float(x) for x in torch.aminmax(points))
    largest = max(-low, high)
    if not np.isfinite(largest) or np.isnan(low):
        i, k = torch.nonzero(~torch.isfinite(points))[0].tolist()
        raise MetricError(
            f"coordinate {k} of point {i} is {float(points[i, k])}: replace it or drop the point"
        )
    return largest
