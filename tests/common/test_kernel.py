"""A cached kernel is recompiled whenever any kernel source changes, and only then."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from treerep.common import kernel as kernel_module
from treerep.common.kernel import kernel, source_stamp

SOURCE = Path(kernel_module.__file__).parents[1]

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import treerep
assert treerep.__file__.startswith(sys.argv[1])
from treerep.metric.matrix import MatrixMetric
from treerep.metric import kernels
distance = MatrixMetric(np.array([[0.0, 2.0], [2.0, 0.0]])).pairs([0], [1])[0]
print(distance, sum(kernels.pair_distances.stats.cache_hits.values()))
"""


def distance_in_fresh_process(package_root: Path) -> tuple[float, int]:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(package_root)], capture_output=True, text=True, check=True, cwd=package_root
    )
    value, hits = result.stdout.split()
    return float(value), int(hits)


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE, tmp_path / "treerep", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_an_edited_distance_is_never_served_stale(copied_package: Path) -> None:
    assert distance_in_fresh_process(copied_package) == (2.0, 0)
    assert distance_in_fresh_process(copied_package) == (2.0, 1)  # the on-disk cache hits in the next process
    # `pair_distances` is stamped by a hash over all kernel sources, so an edit of any of them counts.
    kernels = copied_package / "treerep" / "metric" / "kernels.py"
    edited = kernels.read_text().replace("np.float64(oracle.distances[i, j])", "7.0 * oracle.distances[i, j]")
    kernels.write_text(edited)
    assert distance_in_fresh_process(copied_package) == (14.0, 0)


def test_an_edit_in_another_kernel_file_recompiles_too(copied_package: Path) -> None:
    distance_in_fresh_process(copied_package)
    lanes = copied_package / "treerep" / "metric" / "lane_kernels.py"
    lanes.write_text(lanes.read_text() + "\n# edited\n")
    assert distance_in_fresh_process(copied_package) == (2.0, 0)


def test_stamp_covers_every_kernel_file(tmp_path: Path) -> None:
    copy = tmp_path / "treerep"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    stamps = {source_stamp(copy)}
    files = [*copy.rglob("*kernels.py"), copy / "metric" / "oracles.py"]
    for path in files:
        path.write_text(path.read_text() + "\n")
        stamps.add(source_stamp(copy))
    assert len(stamps) == len(files) + 1


def test_compiled_kernels_release_the_gil_and_are_cached() -> None:
    @kernel
    def double(values: np.ndarray) -> None:
        for i in range(len(values)):
            values[i] *= 2

    values = np.arange(3.0)
    double(values)
    assert values.tolist() == [0.0, 2.0, 4.0]
    assert double.targetoptions["nogil"]
    assert double._cache._cache_file._source_stamp == kernel_module._STAMP
