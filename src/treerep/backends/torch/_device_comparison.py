"""Two metrics compared over all pairs on a torch device: hundreds of thousands of points, never n x n distances."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.parallel import ThreadRunner
from ..._core.progress import progress_bar
from ..._core.typing import DeviceLike, MetricLike, RNGLike
from ...metric.base import MetricError
from ...scores._comparison import Comparison
from ...scores._sampling import Rows
from ...tree.tree import Tree
from ._blocks import blocks_of
from ._rectangles import entries_on, rectangles
from ._tree_distances import tree_tensors


class DeviceComparison(Comparison):
    """Two metrics compared on a device.

    The rows of the sums are in the preorder of a tree, if one of them is one.

    Distances of one tree, of points and of a matrix are taken on the device. Those of graphs,
    of a second tree and of custom metrics are read on the host, which then takes most of the
    time.
    """

    def __init__(
        self,
        approx: MetricLike,
        truth: MetricLike,
        rows: Rows,
        rng: RNGLike,
        n_jobs: int | None,
        device: DeviceLike,
    ) -> None:
        super().__init__(approx, truth, rows, rng, ThreadRunner(n_jobs))
        metrics = self._sides.approx, self._sides.truth
        self.device = device
        self.order = np.arange(self.n)
        self.tree = None
        hung = next((metric for metric in metrics if isinstance(metric, Tree)), None)
        if hung is not None:
            self.order, self.tree = tree_tensors(hung, device)
        # The tree has its own way; None stands for it.
        self.sides = [
            None if metric is hung else blocks_of(metric, self.order, device, name)
            for metric, name in zip(metrics, ("approx", "truth"), strict=True)
        ]

    def sums(self, what: int, scale: float = 1.0, *, keep: bool = False) -> NDArray[np.float64]:  # noqa: ARG002
        """Return sums for every row compared, (rows, 5), as `Comparison.sums` does; nothing is kept."""
        from ...scores._distortion_kernels import COLUMNS, RELATIVE

        torch = require("torch", "embed")
        add_up = _relative if what == RELATIVE else _products
        found = torch.zeros((self.n, COLUMNS), dtype=torch.float64, device=self.device)
        total = self.pairs if self.sample is None else len(self.sample) * self.n
        with progress_bar(total, "comparing distances", "pair") as bar:
            for positions, approx, truth in self._blocks():
                numbers = torch.from_numpy(positions.ravel()).to(self.device)
                found[numbers] += add_up(torch, scale, approx, truth).reshape(
                    -1, COLUMNS
                )  # no number comes twice
                bar.update(approx.numel())
        if self.sample is None:
            out = found[: self.n - 1]
        else:
            out = found[torch.from_numpy(np.sort(self._sampled())).to(self.device)]
            out[:, 4] -= float(what == RELATIVE)  # a point's own distance
        result: NDArray[np.float64] = out.cpu().numpy()
        if not np.isfinite(result).all():
            raise MetricError(
                "a distance is not finite: leave out device, and the pair will be named"
            )
        return result

    def _sampled(self) -> NDArray[np.int64]:
        """Positions of the sampled rows."""
        place = np.empty(self.n, np.int64)
        place[self.order] = np.arange(self.n)
        return place[self.sample]

    def _blocks(self) -> Iterator[tuple[NDArray[np.int64], Any, Any]]:
        """Positions of rows, and both metrics' distances, (pieces, height, width)."""
        entries = entries_on(self.device)
        if self.sample is None:
            for where in rectangles(self.n, entries):
                tree: Any = (
                    None
                    if self.tree is None
                    else self.tree.distances(where, self.tree.turns(where))
                )
                approx, truth = (tree if side is None else side(*where) for side in self.sides)
                yield where.rows, approx, truth
            return
        torch = require("torch", "embed")
        columns = np.arange(self.n)[None]
        step = max(1, entries // self.n)
        positions = np.sort(self._sampled())
        for start in range(0, len(positions), step):
            rows = positions[start : start + step]
            tree = None if self.tree is None else self.tree.from_points(rows)[None]
            approx, truth = (
                tree if side is None else side(rows[None], columns) for side in self.sides
            )
            own = (
                torch.arange(len(rows), device=self.device),
                torch.from_numpy(rows).to(self.device),
            )
            for block in (approx, truth):
                block[0][own] = 0.0
            yield rows[None], approx, truth


def _relative(torch: Any, scale: float, x: Any, t: Any) -> Any:
    """The columns of `distortion_kernels.RELATIVE`: errors, signs, -, -, pairs at true distance 0."""
    difference = x.mul(scale).sub_(t)
    apart = t > 0
    count, above = (x.sum(-1, dtype=torch.float64) for x in (apart, apart & (difference > 0)))
    signs = 2 * above - count
    zeros = t.shape[-1] - count
    errors = difference.abs_().div_(t).where(apart, 0.0).sum(-1)
    nothing = torch.zeros_like(zeros)
    return torch.stack([errors, signs, nothing, nothing, zeros], dim=-1)


def _products(torch: Any, scale: float, x: Any, t: Any) -> Any:
    """The columns of `distortion_kernels.PRODUCTS`: sums of c x t, (c x)^2 and |x|."""
    scaled = x * scale
    both = (scaled * t).sum(-1)
    own = (scaled * scaled).sum(-1)
    size = x.abs().sum(-1)
    nothing = torch.zeros_like(both)
    return torch.stack([both, own, size, nothing, nothing], dim=-1)
