"""`fit`: its arguments, its trials, its errors, its interrupt."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import treerep as tr
from tests.processes import started
from treerep.tree.comparison.support import split_support

POINTS = np.random.default_rng(0).normal(size=(300, 4))


def test_trials_keep_the_tree_of_lowest_scaled_distortion() -> None:
    metric = tr.PointMetric(POINTS)
    best = tr.fit(metric, trials=8, rng=3, method="treerep")
    rng = np.random.default_rng(3)  # the first trial uses the generator itself, so it is what trials=1 gives
    singles = [tr.fit(metric, rng=generator, method="treerep") for generator in [rng, *rng.spawn(7)]]
    scores = [float(tr.average_distortion(tree, metric, scale="optimal")) for tree in singles]
    assert best == singles[int(np.argmin(scores))]
    assert len(set(scores)) > 1


@pytest.mark.parametrize("jobs", [2, 4])
def test_trials_do_not_depend_on_threads(jobs: int) -> None:
    one = tr.fit(POINTS, metric="euclidean", trials=5, n_jobs=1, method="treerep")
    assert tr.fit(POINTS, metric="euclidean", trials=5, n_jobs=jobs, method="treerep") == one


def test_trials_on_many_points_are_compared_on_sampled_rows() -> None:
    points = np.random.default_rng(1).normal(size=(2500, 3))
    best = tr.fit(points, metric="euclidean", trials=3, method="treerep")
    rng = np.random.default_rng(0)
    assert best in [
        tr.fit(points, metric="euclidean", rng=generator, method="treerep")
        for generator in [rng, *rng.spawn(2)]
    ]


@pytest.mark.parametrize("n", [60, 2200])  # side by side, and one after the other
def test_trials_give_support(n: int) -> None:
    points = np.random.default_rng(2).normal(size=(n, 2))
    best = tr.fit(points, metric="euclidean", trials=4, rng=5, method="treerep")
    rng = np.random.default_rng(5)
    singles = [
        tr.fit(points, metric="euclidean", rng=generator, method="treerep")
        for generator in [rng, *rng.spawn(3)]
    ]
    assert all(tree.support is None for tree in singles)
    assert_array_equal(best.support, split_support(best, singles))
    # The best tree is one of the four and contains its own splits; some are found by other trials, and some are not.
    known = best.support[~np.isnan(best.support)]
    assert known.min() == 0.25 and known.max() > 0.25
    assert_array_equal(
        tr.fit(points, metric="euclidean", trials=4, rng=5, n_jobs=1, method="treerep").support,
        best.support,
    )


def test_trials_on_a_tree_metric_agree() -> None:
    tree = tr.fit(tr.datasets.random_tree(50), trials=3, method="treerep")
    assert tree.support is not None
    assert np.nanmin(tree.support) == 1


def test_trials_of_few_points_have_no_inner_split() -> None:
    for n in (2, 3):
        assert np.isnan(tr.fit(1.0 - np.eye(n), trials=2, method="treerep").support).all()
    assert tr.fit(np.zeros((1, 1)), trials=2, method="treerep").support is None


def test_labels_pass_through() -> None:
    assert tr.fit(tr.datasets.sarich(), method="treerep").labels == tr.datasets.sarich().labels


def test_seeds_generators_and_none() -> None:
    by_seed = tr.fit(POINTS, metric="euclidean", rng=7, method="treerep")
    assert tr.fit(POINTS, metric="euclidean", rng=np.random.default_rng(7), method="treerep") == by_seed
    assert tr.fit(POINTS, metric="euclidean", rng=8, method="treerep") != by_seed
    tr.fit(POINTS, metric="euclidean", rng=None, method="treerep")


def test_tolerance_applies_at_every_level() -> None:
    # A public implementation dropped the tolerance below the first level. With a tolerance above every length all
    # points collapse onto one node, at whatever depth they are placed.
    d = np.abs(np.arange(40.0)[:, None] - np.arange(40.0))
    noisy = d + 1e-3 * np.random.default_rng(0).uniform(size=(40, 40)) * (d > 0)
    noisy = (noisy + noisy.T) / 2
    assert tr.fit(noisy, tol=1e-2, method="treerep").n_nodes == 40  # a path again: no spurious Steiner nodes
    assert tr.fit(noisy, tol=1e-9, method="treerep").n_nodes > 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "unknown method 'magic': choose one of auto, treerep"),
        (
            {"method": "treerep", "pivot": "far"},
            "unknown pivot rule 'far': choose one of closest, random, near",
        ),
        ({"trials": 0}, "trials must be a positive whole number, not 0"),
        ({"trials": 2.5}, "trials must be a positive whole number, not 2.5"),
        (
            {"method": "treerep", "tol": -1},
            "tol must be a length of at least 0 or 'auto', not -1",
        ),
        (
            {"method": "treerep", "tol": float("nan")},
            "tol must be a length of at least 0 or 'auto', not nan",
        ),
        (
            {"method": "treerep", "tol": "tight"},
            "tol must be a length of at least 0 or 'auto', not 'tight'",
        ),
        (
            {"method": "treerep", "tol": np.array([0.1])},
            "tol must be a length of at least 0 or 'auto', not array",
        ),
        ({"trials": True}, "trials must be a positive whole number, not True"),
        ({"n_jobs": 0}, "n_jobs must be a positive whole number"),
        ({"metric": "1 - r"}, "use metric='correlation'"),
        ({"method": "treerep", "metric": "sqeuclidean"}, "use metric='euclidean'"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        tr.fit(np.eye(3) * 0, **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_the_input_is_never_written_to() -> None:
    d = np.array(np.linalg.norm(POINTS[:, None] - POINTS[None], axis=-1))
    before = d.copy()
    tr.fit(d, trials=3, method="treerep")
    assert_array_equal(d, before)


STAR = """
import signal, sys, numpy as np, treerep as tr
n = 60_000
star = tr.Tree(n, np.column_stack([np.arange(n), np.full(n, n)]), np.ones(n))
tr.fit(tr.datasets.random_tree(n), n_jobs={jobs})  # compiles both phases: a compiler cannot be interrupted cleanly
print("ready", flush=True)
try:
    tr.fit(star, n_jobs={jobs})
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_long_fit_can_be_interrupted(jobs: int) -> None:
    # A star needs about n^2 queries: long enough to be interrupted, and stopped between two steps.
    command = [sys.executable, "-c", STAR.format(jobs=jobs)]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"
        assert process.returncode == 0
