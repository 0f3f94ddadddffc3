"""`fit(data, trees=k)`: validate the arguments and fit a sum of trees."""

from typing import TYPE_CHECKING, Any

from .._core.checks import check_between, check_time_limit, positive_number
from .._core.lazy import load
from .._core.typing import MetricLike
from .._core.used import note
from ..metric._missing import refuse_missing
from ..metric.as_metric import as_metric
from .methods import DEFAULT

if TYPE_CHECKING:
    from ..tree.tree_sum import TreeSum

# `refinement` imports `fitting`, so it is imported on first use.
_FUNCTION = "treerep.refinement.sums.fit:fit_sum"
_OPTIONS = ("balance", "time_limit")


def fit_trees(
    data: MetricLike,
    metric: str | None,
    method: str,
    trees: int,
    options: dict[str, Any],
    others: dict[str, Any],
    **running: Any,
) -> "TreeSum":
    """Fit a sum of trees.

    options : options of methods, None if not given
    others : arguments of `fit` that do not apply to sums, and None if they were not given
    running : `rng` and `n_jobs`
    """
    count = positive_number(trees, "trees")
    if method != DEFAULT:
        raise ValueError(f"trees={count} needs method={DEFAULT!r}, not {method!r}: leave out method or trees")
    for name, value in {**options, **others}.items():
        if value is not None and name not in _OPTIONS:
            raise ValueError(f"{name} does not apply to a sum of trees: leave out {name} or trees")
    chosen = {name: options[name] for name in _OPTIONS if options[name] is not None}
    if "balance" in chosen:
        check_between("balance", chosen["balance"], 0, 1, "from 0 (distances) to 1 (neighborhoods)")
    check_time_limit(chosen.get("time_limit"))
    note("tree_sum")
    space = as_metric(data, metric=metric)
    n = len(space)
    pairs = n * (n - 1) // 2
    if n > 3 and count > pairs:  # one tree is exact for three points
        raise ValueError(
            f"trees={count} is more than the {pairs} pairs of {n} points: use at most {pairs} trees"
        )
    refuse_missing(space, "a sum of trees", "fit one tree")
    found: TreeSum = load(_FUNCTION)(space, trees=count, **chosen, **running)
    return found
