"""Exact weights of large trees, with passes over all pairs of points on a torch device.

The search is that of `refinement`, whose steps take O(N) time and stay on the host. Most of the
time is spent on sums of errors over the paths through each edge, for all n (n - 1) / 2 pairs.
`DevicePairs` computes these sums on the device.
"""

import copy
import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..._core.device import find_device
from ..._core.extras import require
from ..._core.memory import available_memory
from ..._core.parallel import Workers
from ..._core.typing import DeviceLike, Tensor, TorchDevice
from ...metric._matching import after_matching
from ...metric.base import Metric
from ...refinement.lengths._pairs import Pairs
from ...refinement.lengths._path_sum_kernels import FACTORS, PRODUCT, SQUARES, add_down, add_up
from ...refinement.lengths._splits import SplitTree, Vector, find_tree_splits, gather
from ...refinement.lengths.least_distortion import least_distortion
from ...refinement.lengths.least_squares import least_squares
from ...refinement.lengths.weights import WeightFit, fitted
from ...refinement.refine import RefineRequest
from ...refinement.report import RefinedTree, Refinement
from ...scores.distortion import mean_distortion
from ...scores.score import Score
from ...tree.tree import Tree
from ._blocks import blocks_of, bytes_to_keep
from ._device_comparison import DeviceComparison
from ._memory import memory_needed
from ._rectangles import Rectangle, entries_on, rectangles
from ._tree_distances import TreeTensors, Turns

_EXACT = 1e-9  # trees with less distortion are not changed, as in `refine`
_NEIGHBORHOODS = 10_000  # points up to which `refine` includes neighborhoods with "l1"
_TOL = 1e-9
# Distances below this fraction of the largest count as 0, because a weight 1 / d^p would
# overflow.
_NOTHING = 1e-100


@memory_needed(
    "weights take blocks of pairs of half a GB each in addition to the data: free some "
    "memory, or leave out device"
)
def refined_weights(request: RefineRequest, device: DeviceLike, n_jobs: int | None) -> RefinedTree:
    """Return the tree with better weights, fitted to all pairs: see `refinement.refine`.

    Weights "l1", "l2" and "relative_l2" run on the device; moves and neighborhoods do not.
    Unlike on the host, all pairs are used even above 10,000 points. No random numbers are
    drawn, so `rng` has no effect.
    """
    begin = time.monotonic()
    tree = request.tree
    space = request.metric
    _check_request(request, str(device))
    where = find_device(device)
    deadline = math.inf if request.time_limit is None else begin + request.time_limit
    before = _distortion(tree, space, where)
    rounding = max(_EXACT, space.eps, space.input_eps)
    is_exact = before <= rounding and not before.skipped
    if len(tree) < 2 or is_exact:
        found = _unchanged(request, before)
    else:
        found = _improved(request, before, where, n_jobs, deadline)
    report = Refinement(
        found.objective,
        found.objective_before,
        float(found.distortion),
        float(before),
        None,
        None,
        found.residual,
        0,
        "tree",
        time.monotonic() - begin,
    )
    return RefinedTree._with_report(
        len(tree),
        tree.edges,
        found.tree.weights,
        tree.labels,
        tree.support,
        after_matching(tree, space),
        report,
    )


class _Found(NamedTuple):
    """The best tree, its average distortion, and values of the objective."""

    tree: Tree
    distortion: Score
    objective: float
    objective_before: float
    residual: float | None


def _unchanged(request: RefineRequest, before: Score) -> _Found:
    """Return a tree that is already exact."""
    value = float(before) if request.weights == "l1" else 0.0
    return _Found(request.tree, before, value, value, None)


def _improved(
    request: RefineRequest,
    before: Score,
    device: TorchDevice,
    n_jobs: int | None,
    deadline: float,
) -> _Found:
    """Fit the weights of a tree."""
    tree = request.tree
    space = request.metric
    weights = request.weights
    power = {"l1": 2.0, "relative_l2": 2.0}.get(weights, 0.0)
    with_zeros = weights != "l1"
    splits = find_tree_splits(tree)
    with Workers(n_jobs) as workers:
        pairs = DevicePairs(splits, space, power, workers, device, with_zeros)
        fit = _fit(tree, pairs, weights, deadline)
    after = _distortion(fit.tree, space, device)
    if weights != "l1":
        return _Found(fit.tree, after, fit.value, fit.start, fit.residual)
    # The objective is the distortion itself. The search lowers a smoothed objective, whose minimum
    # may not be that of the distortion.
    if after < before:
        return _Found(fit.tree, after, float(after), float(before), fit.residual)
    return _Found(tree, before, float(before), float(before), fit.residual)


def _distortion(tree: Tree, metric: Metric, device: TorchDevice) -> Score:
    """Return the average distortion over all pairs."""
    return mean_distortion(DeviceComparison(tree, metric, "all", 0, None, device), "none")


def _check_request(request: RefineRequest, device: str) -> None:
    if request.moves:
        raise ValueError(f"moves do not run with device={device!r}: pass moves=False, or leave out device")
    if request.weights == "none":
        raise ValueError(
            f"weights={request.weights!r} does not run with device={device!r}: choose 'l1', 'l2' or 'relative_l2'"
        )
    if request.weights == "l1" and request.balance > 0 and len(request.tree) <= _NEIGHBORHOODS:
        raise ValueError(
            f"neighborhoods are not supported with device={device!r}: pass balance=0, or leave out device"
        )


def _fit(tree: Tree, pairs: "DevicePairs", weights: str, deadline: float) -> WeightFit:
    given = gather(pairs.splits, tree.weights)
    search = least_distortion if weights == "l1" else least_squares
    best = search(pairs, given / pairs.unit, _TOL, deadline)
    return fitted(tree, pairs.splits, best, pairs.unit, pairs.count, best.residual <= _TOL)


class DevicePairs(Pairs):
    """All pairs of points, summed on a device.

    Distances are kept in memory if they fit.
    """

    def __init__(
        self,
        splits: SplitTree,
        metric: Metric,
        power: float,
        workers: Workers,
        device: TorchDevice,
        with_zeros: bool,
    ) -> None:
        super().__init__(splits, metric, None, 0.0, workers)
        self.torch = require("torch", "embed")
        self.device = device
        self.power = power
        self._blocks = blocks_of(metric, splits.points, device, "data")
        self._kept: dict[int, Tensor] = {}
        on_cpu = device.type == "cpu"
        memory = available_memory() // 2 if on_cpu else bytes_to_keep(device)
        self._keep = 8 * self.count <= memory
        self._at_zero = 0.0
        if power and with_zeros:
            self._at_zero = self._smallest() ** (-power / 2)

    def with_power(self, power: float) -> "DevicePairs":
        """Return the same pairs with other factors. The distances are shared."""
        other = copy.copy(self)
        other.power = power
        return other

    def _truths(self) -> Iterator[tuple[Rectangle, Tensor]]:
        """Yield the distances of each rectangle, in units of `unit`."""
        for number, where in enumerate(rectangles(self.n, entries_on(self.device))):
            truth = self._kept.get(number)
            if truth is None:
                truth = self._blocks.block(where.rows, where.cols) / self.unit
                if self._keep:
                    self._kept[number] = truth
            yield where, truth

    def _smallest(self) -> float:
        """Return the smallest positive distance."""
        smallest = math.inf
        for _, truth in self._truths():
            positive = truth.where(truth > _NOTHING, math.inf)
            smallest = min(smallest, float(positive.min()))
        return smallest if smallest < math.inf else 1.0 / self.unit

    def _factor(self, truth: Tensor) -> "Tensor | float":
        if not self.power:
            return 1.0
        factor = truth.pow(-self.power / 2)
        return factor.where(truth > _NOTHING, self._at_zero)

    def sums(self, what: int, length: Vector, eps: float = 0.0) -> tuple[float, Vector]:
        """Return the sum of values, and the sums of derivatives over the paths through each edge."""
        splits = self.splits
        depth = length.copy()
        depth[0] = 0.0
        add_down(splits.up, depth)
        signed = bool((length < 0).any())  # a step has lengths of both signs
        tree = TreeTensors(splits.up, splits.node, depth, np.zeros(len(depth)), self.device)
        value = 0.0
        ends = np.zeros(self.n)
        sums = np.zeros(len(depth))
        for where, truth in self._truths():
            turns = tree.turns(where)
            fitted = tree.distances(where, turns, signed)
            part, slope = _slopes(what, fitted, truth, self._factor(truth), eps)
            value += part
            self._spread(where, turns, slope, ends, sums)
            self.workers.check()
        sums[splits.node] += ends
        add_up(splits.up, sums)
        sums[0] = 0.0
        return value, sums

    def _spread(self, where: Rectangle, turns: Turns, slope: Tensor, ends: Vector, sums: Vector) -> None:
        """Add derivatives at both ends of a path, and subtract them twice where the path turns."""
        left, right = (self.torch.from_numpy(x).to(self.device) for x in turns)
        # The higher of two ancestors of a point has the lower number.
        at_left = slope.where(left[:, :, None] <= right[:, None, :], 0.0)
        at_right = slope.sub_(at_left)
        rows = self.torch.stack([at_left.sum(2), at_right.sum(2)]).cpu().numpy()
        cols = self.torch.stack([at_left.sum(1), at_right.sum(1)]).cpu().numpy()
        ends[where.rows] += rows[0] + rows[1]
        ends[where.cols] += cols[0] + cols[1]
        for node, total in ((turns.left, rows[0]), (turns.right, cols[1])):
            sums -= 2 * np.bincount(node.ravel(), total.ravel(), minlength=len(sums))


def _slopes(what: int, x: Tensor, t: Tensor, u: "Tensor | float", eps: float) -> tuple[float, Tensor]:
    """Return the sum of values and the derivatives of `path_sum_kernels.row_sums`.

    x are tree distances, which are overwritten, t true distances, and u factors.
    """
    if what == FACTORS:
        squares = x.zero_().add_(u).square()
        return float((x > 0).sum()), squares
    if what == PRODUCT:
        slope = x * u * u
        return float((slope * x).sum()), slope
    q = x.sub_(t).mul_(u)
    if what == SQUARES:
        value = float(q.square().sum())
        return value, q.mul_(u)
    root = (q.square() + eps * eps).sqrt_()
    counted = root if isinstance(u, float) else root.where(u > 0, 0.0)
    return float(counted.sum()), q.mul_(u).div_(root)
