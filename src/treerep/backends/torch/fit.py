"""TreeRep on a torch device."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import out_of_device_memory
from ..._core.progress import progress_bar
from ..._core.typing import DeviceLike, MetricLike, RNGLike, Tensor
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep._settings import checked_choices, tolerance
from ...metric.base import MetricError
from ...tree.structure.canonical import canonical_edges as canonical_on_host
from ...tree.tree import Tree
from ._memory import memory_needed
from .metric import DeviceMetric, device_metric
from .treerep._canonical import canonical_edges
from .treerep.zones import DeviceTreeRep, Limits

_MOST_POINTS = 2**30 - 1
# Up to this size, the canonical form is computed on the device, because int32 must number both
# directions of each edge.
_MOST_EDGES = 2**30 - 1
FIT_NEEDS = (
    "a fit takes about 300 bytes per point in addition to the data: use fewer points, or leave out device"
)


class DeviceTree(NamedTuple):
    """A tree on a device, before it is brought into canonical form."""

    edges: Tensor  # (m, 2) int32: Steiner nodes are n and above, with gaps
    weights: Tensor  # (m,) float64, not negative
    nodes: Tensor  # (n,) int32: the node of each point
    waves: int
    visits: int  # how often a point was sorted into a zone


@memory_needed(FIT_NEEDS)
def fit_on_device(
    data: MetricLike,
    *,
    device: DeviceLike = "cuda",
    metric: str | None = None,
    rng: RNGLike = 0,
    tol: float | str = "auto",
    pivot: str = "random",
    limits: Limits = Limits(),  # noqa: B008 (it is frozen)
) -> DeviceTree:
    """Learn a tree with TreeRep and leave it on the device.

    Requires only torch and compiles no numba kernels. Parameters are those of `treerep.fit`.
    `data` may also be a tensor on the device or a DeviceMetric.
    """
    choices = checked_choices(tol, pivot)
    space = data if isinstance(data, DeviceMetric) else device_metric(data, metric, device)
    n = len(space)
    if n > _MOST_POINTS:
        raise ValueError(f"fit supports 1 to {_MOST_POINTS:,} points, got {n:,}")
    priorities = Priorities(n, np.random.default_rng(rng))
    with progress_bar(n, "TreeRep", "points") as bar, space.current():
        engine = DeviceTreeRep(
            space,
            priorities,
            choices.rule,
            lambda largest: tolerance(space, choices.tol, largest),
            bar,
            limits,
        )
        engine.run()
    # If a metric is far from a tree, lengths may be negative. Negative lengths become 0.
    return DeviceTree(engine.edges, engine.weights.clamp_(min=0.0), engine.nodes, engine.waves, engine.visits)


def finished_on_host(space: DeviceMetric, found: DeviceTree) -> Tree:
    """Return the canonical tree. Equal trees have equal arrays on all backends."""
    edges, weights = _canonical(len(space), found)
    with np.errstate(over="ignore"):
        finite = np.isfinite(weights.sum())
    if not finite:
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    return Tree._trusted(len(space), edges, weights, space.labels, None, space.order_known)


def _canonical(n: int, found: DeviceTree) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Compute the canonical edges and lengths, on the host if memory runs out."""
    if len(found.edges) <= _MOST_EDGES:
        try:
            edges, weights = canonical_edges(n, *found[:3])
            return edges.numpy(force=True), weights.numpy(force=True)
        except RuntimeError as error:
            if not out_of_device_memory(error):
                raise
    return canonical_on_host(n, *(tensor.numpy(force=True) for tensor in found[:3]))
