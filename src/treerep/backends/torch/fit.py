"""TreeRep on a device that torch knows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.memory import out_of_device_memory
from ..._core.progress import progress_bar
from ..._core.typing import DeviceLike, RNGLike
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep._settings import checked_choices, tolerance
from ...metric.base import MetricError
from ...tree.structure.canonical import canonical_edges as canonical_on_host
from ...tree.tree import Tree
from ._memory import memory_needed
from .metric import DeviceMetric, Tensor, device_metric
from .treerep._canonical import canonical_edges
from .treerep.zones import DeviceTreeRep

_MOST_POINTS = 2**30 - 1
_MOST_EDGES = (
    2**30 - 1
)  # that the canonical form is made of on a device: both directions are numbered in int32
FIT_NEEDS = "a fit takes about 100 bytes a point beyond the data: give fewer points, or leave out device"


class DeviceTree(NamedTuple):
    """A tree on a device, as TreeRep leaves it."""

    edges: Tensor  # (m, 2) int32: Steiner nodes are n and up, with gaps
    weights: Tensor  # (m,) float64, not negative
    nodes: Tensor  # (n,) int32: which node each point is
    waves: int
    visits: int  # how often a point was sorted into a zone


@memory_needed(FIT_NEEDS)
def fit_on_device(
    data: Any,
    *,
    device: DeviceLike = "cuda",
    metric: str | None = None,
    rng: RNGLike = 0,
    tol: float | str = "auto",
    pivot: str = "random",
) -> DeviceTree:
    """Learn a tree with TreeRep and leave it on the device.

    Needs torch alone, no compiled code.

    Parameters as those of `treerep.fit`; `data` may be a tensor on the device, or a
    DeviceMetric.
    """
    choices = checked_choices(tol, pivot)
    space = data if isinstance(data, DeviceMetric) else device_metric(data, metric, device)
    n = len(space)
    if n > _MOST_POINTS:
        raise ValueError(f"fit takes 1 to {_MOST_POINTS:,} points, not {n:,}")
    priorities = Priorities(n, np.random.default_rng(rng))
    with progress_bar(n, "TreeRep", "points") as bar, space.current():
        engine = DeviceTreeRep(
            space,
            priorities,
            choices.rule,
            lambda largest: tolerance(space, choices.tol, largest),
            bar,
        )
        engine.run()
    # Lengths that come out negative, on metrics far from a tree, are none.
    return DeviceTree(
        engine.edges, engine.weights.clamp_(min=0.0), engine.nodes, engine.waves, engine.visits
    )


def finished_on_host(space: DeviceMetric, found: DeviceTree) -> Tree:
    """The canonical tree: equal trees are equal arrays, wherever they come from."""
    edges, weights = _canonical(len(space), found)
    with np.errstate(over="ignore"):
        finite = np.isfinite(weights.sum())
    if not finite:
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    return Tree._trusted(len(space), edges, weights, space.labels, None, space.order_known)


def _canonical(n: int, found: DeviceTree) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The canonical edges and lengths: made on the device, or on the host if the tree is too large for that."""
    if len(found.edges) <= _MOST_EDGES:
        try:
            edges, weights = canonical_edges(n, *found[:3])
            return edges.numpy(force=True), weights.numpy(force=True)
        except RuntimeError as error:
            if not out_of_device_memory(error):
                raise
    return canonical_on_host(n, *(tensor.numpy(force=True) for tensor in found[:3]))
