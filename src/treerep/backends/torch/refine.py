"""Exact weights of large trees on a torch device: every pass over all pairs of points runs there.

The search itself is that of `refinement`: its steps take O(N) and stay on the host. What takes
the time is the sum of errors over the paths through each edge, for all n (n - 1) / 2 pairs, and
that is what `DevicePairs` does elsewhere.
"""

import copy
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._core.device import find_device
from ..._core.extras import require
from ..._core.memory import available_memory
from ..._core.parallel import Workers
from ...metric._matching import after_matching
from ...metric.base import Metric
from ...refinement.lengths._pairs import Pairs
from ...refinement.lengths._path_sum_kernels import FACTORS, PRODUCT, SQUARES, add_down, add_up
from ...refinement.lengths._splits import SplitTree, Vector, find_tree_splits, gather
from ...refinement.lengths.least_distortion import least_distortion
from ...refinement.lengths.least_squares import least_squares
from ...refinement.lengths.weights import fitted
from ...refinement.refine import RefineRequest
from ...refinement.report import RefinedTree, Refinement
from ...scores.distortion import mean_distortion
from ...scores.score import Score
from ...tree.tree import Tree
from ._blocks import blocks_of, room_on
from ._device_comparison import DeviceComparison
from ._memory import memory_needed
from ._rectangles import Rectangle, entries_on, rectangles
from ._tree_distances import TreeTensors, Turns

# What is exact is left alone, as in `refine`; up to here that counts neighborhoods for "l1",
# too.
_EXACT = 1e-9
_NEIGHBORHOODS = 10_000
_TOL = 1e-9
#: Distances below this share of the largest are taken for 0 where a weight 1 / d^p would
#: overflow.
_NOTHING = 1e-100


@memory_needed(
    "weights take blocks of pairs of half a GB each beyond the data: free some, or leave out device"
)
def refined_weights(request: RefineRequest, device: Any, n_jobs: int | None) -> RefinedTree:
    """Return the tree with better weights, fitted to all pairs on the device: see `refinement.refine`.

    Weights "l1", "l2" and "relative_l2" run there; moves and neighborhoods do not. Unlike on
    the host, all pairs count beyond 10,000 points, too, so that no random numbers are drawn:
    `rng` has no effect.
    """
    begin = time.monotonic()
    tree = request.tree
    space = request.metric
    weights = request.weights
    _check_request(request, str(device))
    where = find_device(device)
    before = _distortion(tree, space, where)
    exact = len(tree) < 2 or (
        before <= max(_EXACT, space.eps, space.input_eps) and not before.skipped
    )
    power = {"l1": 2.0, "relative_l2": 2.0}.get(weights, 0.0)
    deadline = math.inf if request.time_limit is None else begin + request.time_limit
    best = tree
    after = before
    residual = None
    objectives = (float(before), float(before))
    if not exact:
        with Workers(n_jobs) as workers:
            pairs = DevicePairs(
                find_tree_splits(tree), space, power, workers, where, with_zeros=weights != "l1"
            )
            fit = _fit(tree, pairs, weights, deadline)
        best = fit.tree
        residual = fit.residual
        objectives = (fit.value, fit.start)
        after = _distortion(best, space, where)
        if weights == "l1":
            # The objective is the distortion itself; what was lowered is a smooth one.
            best, after = (best, after) if after < before else (tree, before)
            objectives = float(after), float(before)
    elif weights != "l1":
        objectives = 0.0, 0.0
    report = Refinement(
        *objectives,
        float(after),
        float(before),
        None,
        None,
        residual,
        0,
        "tree",
        time.monotonic() - begin,
    )
    arrays = (
        len(tree),
        tree.edges,
        best.weights,
        tree.labels,
        tree.support,
        after_matching(tree, space),
    )
    return RefinedTree._with_report(*arrays, report)


def _distortion(tree: Tree, metric: Metric, device: Any) -> Score:
    """Return the average distortion over all pairs."""
    return mean_distortion(DeviceComparison(tree, metric, "all", 0, None, device), "none")


def _check_request(request: RefineRequest, device: str) -> None:
    if request.moves:
        raise ValueError(
            f"moves do not run with device={device!r}: pass moves=False, or leave out device"
        )
    if request.weights in ("heuristic", "none"):
        raise ValueError(
            f"weights={request.weights!r} do not run with device={device!r}: choose 'l1', 'l2' or 'relative_l2'"
        )
    if request.weights == "l1" and request.balance > 0 and len(request.tree) <= _NEIGHBORHOODS:
        raise ValueError(
            f"neighborhoods do not count with device={device!r}: pass balance=0, or leave out device"
        )


def _fit(tree: Tree, pairs: "DevicePairs", weights: str, deadline: float) -> Any:
    given = gather(pairs.splits, tree.weights)
    floor = np.zeros(len(given))
    search = least_distortion if weights == "l1" else least_squares
    best = search(pairs, given / pairs.unit, floor, _TOL, deadline)
    return fitted(tree, pairs.splits, best, pairs.unit, 0.0, pairs.count, best.residual <= _TOL)


class DevicePairs(Pairs):
    """All pairs of points, summed up on a device.

    Distances are kept there if there is room for them.
    """

    def __init__(
        self,
        splits: SplitTree,
        metric: Metric,
        power: float,
        workers: Workers,
        device: Any,
        with_zeros: bool,
    ) -> None:
        super().__init__(splits, metric, None, 0.0, workers)
        self.torch = require("torch", "embed")
        self.device = device
        self.power = power
        self._blocks = blocks_of(metric, splits.points, device, "data")
        self._held: dict[int, Any] = {}
        self._keep = 8 * self.count <= (
            available_memory() // 2 if device.type == "cpu" else room_on(device)
        )
        self._at_zero = 0.0
        if power and with_zeros:
            self._at_zero = self._smallest() ** (-power / 2)

    def with_power(self, power: float) -> "DevicePairs":
        """The same pairs with other factors; the distances are shared."""
        other = copy.copy(self)
        other.power = power
        return other

    def _truths(self) -> Iterator[tuple[Rectangle, Any]]:
        """The distances of each rectangle, in units of `unit`."""
        for number, where in enumerate(rectangles(self.n, entries_on(self.device))):
            truth = self._held.get(number)
            if truth is None:
                truth = self._blocks(where.rows, where.cols) / self.unit
                if self._keep:
                    self._held[number] = truth
            yield where, truth

    def _smallest(self) -> float:
        """The smallest positive distance."""
        smallest = math.inf
        for _, truth in self._truths():
            smallest = min(smallest, float(truth.where(truth > _NOTHING, math.inf).min()))
        return smallest if smallest < math.inf else 1.0 / self.unit

    def _factor(self, truth: Any) -> Any:
        return (
            truth.pow(-self.power / 2).where(truth > _NOTHING, self._at_zero)
            if self.power
            else 1.0
        )

    def sums(self, what: int, length: Vector, eps: float = 0.0) -> tuple[float, Vector]:
        """Sum of values over the pairs, and the sums of their derivatives over the paths through each edge."""
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
            part, slope = _slopes(
                what, tree.distances(where, turns, signed), truth, self._factor(truth), eps
            )
            value += part
            self._spread(where, turns, slope, ends, sums)
            self.workers.check()
        sums[splits.node] += ends
        add_up(splits.up, sums)
        sums[0] = 0.0
        return value, sums

    def _spread(
        self, where: Rectangle, turns: Turns, slope: Any, ends: Vector, sums: Vector
    ) -> None:
        """Add the derivatives at both ends of their paths, and take them off twice where these turn."""
        left, right = (self.torch.from_numpy(x).to(self.device) for x in turns)
        # Of two ancestors of one point, the higher has the lower number.
        at_left = slope.where(left[:, :, None] <= right[:, None, :], 0.0)
        at_right = slope.sub_(at_left)
        rows = self.torch.stack([at_left.sum(2), at_right.sum(2)]).cpu().numpy()
        cols = self.torch.stack([at_left.sum(1), at_right.sum(1)]).cpu().numpy()
        ends[where.rows] += rows[0] + rows[1]
        ends[where.cols] += cols[0] + cols[1]
        for node, total in ((turns.left, rows[0]), (turns.right, cols[1])):
            sums -= 2 * np.bincount(node.ravel(), total.ravel(), minlength=len(sums))


def _slopes(what: int, x: Any, t: Any, u: Any, eps: float) -> tuple[float, Any]:
    """The sum of values and the derivatives of `path_sum_kernels.row_sums`: x of the tree, t true, u the factor."""
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
