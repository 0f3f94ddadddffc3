"""Trials: fit several random trees, and keep the best tree or their consensus."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from .._core.lazy import load
from .._core.parallel import Runner, ThreadRunner, Workers
from .._core.progress import progress_bar
from .._core.typing import RNGLike
from ..metric.base import Metric, MetricError, check_labels, refuse_squared
from ..scores.distortion import average_distortion
from ..tree.comparison.consensus import TreeSplits, consensus_of_splits, tree_splits
from ..tree.comparison.splits import Keys, inner_splits
from ..tree.comparison.support import share_of_splits
from ..tree.tree import Tree
from .methods import FIT_MEASURED, METHODS

#: Up to this many points, trees are compared on all pairs and fitted in parallel. For more points,
#: trees are compared on sampled rows and fitted one after another.
EXACT_SCORES = 2000
_SAMPLED_ROWS = 64
_MOST_POINTS = 2**30 - 1


class Plan(NamedTuple):
    """All settings of a fit, except for the random choices."""

    metric: Metric
    method: str
    options: dict[str, Any]
    threads: int | None
    learn: Callable[..., Tree] | None = None  # replaces the method's function


class _Trial(NamedTuple):
    tree: Tree
    # The state of the generator after the fit. A runner may have used a copy of the generator.
    state: Mapping[str, Any]
    score: float = 0.0
    splits: Keys | None = None  # for support
    votes: TreeSplits | None = None  # for a consensus


def tree_of_trials(plan: Plan, trials: int, keep: str, rng: RNGLike, runner: Runner) -> Tree:
    """Fit once per trial. Return the best tree, or a consensus of all trees.

    The first trial is the tree that trials=1 gives. The tree gets the support of all trials. Only
    the splits of the other trees are kept.
    """
    n = len(plan.metric)
    if not 1 <= n <= _MOST_POINTS:
        raise ValueError(f"fit needs 1 to {_MOST_POINTS:,} points, got {n:,}")
    if n == 1:
        return _single_point(plan.metric)
    generator = np.random.default_rng(rng)
    if trials == 1 and keep == "best" and isinstance(runner, ThreadRunner):
        with Workers(1) as workers:
            tree = _learned(plan, generator)
            workers.check()
        return tree
    generators = [generator, *generator.spawn(trials - 1)] if trials > 1 else [generator]
    if keep != "best":
        return _consensus(_run(_learn_and_vote, plan, generators, runner), keep)
    learn = _learn_and_score if trials > 1 else _learn
    return _best(_run(learn, plan, generators, runner))


def _run(
    learn: Callable[[Plan, np.random.Generator], _Trial],
    plan: Plan,
    generators: list[np.random.Generator],
    runner: Runner,
) -> Iterator[_Trial]:
    """Yield the trial of each generator. The first generator gets the state after its trial."""
    # These workers notice an interrupt that a method missed.
    with progress_bar(len(generators), "trials", "trees") as bar, Workers(1) as workers:
        for k, trial in enumerate(runner.map(learn, plan, generators)):
            if k == 0:
                generators[0].bit_generator.state = trial.state
            yield trial
            bar.update()
            workers.check()


def _best(trials: Iterator[_Trial]) -> Tree:
    """Return the best tree, or the first of equally good trees, with the support of all trials."""
    best: _Trial | None = None
    splits: list[Keys] = []
    for trial in trials:
        if best is None or trial.score < best.score:
            best = trial
        if trial.splits is not None:
            splits.append(trial.splits)
    assert best is not None
    return with_support(best.tree, splits) if splits else best.tree


def _consensus(trials: Iterator[_Trial], method: str) -> Tree:
    first: Tree | None = None
    votes: list[TreeSplits] = []
    for trial in trials:
        first = trial.tree if first is None else first
        if trial.votes is not None:
            votes.append(trial.votes)
    assert first is not None
    return consensus_of_splits(first, votes, method)


def _single_point(metric: Metric) -> Tree:
    labels = check_labels(metric.labels, 1)
    return Tree(1, np.empty((0, 2), np.int64), np.empty(0), labels=labels)


def check_measured(metric: Metric, method: str) -> None:
    """Raise a MetricError if distances are missing and the method needs all of them."""
    if metric.has_missing and not METHODS[method].missing:
        able = ", ".join(name for name, record in METHODS.items() if record.missing)
        raise MetricError(f"method={method!r} needs all distances, but some are missing: use one of {able}")


def check_squared(metric: Metric, method: str) -> None:
    """Raise a MetricError if distances are squared and the method needs the triangle inequality."""
    if not METHODS[method].squared:
        refuse_squared(metric, f"method={method!r}")


def selection_score(tree: Tree, metric: Metric, n_jobs: int | None) -> float:
    """Return the average distortion after optimal scaling. The best tree has the lowest score."""
    rows: Literal["all"] | int = "all" if len(metric) <= EXACT_SCORES else _SAMPLED_ROWS
    return float(average_distortion(tree, metric, scale="optimal", rows=rows, rng=0, n_jobs=n_jobs))


def _learn(plan: Plan, generator: np.random.Generator) -> _Trial:
    return _Trial(_learned(plan, generator), generator.bit_generator.state)


def _learned(plan: Plan, generator: np.random.Generator) -> Tree:
    record = METHODS[plan.method]
    learn = plan.learn or record.load()
    shared: dict[str, Any] = {}
    if record.random:
        shared["rng"] = generator
    if record.threads and plan.learn is None:
        shared["n_jobs"] = plan.threads
    if plan.metric.has_missing:
        learn = partial(load(FIT_MEASURED), method=plan.method)
    tree: Tree = learn(plan.metric, **shared, **plan.options)
    return tree


def _learn_and_score(plan: Plan, generator: np.random.Generator) -> _Trial:
    trial = _learn(plan, generator)
    score = selection_score(trial.tree, plan.metric, plan.threads)
    return trial._replace(score=score, splits=inner_splits(trial.tree).keys)


def _learn_and_vote(plan: Plan, generator: np.random.Generator) -> _Trial:
    trial = _learn(plan, generator)
    return trial._replace(votes=tree_splits(trial.tree))


def with_support(tree: Tree, splits: list[Keys]) -> Tree:
    """Return the tree with the fraction of the trials that contain each of its splits."""
    support = share_of_splits(tree, splits)
    return Tree._trusted(tree.n_points, tree.edges, tree.weights, tree.labels, support, tree.order_known)
