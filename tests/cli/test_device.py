"""`--device` does what `device=` does."""

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


def test_fit(call, points):
    data, device = ("points.npy", "--kind", "points"), ("--device", DEVICE)
    metric = tr.PointMetric(points)
    assert call("fit", *data, "--trials", "3", *device, "-o", "t.npz").returncode == 0
    assert tr.Tree.load("t.npz") == tr.fit(metric, trials=3)
    assert call("fit", *data, "--trials", "1", "--refine", *device, "-o", "refined.npz").returncode == 0
    assert tr.Tree.load("refined.npz") == tr.refine(tr.fit(metric), metric)


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
    ],
)
def test_what_does_not_run_is_said_in_one_line(call, four, arguments, match):
    assert_one_line_error(call(*arguments), match)
