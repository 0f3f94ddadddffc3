"""A cached kernel is recompiled whenever any kernel source changes, and only then."""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching

from tests.processes import started
from treerep._core import kernel as kernel_module
from treerep._core.kernel import borrower, kernel, source_stamp

SOURCE = Path(kernel_module.__file__).parents[1]

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import treerep
assert treerep.__file__.startswith(sys.argv[1])
from treerep.metric.matrix import MatrixMetric
from treerep.metric.oracle import distance_kernels as kernels
distance = MatrixMetric(np.array([[0.0, 2.0], [2.0, 0.0]])).pairs([0], [1])[0]
print(distance, sum(kernels.pair_distances.stats.cache_hits.values()))
"""


def distance_in_fresh_process(package_root: Path) -> tuple[float, int]:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(package_root)],
        capture_output=True,
        text=True,
        check=True,
        cwd=package_root,
    )
    value, hits = result.stdout.split()
    return float(value), int(hits)


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    shutil.copytree(SOURCE, tmp_path / "treerep", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_an_edited_distance_is_never_served_stale(copied_package: Path) -> None:
    assert distance_in_fresh_process(copied_package) == (2.0, 0)
    assert distance_in_fresh_process(copied_package) == (
        2.0,
        1,
    )  # the on-disk cache hits in the next process
    # `pair_distances` is stamped by a hash over all kernel sources, so an edit of any of them counts.
    kernels = copied_package / "treerep" / "metric" / "oracle" / "distance_kernels.py"
    edited = kernels.read_text().replace(
        "np.float64(oracle.distances[i, j])", "7.0 * oracle.distances[i, j]"
    )
    kernels.write_text(edited)
    assert distance_in_fresh_process(copied_package) == (14.0, 0)


def test_an_edit_in_another_kernel_file_recompiles_too(copied_package: Path) -> None:
    distance_in_fresh_process(copied_package)
    lanes = copied_package / "treerep" / "metric" / "oracle" / "lane_kernels.py"
    lanes.write_text(lanes.read_text() + "\n# edited\n")
    assert distance_in_fresh_process(copied_package) == (2.0, 0)


def test_stamp_covers_every_kernel_file(tmp_path: Path) -> None:
    copy = tmp_path / "treerep"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    stamps = {source_stamp(copy)}
    classes = ("metric/oracle/classes.py", "tree/structure/rooted.py")
    files = [*copy.rglob("*kernels.py"), *(copy / name for name in classes)]
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


@kernel
def triple(values: np.ndarray) -> np.ndarray:
    return 3 * values


@pytest.fixture
def never_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "_warned", False)


@pytest.mark.usefixtures("never_warned")
def test_without_a_folder_for_the_cache_kernels_compile_with_one_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.warns(
        RuntimeWarning, match="cannot be stored .*no locator available.*: set NUMBA_CACHE_DIR"
    ):
        first = kernel(triple.py_func)
    second = kernel(triple.py_func)  # a second warning would be an error
    assert first(np.ones(2)).tolist() == second(np.ones(2)).tolist() == [3.0, 3.0]


@pytest.mark.usefixtures("never_warned")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_cache_that_cannot_be_written_is_one_warning(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(kernel_module._CacheFile, "_save_data", full)
    monkeypatch.setattr(kernel_module._CacheFile, "load", lambda *_: None)
    again = kernel(triple.py_func)
    with pytest.warns(RuntimeWarning, match=os.strerror(number)):
        assert again(np.ones(2, np.float32)).tolist() == [3.0, 3.0]
    assert again(np.ones(2, np.int64)).tolist() == [3, 3]  # a second warning would be an error


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x05", b"not a pickle"])
def test_a_damaged_cache_is_compiled_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, content: bytes
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for _ in range(2):  # with a sound cache, and with a damaged one
        again = kernel(triple.py_func)
        assert again(np.ones(2)).tolist() == [3.0, 3.0]
        assert sum(again.stats.cache_hits.values()) == 0
        files = [*tmp_path.rglob(f"*.{suffix}")]
        assert len(files) == 1
        assert files[0].stat().st_size > 100
        files[0].write_bytes(content)
    kernel(triple.py_func)(np.ones(2))
    last = kernel(triple.py_func)
    last(np.ones(2))
    assert sum(last.stats.cache_hits.values()) == 1


def test_code_of_one_process_is_never_taken_for_that_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both have read the index before either writes it, and they write their code in the other order.
    def file() -> kernel_module._CacheFile:
        return kernel_module._CacheFile(
            cache_path=str(tmp_path), filename_base="f", source_stamp="s"
        )

    class Slow(kernel_module._CacheFile):
        def _load_index(self) -> dict[object, str]:
            return {}

    slow = Slow(cache_path=str(tmp_path), filename_base="f", source_stamp="s")
    file().save("float64", "code for float64")
    slow.save("float32", "code for float32")
    assert file().load("float32") == "code for float32"
    assert file().load("float64") in (None, "code for float64")
    index = file()._load_index()
    file().save("float64", "code for float64")
    assert {key: file().load(key) for key in (*index, "float64")} == {
        "float32": "code for float32",
        "float64": "code for float64",
    }


AT_ONCE = """
import sys, time
import numpy as np
from treerep.metric.matrix import MatrixMetric
print("ready", flush=True)
sys.stdin.readline()
for kind in sys.argv[1].split(","):
    print(MatrixMetric(np.array([[0, 2], [2, 0]], kind)).pairs([0], [1])[0])
"""


def test_processes_that_compile_at_once(tmp_path: Path) -> None:
    pipe, environment = subprocess.PIPE, {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(
                started(
                    [sys.executable, "-c", AT_ONCE, kinds],
                    stdin=pipe,
                    stdout=pipe,
                    text=True,
                    env=environment,
                )
            )
            for kinds in ("float64,float32", "float32,float64")
        ]
        assert [child.stdout.readline() for child in children] == ["ready\n"] * 2
        assert [child.communicate("\n", timeout=300)[0] for child in children] == [
            "2.0\n2.0\n"
        ] * 2
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE, "float64,float32,float64"],
        input="\n",
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout == "ready\n2.0\n2.0\n2.0\n"


UNCOMPILED = """
import numba, numpy as np
from treerep.metric.matrix import MatrixMetric
assert MatrixMetric(np.array([[0.0, 2.0], [2.0, 0.0]])).pairs([0], [1]).tolist() == [2.0]
own = lambda x: x
assert numba.config.DISABLE_JIT and numba.njit(own) is own
"""


def test_kernels_are_compiled_where_numba_is_told_not_to(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", UNCOMPILED], check=True, env=environment)


def itself(values: np.ndarray) -> np.ndarray:
    return values


def second_half(values: np.ndarray) -> np.ndarray:
    return values[len(values) // 2 :]


def fresh_sum(values: np.ndarray) -> float:
    return np.empty(len(values)).sum()


def test_a_borrower_counts_no_references() -> None:
    @borrower
    def last(values):  # type: ignore[no-untyped-def]
        return values[len(values) - 1]

    @numba.njit
    def total(values, count):  # type: ignore[no-untyped-def]
        done = 0.0
        for _ in range(count):
            done += last(values)
        return done

    values = np.array([1.0, 2.0])
    before = sys.getrefcount(values)
    assert total(values, 3) == 6.0
    assert sys.getrefcount(values) == before
    assert "NRT_incref" not in next(iter(last.inspect_llvm().values()))


@pytest.mark.parametrize(
    ("function", "reason"),
    [(itself, "returns an array"), (second_half, "returning of array"), (fresh_sum, "empty")],
)
def test_a_borrower_neither_returns_nor_allocates_arrays(function, reason: str) -> None:  # type: ignore[no-untyped-def]
    borrowed = borrower(function)
    with pytest.raises(Exception, match=reason):
        borrowed.compile((numba.float64[::1],))
