"""`FitRequest`: the validated arguments of `fit`."""

from typing import Any, NamedTuple

from .._core.checks import check_choice, positive_number
from .._core.method import Method, find_method
from .._core.typing import MetricLike, RNGLike
from .._core.used import note
from .methods import DEFAULT, METHODS

#: What `fit` makes of its trials: the best tree, or a consensus of all trees.
KEEP = ("best", "greedy", "majority", "strict")


class FitRequest(NamedTuple):
    """The arguments of `fit`. All are validated except for the data, which the backend reads."""

    data: MetricLike
    metric: str | None
    method: str
    options: dict[str, Any]
    trials: int
    keep: str
    rng: RNGLike


def make_request(
    data: MetricLike,
    metric: str | None,
    method: str,
    given: dict[str, Any],
    trials: int,
    keep: str,
    rng: RNGLike,
) -> FitRequest:
    """Validate the arguments of `fit`. `given` are all options, None if not chosen."""
    record = find_method(METHODS, method)
    count = positive_number(trials, "trials")
    check_choice("keep", keep, KEEP)
    if method == DEFAULT:
        _name_the_method(record, given)
    options = record.chosen(given)
    note(method)
    if count == 1 and keep != "best":
        raise ValueError(f"keep={keep!r} needs several trees: add trials=100")
    if count > 1 and not record.random:
        raise ValueError(
            f"{method} is not random, so all {count} trials would give the same tree: leave out trials"
        )
    root = options.get("root")
    if count > 1 and root is not None:
        raise ValueError(
            f"all {count} trials from root {root!r} would give the same tree: leave out root or trials"
        )
    if keep != "best":
        note("consensus")
    return FitRequest(data, metric, method, options, count, keep, rng)


def _name_the_method(record: Method, given: dict[str, Any]) -> None:
    """Raise a ValueError for the first option that the default method does not accept.

    The message names the methods that accept this option.
    """
    for name, value in given.items():
        if value is not None and name not in record.option_names:
            takers = [other.name for other in METHODS.values() if name in other.option_names]
            if not takers:
                raise TypeError(f"no method of fit has the option {name!r}: leave it out")
            raise ValueError(f"{name} is an option of {', '.join(takers)}: add method={takers[0]!r}")
