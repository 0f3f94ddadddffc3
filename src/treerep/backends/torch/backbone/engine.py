"""Backbone trees on a device.

The host refines the tree of the sample. The device places and joins all other points.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...._core.extras import require
from ...._core.parallel import Workers
from ...._core.progress import progress_bar
from ...._core.typing import Tensor
from ....fitting._distances import checked_block
from ....metric.base import Metric
from ....placement._least_squares_places import rooted_backbone
from ....placement._locate import Indices, Numbers, Places
from ....refinement._arguments import check_arguments
from ....refinement.backbone._near_relations import coordinates
from ....refinement.backbone._small_tree import Weighting, is_graph, kind_of, weighting
from ....refinement.backbone._threads import is_exact, weighed
from ....refinement.backbone.build import backbone_tree
from ....tree.tree import Tree
from ..fit import DeviceTree, finished_on_host, fit_on_device
from ..metric import DeviceMetric
from ._branches import DevicePlaces, grow, zone_passes


def backbone(
    space: DeviceMetric,
    host: Callable[[], Metric],
    *,
    rng: np.random.Generator,
    n_jobs: int | None,
    size: int | None = None,
    balance: float | None = None,
    time_limit: float | None = None,
) -> Tree:
    """Learn a backbone tree on a device: see `refinement.backbone.backbone` and `OnDevice`."""
    check_arguments(True, 0.0 if balance is None else balance, time_limit)
    if balance is not None and 4 * balance != int(4 * balance):
        raise ValueError(f"on a device, balance must be 0, 0.25, 0.5, 0.75 or 1, got {balance!r}")
    engine = OnDevice(space, host, n_jobs)
    is_points = space.kind not in ("matrix", "hyperbolic")
    choice = weighting("points" if is_points else kind_of(engine.host), balance, len(engine.space))
    return backbone_tree(engine, choice, rng=rng, n_jobs=n_jobs, size=size, time_limit=time_limit)


class OnDevice:
    """The engine that runs on a device: see `refinement.backbone.Engine`.

    Parameters
    ----------
    space : DeviceMetric
    host : function
        Returns the metric on the host. The function is called only for few points or exact trees.
    """

    def __init__(self, space: DeviceMetric, host: Callable[[], Metric], n_jobs: int | None) -> None:
        self.space = space
        self._host = host
        self.n_jobs = n_jobs
        self.passes = zone_passes(space.table.device)

    @cached_property
    def host(self) -> Metric:
        """The same metric on the host."""
        return self._host()

    @cached_property
    def graph(self) -> Metric | None:
        """The metric on the host, if it is a graph metric. A matrix may be a graph metric."""
        if self.space.kind != "matrix":
            return None
        return self.host if is_graph(self.host) else None

    def table(self, points: Indices) -> Numbers:
        """Return the distances among some points."""
        if self.space.kind in ("angle", "hyperbolic"):
            # A device rounds distances differently, and refinement amplifies small differences.
            return checked_block(self.host, points, points)
        at = self._tensor(points)
        i = at.repeat_interleave(len(at))
        j = at.repeat(len(at))
        with self.space.current():
            found = self.space.pairs(i, j)
        table: Numbers = found.view(len(at), len(at)).numpy(force=True)
        return table

    def coordinates(self, points: Indices) -> NDArray[Any] | None:
        """Return coordinates of some points, if their Euclidean distances are known."""
        every = coordinates(self.host)
        return None if every is None else every[points]

    def places(self, tree: Tree, sample: Indices, points: Indices, powers: tuple[float, ...]) -> list[Places]:
        """Return the best positions of a few points, for each power."""
        with Workers(1) as workers:
            found = (
                self._placed(tree, sample, self._tensor(points).int(), power, workers) for power in powers
            )
            return [Places(*(column.numpy(force=True) for column in places)) for places in found]

    def whole(self, rng: np.random.Generator) -> Tree | None:
        """Return TreeRep's tree of all points if it is exact."""
        tree = finished_on_host(self.space, fit_on_device(self.space, rng=rng))
        return tree if is_exact(tree, self.host, self.n_jobs) else None

    def grown(self, tree: Tree, sample: Indices, power: float, short: float) -> Tree:
        """Place all other points around the sample's tree and join nearby points."""
        torch = require("torch", "embed")
        n = len(self.space)
        device = self.space.table.device
        others = torch.ones(n, dtype=torch.bool, device=device)
        others[self._tensor(sample)] = False
        rest = torch.nonzero(others)[:, 0].int()
        with Workers(1) as workers, self.space.current():  # so that no interrupt is lost
            places = self._placed(tree, sample, rest, power, workers)
            edges, weights = grow(self.passes, tree, self.space, sample, rest, places, short, workers)
        nodes = torch.arange(n, dtype=torch.int32, device=device)
        return finished_on_host(self.space, DeviceTree(edges, weights.clamp_(min=0.0), nodes, 0, 0))

    def weighed(
        self, tree: Tree, choice: Weighting, rng: np.random.Generator, time_limit: float | None
    ) -> Tree:
        """Return the tree with lengths of least distortion, fitted on the host for few points."""
        return weighed(tree, self.host, choice, rng, time_limit, self.n_jobs)

    def _placed(
        self, tree: Tree, sample: Indices, points: Tensor, power: float, workers: Workers
    ) -> DevicePlaces:
        """Return the best positions of points, computed on the device."""
        torch = require("torch", "embed")
        known, scale = rooted_backbone(tree, power)
        node = torch.empty(len(points), dtype=torch.int64, device=points.device)
        above, height = torch.empty((2, len(points)), dtype=torch.float64, device=points.device)
        with progress_bar(len(points), "placing", "points") as bar, self.space.current():
            place = self.passes.Placement(self.space, known, self._tensor(sample).int(), scale)
            for lo in range(0, len(points), place.step):
                part = slice(lo, min(lo + place.step, len(points)))
                place(points[part], node[part], above[part], height[part])
                bar.update(part.stop - lo)
                workers.check()
        return DevicePlaces(node, above, height)

    def _tensor(self, points: Indices) -> Tensor:
        torch = require("torch", "embed")
        return torch.from_numpy(np.ascontiguousarray(points)).to(self.space.table.device)
