"""Comparison of two metrics over all pairs on a torch device, without n x n distances in memory."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.parallel import ThreadRunner
from ..._core.progress import progress_bar
from ..._core.typing import MetricLike, RNGLike, Tensor, TorchDevice
from ...metric.base import MetricError
from ...scores._comparison import Comparison
from ...scores._sampling import Rows
from ...tree.tree import Tree
from ._blocks import blocks_of
from ._rectangles import entries_on, rectangles
from ._tree_distances import tree_tensors


class DeviceComparison(Comparison):
    """Two metrics compared on a device.

    If one of the metrics is a tree, the rows of the sums are in the preorder of this tree.

    Distances of one tree, of points and of a matrix are computed on the device. Distances of
    graphs, of a second tree and of custom metrics are read on the host, which then takes most
    of the time.
    """

    def __init__(
        self,
        approx: MetricLike,
        truth: MetricLike,
        rows: Rows,
        rng: RNGLike,
        n_jobs: int | None,
        device: TorchDevice,
    ) -> None:
        super().__init__(approx, truth, rows, rng, ThreadRunner(n_jobs))
        metrics = self._sides.approx, self._sides.truth
        self.device = device
        self.order = np.arange(self.n)
        self.tree = None
        tree = next((metric for metric in metrics if isinstance(metric, Tree)), None)
        if tree is not None:
            self.order, self.tree = tree_tensors(tree, device)
        # None represents the tree, which has no blocks.
        self.sides = [
            None if metric is tree else blocks_of(metric, self.order, device, name)
            for metric, name in zip(metrics, ("approx", "truth"), strict=True)
        ]

    def sums(self, what: int, scale: float = 1.0, *, keep: bool = False) -> NDArray[np.float64]:  # noqa: ARG002
        """Return sums for every row, (rows, 5), like `Comparison.sums`. No distances are kept."""
        from ...scores._distortion_kernels import COLUMNS, RELATIVE

        torch = require("torch", "embed")
        add_up = _relative if what == RELATIVE else _products
        found = torch.zeros((self.n, COLUMNS), dtype=torch.float64, device=self.device)
        total = self.pairs if self.sample is None else len(self.sample) * self.n
        with progress_bar(total, "comparing distances", "pair") as bar:
            for positions, approx, truth in self._blocks():
                rows = self._to_device(positions.ravel())  # no row occurs twice
                found[rows] += add_up(scale, approx, truth).reshape(-1, COLUMNS)
                bar.update(approx.numel())
        if self.sample is None:
            out = found[: self.n - 1]
        else:
            out = found[self._to_device(np.sort(self._sampled()))]
            # The distance from a point to itself is not a pair.
            out[:, 4] -= float(what == RELATIVE)
        result: NDArray[np.float64] = out.cpu().numpy()
        if not np.isfinite(result).all():
            raise MetricError("a distance is not finite: leave out device to find out which pair")
        return result

    def _to_device(self, array: NDArray[np.int64]) -> Tensor:
        return require("torch", "embed").from_numpy(array).to(self.device)

    def _sampled(self) -> NDArray[np.int64]:
        """Return the positions of the sampled rows."""
        position = np.empty(self.n, np.int64)
        position[self.order] = np.arange(self.n)
        return position[self.sample]

    def _blocks(self) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        """Yield positions of rows, and the distances of both metrics, (pieces, height, width)."""
        return self._all_pairs() if self.sample is None else self._sampled_rows()

    def _all_pairs(self) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        for where in rectangles(self.n, entries_on(self.device)):
            in_tree: Tensor | None = None
            if self.tree is not None:
                in_tree = self.tree.distances(where, self.tree.turns(where))
            approx, truth = self._sides_at(where.rows, where.cols, in_tree)
            yield where.rows, approx, truth

    def _sampled_rows(self) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
        torch = require("torch", "embed")
        columns = np.arange(self.n)[None]
        step = max(1, entries_on(self.device) // self.n)
        positions = np.sort(self._sampled())
        for start in range(0, len(positions), step):
            rows = positions[start : start + step]
            in_tree: Tensor | None = None
            if self.tree is not None:
                in_tree = self.tree.from_points(rows)[None]
            approx, truth = self._sides_at(rows[None], columns, in_tree)
            # The distance from a point to itself is exactly 0.
            numbers = torch.arange(len(rows), device=self.device)
            own = self._to_device(rows)
            approx[0][numbers, own] = 0.0
            truth[0][numbers, own] = 0.0
            yield rows[None], approx, truth

    def _sides_at(
        self, rows: NDArray[np.int64], cols: NDArray[np.int64], in_tree: "Tensor | None"
    ) -> Iterator[Tensor]:
        """Yield the distances of both metrics, one of which may be the tree."""
        for side in self.sides:
            if side is not None:
                yield side.block(rows, cols)
            else:
                assert in_tree is not None
                yield in_tree


def _relative(scale: float, x: Tensor, t: Tensor) -> Tensor:
    """Return the columns of `distortion_kernels.RELATIVE`.

    The columns are: errors, signs, -, -, pairs at true distance 0.
    """
    torch = require("torch", "embed")
    difference = x.mul(scale).sub_(t)
    apart = t > 0
    above = apart & (difference > 0)
    n_apart = apart.sum(-1, dtype=torch.float64)
    n_above = above.sum(-1, dtype=torch.float64)
    signs = 2 * n_above - n_apart
    zeros = t.shape[-1] - n_apart
    errors = difference.abs_().div_(t).where(apart, 0.0).sum(-1)
    nothing = torch.zeros_like(zeros)
    return torch.stack([errors, signs, nothing, nothing, zeros], dim=-1)


def _products(scale: float, x: Tensor, t: Tensor) -> Tensor:
    """Return the columns of `distortion_kernels.PRODUCTS`: sums of c x t, (c x)^2 and |x|."""
    torch = require("torch", "embed")
    scaled = x * scale
    both = (scaled * t).sum(-1)
    own = (scaled * scaled).sum(-1)
    size = x.abs().sum(-1)
    nothing = torch.zeros_like(both)
    return torch.stack([both, own, size, nothing, nothing], dim=-1)
