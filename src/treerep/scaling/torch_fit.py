"""`fit` on a device that torch knows."""

from typing import Any, NamedTuple

import numpy as np

from ..common.parallel import Threads
from ..common.progress import progress_bar
from ..fitting.fit import Plan, best_tree
from ..fitting.priorities import Priorities
from ..fitting.settings import checked_choices, tolerance
from ..metric.base import Metric, MetricError
from ..metric.convert import as_metric
from ..tree.tree import Tree
from .torch_canonical import canonical_edges
from .torch_metric import DeviceMetric, Tensor, device_metric
from .torch_zones import DeviceTreeRep

_MOST_POINTS = 2**30 - 1


class DeviceTree(NamedTuple):
    """A tree on a device, as TreeRep leaves it."""

    edges: Tensor  # (m, 2) int32: Steiner nodes are n and up, with gaps
    weights: Tensor  # (m,) float64, not negative
    nodes: Tensor  # (n,) int32: which node each point is
    waves: int
    visits: int  # how often a point was sorted into a zone


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
    """Learn a tree with TreeRep on a device; see `treerep.fit`."""
    if method != "treerep":
        raise ValueError(f"{method} does not run on a device: use method='treerep', or leave out device")
    for name in ("finish", "zone_size"):
        if options.pop(name, "treerep") not in (None, "treerep"):
            raise ValueError(f"zones are not finished by neighbour joining on a device: leave out {name} or device")
    space = device_metric(data, metric, device)

    def learn(_: Any, *, rng: np.random.Generator) -> Tree:
        return _finished(space, fit_on_device(space, rng=rng, **options))

    host: Any = _on_host(data, metric) if trials > 1 else space
    tree = best_tree(Plan(host, method, {}, n_jobs, learn), trials, rng, Threads(1))
    assert isinstance(tree, Tree)
    return tree


def _on_host(data: Any, metric: str | None) -> Metric:
    """The same distances here, where trials are scored."""
    return as_metric(data.numpy(force=True) if hasattr(data, "numpy") else data, metric=metric)


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


def _finished(space: DeviceMetric, found: DeviceTree) -> Tree:
    """The canonical tree: equal trees are equal arrays, wherever they come from."""
    n = len(space)
    if n > 1:
        edges, weights = canonical_edges(n, *found[:3])
    else:
        edges, weights = found.edges.long(), found.weights
    if not bool(weights.sum().isfinite()):
        raise MetricError("the distances are so large that their sums overflow: rescale them")
    return Tree._trusted(n, edges.numpy(force=True), weights.numpy(force=True), labels=space.labels)
