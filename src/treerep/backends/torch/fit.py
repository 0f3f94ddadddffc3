"""`fit` on a device that torch knows."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.extras import require
from ..._core.memory import out_of_device_memory
from ..._core.parallel import Threads
from ..._core.progress import progress_bar
from ...fitting.fit import Plan, best_tree
from ...fitting.treerep._priorities import Priorities
from ...fitting.treerep._settings import checked_choices, tolerance
from ...metric.as_metric import as_metric
from ...metric.base import MetricError
from ...tree.structure.canonical import canonical_edges as canonical_on_host
from ...tree.tree import Tree
from ._memory import memory_needed
from .metric import PLAIN, DeviceMetric, Tensor, device_metric
from .treerep._canonical import canonical_edges
from .treerep.zones import DeviceTreeRep

METHODS = ("treerep", "auto", "backbone")

_MOST_POINTS = 2**30 - 1
_MOST_EDGES = 2**30 - 1  # that the canonical form is made of on a device: both directions are numbered in int32
_NEEDS = "a fit takes about 100 bytes a point beyond the data: give fewer points, or leave out device"


class DeviceTree(NamedTuple):
    """A tree on a device, as TreeRep leaves it."""

    edges: Tensor  # (m, 2) int32: Steiner nodes are n and up, with gaps
    weights: Tensor  # (m,) float64, not negative
    nodes: Tensor  # (n,) int32: which node each point is
    waves: int
    visits: int  # how often a point was sorted into a zone


@memory_needed(_NEEDS)
def fit(
    data: Any,
    *,
    device: Any,
    method: str,
    metric: str | None,
    rng: Any,
    trials: int,
    n_jobs: int | None,
    **options: Any,
) -> Tree:
    """Learn a tree on a device, with TreeRep or around a backbone; see `treerep.fit`."""
    if method not in METHODS:
        raise ValueError(f"{method} does not run on a device: use one of {', '.join(METHODS)}, or leave out device")
    for name in ("finish", "zone_size"):
        if options.pop(name, "treerep") not in (None, "treerep"):
            raise ValueError(f"zones are not finished by neighbour joining on a device: leave out {name} or device")
    if not (metric in PLAIN and isinstance(data, require("torch", "embed").Tensor)):
        data, metric = as_metric(data, metric=metric), None  # a file is read once, a matrix checked once
    space = device_metric(data, metric, device)

    def learn(_: Any, *, rng: np.random.Generator) -> Tree:
        if method != "treerep":
            # This needs compiled code, which `fit_on_device` does without.
            from .backbone.engine import backbone

            return backbone(space, partial(as_metric, data, metric=metric), rng=rng, n_jobs=n_jobs, **options)
        return finished_on_host(space, fit_on_device(space, rng=rng, **options))

    # Trials are scored on the host.
    host: Any = as_metric(data, metric=metric) if trials > 1 else space
    tree = best_tree(Plan(host, method, {}, n_jobs, learn), trials, rng, Threads(1))
    assert isinstance(tree, Tree)
    return tree


@memory_needed(_NEEDS)
def fit_on_device(
    data: Any,
    *,
    device: Any = "cuda",
    metric: str | None = None,
    rng: Any = 0,
    tol: float | str = "auto",
    pivot: str = "random",
) -> DeviceTree:
    """Learn a tree with TreeRep and leave it on the device. Needs torch alone, no compiled code.

    Parameters as those of `treerep.fit`; `data` may be a tensor on the device, or a DeviceMetric.
    """
    choices = checked_choices(tol, pivot)
    space = data if isinstance(data, DeviceMetric) else device_metric(data, metric, device)
    n = len(space)
    if n > _MOST_POINTS:
        raise ValueError(f"fit takes 1 to {_MOST_POINTS:,} points, not {n:,}")
    priorities = Priorities(n, np.random.default_rng(rng))
    with progress_bar(n, "TreeRep", "points") as bar, space.current():
        engine = DeviceTreeRep(
            space, priorities, choices.rule, lambda largest: tolerance(space, choices.tol, largest), bar
        )
        engine.run()
    # Lengths that come out negative, on metrics far from a tree, are none.
    return DeviceTree(engine.edges, engine.weights.clamp_(min=0.0), engine.nodes, engine.waves, engine.visits)


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
