"""A matrix on disk is fitted without being read into memory: in a process of its own, whose memory is watched."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.out_of_core import measured, rows_of, tree_of_small_numbers

GIB = 1 << 30


def test_the_rows_that_are_written_are_the_distances_of_the_tree() -> None:
    tree = tree_of_small_numbers(300)
    assert tree.n_nodes > 300
    np.testing.assert_array_equal(list(rows_of(tree)), tree.distances())


def test_a_small_one(tmp_path: Path) -> None:
    found = measured(tmp_path, 3_000, large=1 << 20)
    assert found["on disk"] and found["same"]
    assert found["anonymous"] < GIB


@pytest.mark.slow
def test_ten_gigabytes(tmp_path: Path) -> None:
    free = shutil.disk_usage(tmp_path).free
    if free < 12e9:
        pytest.skip(f"{tmp_path} has {free:,} bytes free, and this needs 12 GB: set TMPDIR to a larger disk")
    try:
        found = measured(tmp_path, 100_000)
    finally:
        (tmp_path / "distances.npy").unlink(missing_ok=True)
    assert found["on disk"] and found["same"]
    assert found["anonymous"] < GIB
    assert found["read opening"] + found["read fitting"] < found["bytes"] / 2
