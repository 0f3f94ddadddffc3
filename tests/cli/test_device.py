"""`--device` does what `device=` does."""

import json

import numpy as np
import pytest

import treerep as tr
from tests.backends.devices import DEVICE
from tests.cli.commands import assert_one_line_error

pytestmark = pytest.mark.torch


@pytest.fixture
def points(tmp_path):
    found = np.random.default_rng(0).standard_normal((12, 3))
    np.save(tmp_path / "points.npy", found)
    return found


def test_every_command_that_has_it(call, points):
    data, device = ("points.npy", "--kind", "points"), ("--device", DEVICE)
    metric = tr.PointMetric(points)
    assert call("fit", *data, "--trials", "3", *device, "-o", "t.npz").returncode == 0
    tree = tr.Tree.load("t.npz")
    assert tree == tr.fit(metric, trials=3)
    assert call("fit", *data, "--trials", "1", "--refine", *device, "-o", "refined.npz").returncode == 0
    assert tr.Tree.load("refined.npz") == tr.refine(tr.fit(metric), metric)
    here, there = (
        json.loads(call("score", "t.npz", *data, "--json", *where).stdout) for where in ((), device)
    )
    assert there == {k: pytest.approx(x, rel=1e-9) if isinstance(x, float) else x for k, x in here.items()}
    done = call("refine", "t.npz", *data, "--weights", "l2", "--no-moves", *device, "-o", "better.npz")
    assert done.returncode == 0
    expected = tr.refine(tree, metric, weights="l2", moves=False)
    np.testing.assert_allclose(tr.Tree.load("better.npz").weights, expected.weights, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (
            ["fit", "four.csv", "--device", "abacus"],
            "torch cannot find device 'abacus' on this machine",
        ),
        (
            ["fit", "four.csv", "--device", "cpu", "--method", "upgma"],
            "upgma does not run on a device",
        ),
        (
            ["refine", "t.nwk", "four.csv", "--device", "cpu"],
            "moves do not run with --device cpu: pass --no-moves",
        ),
        (
            ["refine", "t.nwk", "four.csv", "--no-moves", "--device", "cpu"],
            "with --device cpu: pass --balance 0,",
        ),
    ],
)
def test_what_does_not_run_is_said_in_one_line(call, four, arguments, match):
    call("fit", "four.csv", "-o", "t.nwk")
    assert_one_line_error(call(*arguments), match)
