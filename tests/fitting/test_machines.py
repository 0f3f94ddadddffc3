"""Trees from sums, products and roots alone have the same bits on every CPU: see docs/developers/treerep.md."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generic_cpu import settings

ROOT = Path(__file__).resolve().parents[2]

# Whole numbers are drawn, since other random numbers may take logarithms.
SCRIPT = """
import numpy as np
import treerep as tr

def show(*numbers):
    print(*(float(x).hex() for x in np.concatenate([np.ravel(n) for n in numbers])))

rng = np.random.default_rng(0)
points = rng.integers(-999, 999, (150, 11)) / 7
for metric in ("euclidean", "manhattan", "chebyshev"):
    tree = tr.fit(points, metric=metric)
    show(tree.edges, tree.weights, tr.average_distortion(tree, tr.PointMetric(points, metric)))
table = np.triu(rng.integers(700, 1000, (40, 40)) / 7, 1)
for method in ("treerep", "neighbor_joining"):
    tree = tr.fit(table + table.T, method=method)
    show(tree.edges, tree.weights)
"""


# Under `make test-generic`, the settings of this process are those of the oldest CPU.
GENERIC = {name: os.environ.get(name, value) for name, value in settings().items()}


def printed(**variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in GENERIC}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**kept, **variables},
    ).stdout


@pytest.mark.generic
def test_the_oldest_cpu_finds_the_same_bits() -> None:
    here = printed()
    assert len(here.splitlines()) == 5
    assert printed(**GENERIC) == here
