"""Compiled kernels are stored once per machine, and recompiled when a source they use changes, and only then."""

import contextlib
import errno
import gc
import os
import pickle
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from tests.processes import started
from treerep._core import kernel_cache
from treerep._core.kernel import borrower, helper, kernel
from treerep._core.kernel_cache import source_stamp

SOURCE = Path(kernel_cache.__file__).parents[1]

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
    """Return a distance, and how often compiled code came from the cache, which all copies share."""
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(package_root)],
        capture_output=True,
        text=True,
        check=True,
        cwd=package_root,
        env={**os.environ, "NUMBA_CACHE_DIR": str(package_root.parent / "cache")},
    )
    value, hits = result.stdout.split()
    return float(value), int(hits)


def copy_package(folder: Path) -> Path:
    shutil.copytree(SOURCE, folder / "treerep", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    return copy_package(tmp_path / "first")


def test_an_edited_distance_is_never_served_stale(copied_package: Path) -> None:
    assert distance_in_fresh_process(copied_package) == (2.0, 0)
    # The on-disk cache hits in the next process.
    assert distance_in_fresh_process(copied_package) == (2.0, 1)
    kernels = copied_package / "treerep" / "metric" / "oracle" / "distance_kernels.py"
    edited = kernels.read_text().replace("np.float64(oracle.distances[i, j])", "7.0 * oracle.distances[i, j]")
    kernels.write_text(edited)
    assert distance_in_fresh_process(copied_package) == (14.0, 0)


def test_an_edit_in_a_kernel_file_that_is_used_recompiles_too(copied_package: Path) -> None:
    distance_in_fresh_process(copied_package)
    lanes = copied_package / "treerep" / "metric" / "oracle" / "lane_kernels.py"
    lanes.write_text(lanes.read_text() + "\n# edited\n")
    assert distance_in_fresh_process(copied_package) == (2.0, 0)


def test_an_upgrade_keeps_the_kernels_whose_sources_did_not_change(
    copied_package: Path, tmp_path: Path
) -> None:
    distance_in_fresh_process(copied_package)
    upgraded = copy_package(tmp_path / "second")
    for other in ("fitting/joining/_joining_kernels.py", "metric/matrix.py"):
        path = upgraded / "treerep" / other
        path.write_text(path.read_text() + "\n# edited\n")
    assert distance_in_fresh_process(upgraded) == (2.0, 1)


def test_the_stamp_covers_all_kernels_that_a_kernel_imports(tmp_path: Path) -> None:
    copy = copy_package(tmp_path) / "treerep"
    path = copy / "fitting/treerep/_zone_kernels.py"
    oracle = {
        file.relative_to(copy).as_posix()
        for file in (copy / "metric/oracle").glob("*.py")
        if file.name.endswith(("kernels.py", "classes.py"))
    }
    sources = {file.relative_to(copy).as_posix() for file in kernel_cache._sources(path)}
    assert {"fitting/treerep/_zone_kernels.py", *oracle} <= sources
    # The decorators and the compiler also decide what the machine code is.
    assert {source for source in sources if source.startswith("_core/")} == {
        "_core/compilers.py",
        "_core/kernel.py",
        "_core/kernel_cache.py",
    }

    def stamp() -> str:
        kernel_cache._file_hash.cache_clear()
        return source_stamp(path)

    stamps = {stamp()}
    for source in sources:
        (copy / source).write_text((copy / source).read_text() + "\n")
        stamps.add(stamp())
    assert len(stamps) == len(sources) + 1


def test_every_module_that_kernels_import_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    texts = {
        "a_kernels.py": "from .part import b_kernels as b\nfrom ._types import Pair\n",
        "_types.py": "from .unused import x\n",
        "unused.py": "x = 1\n",
        "part/b_kernels.py": "from ..c_kernels import (\n    one,\n    two,\n)\n",
        "c_kernels.py": "one = two = 1\n",
        "other_kernels.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = kernel_cache._sources(tmp_path / "a_kernels.py")
    names = {file.relative_to(tmp_path).as_posix() for file in found}
    assert names == {"a_kernels.py", "_types.py", "part/b_kernels.py", "c_kernels.py"}


def test_compiled_kernels_release_the_gil_and_are_cached() -> None:
    @kernel
    def double(values: np.ndarray) -> None:
        for i in range(len(values)):
            values[i] *= 2

    values = np.arange(3.0)
    double(values)
    assert values.tolist() == [0.0, 2.0, 4.0]
    assert double.targetoptions["nogil"]
    assert isinstance(double._cache, kernel_cache.KernelCache)


@helper
def larger_by(value: int, step: int) -> int:
    return value + step


def test_a_helper_is_compiled_once_for_int32_int64_and_constants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    @kernel
    def add_up(short: np.ndarray, long: np.ndarray) -> int:
        total = larger_by(short[0], 1) + larger_by(long[0], short[0])
        return total + larger_by(2, long[0])

    largest = np.iinfo(np.int32).max
    found = add_up(np.array([largest], np.int32), np.array([3]))
    assert found == (largest + 1) + (largest + 3) + 5
    assert larger_by.nopython_signatures == [numba.int64(numba.int64, numba.int64)]


def test_kernels_may_contain_functions_and_expressions_of_arrays() -> None:
    @kernel
    def combine(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        def half(value: float) -> float:
            return value / 2

        z = x * y - 1.0
        return np.sqrt(z * z) + half(x[0])

    assert combine(np.array([2.0, 4.0]), np.array([3.0, 5.0])).tolist() == [6.0, 20.0]


@kernel
def triple(values: np.ndarray) -> np.ndarray:
    return 3 * values


@pytest.fixture
def never_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "_warned", False)


@pytest.mark.usefixtures("never_warned")
def test_without_a_folder_for_the_cache_kernels_compile_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file"))
    first = kernel(triple.py_func)
    with pytest.warns(RuntimeWarning, match="cannot be stored .*: set NUMBA_CACHE_DIR"):
        assert first(np.ones(2)).tolist() == [3.0, 3.0]
    second = kernel(triple.py_func)  # a second warning would be an error
    assert second(np.ones(2)).tolist() == [3.0, 3.0]


def test_without_a_home_the_cache_is_beside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    choose = kernel_cache._default_folder.__wrapped__
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert choose() == SOURCE / "__pycache__" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert choose() == tmp_path / "treerep" / "kernels"


@pytest.mark.usefixtures("never_warned")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_a_cache_that_cannot_be_written_is_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_write", full)
    again = kernel(triple.py_func)
    with pytest.warns(RuntimeWarning, match=os.strerror(number)):
        assert again(np.ones(2, np.float32)).tolist() == [3.0, 3.0]
    assert again(np.ones(2, np.int64)).tolist() == [3, 3]  # a second warning would be an error


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files")
@pytest.mark.usefixtures("never_warned", "open_umask")
def test_code_that_others_may_have_written_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    first = kernel(triple.py_func)
    first(np.ones(2))
    folder = tmp_path / "treerep"
    (entry,) = folder.glob("*.nbc")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    entry.write_bytes(pickle.dumps(Payload(tmp_path / "payload")))
    entry.chmod(0o666)
    with pytest.warns(RuntimeWarning, match="is not used, because other users may write it"):
        assert kernel(triple.py_func)(np.ones(2)).tolist() == [3.0, 3.0]
    assert not (tmp_path / "payload").exists()
    again = kernel(triple.py_func)  # the entry was written again
    again(np.ones(2))
    assert sum(again.stats.cache_hits.values()) == 1


class Payload:
    """An object that makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files")
@pytest.mark.usefixtures("open_umask")
def test_folders_of_other_users_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, mode, private in (
        (os.geteuid(), 0o755, True),
        (0, 0o755, True),
        (os.geteuid() + 1, 0o700, False),
        (os.geteuid(), 0o775, False),
        (0, 0o777, False),
    ):
        status = os.stat_result((mode, 0, 0, 0, owner, 0, 0, 0, 0, 0))
        assert kernel_cache._is_private(status) == private
    folder = tmp_path / "treerep"
    folder.mkdir(mode=0o777)
    assert kernel_cache._named_folder(str(tmp_path)) == folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700  # of this user, so it is closed
    # The folder of another user, in a folder for all.
    kernel_cache._named_folder.cache_clear()
    monkeypatch.setattr(kernel_cache, "_make_private", lambda _: False)
    assert kernel_cache._named_folder(str(tmp_path)).name == f"treerep-{os.geteuid()}"
    kernel_cache._named_folder.cache_clear()


@pytest.mark.parametrize("content", [b"", b"\x80\x05", b"not a pickle"])
def test_a_damaged_cache_is_compiled_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for _ in range(2):  # with a sound cache, and with a damaged one
        again = kernel(triple.py_func)
        assert again(np.ones(2)).tolist() == [3.0, 3.0]
        assert sum(again.stats.cache_hits.values()) == 0
        (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
        assert file.stat().st_size > 100
        file.write_bytes(content)
    kernel(triple.py_func)(np.ones(2))
    last = kernel(triple.py_func)
    last(np.ones(2))
    assert sum(last.stats.cache_hits.values()) == 1


def test_code_for_other_types_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel(triple.py_func)(np.ones(2))
    (stored,) = tmp_path.rglob("*.nbc")
    monkeypatch.setattr(kernel_cache.KernelCache, "_path", lambda *_: stored)
    other = kernel(triple.py_func)
    assert other(np.ones(2, np.float32)).dtype == np.float32
    assert sum(other.stats.cache_hits.values()) == 0


def test_entries_that_were_not_used_for_long_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel(triple.py_func)(np.ones(2))
    (stored,) = tmp_path.rglob("*.nbc")
    days_ago = time.time() - 100 * 86_400
    for name in ("treerep.other.kernel-1.nbc", stored.name.partition("-")[0] + "-1.nbc"):
        (stored.parent / name).touch()
        os.utime(stored.parent / name, (days_ago, days_ago))
    os.utime(stored, (days_ago, days_ago))
    kernel(triple.py_func)(np.ones(2))  # used, so it is kept from now on
    kernel(triple.py_func)(np.ones(2, np.float32))
    left = {path.name for path in stored.parent.iterdir()}
    assert stored.name in left
    assert "treerep.other.kernel-1.nbc" in left
    assert len(left) == 3


AT_ONCE = """
import sys, time
import numpy as np
from treerep.metric.matrix import MatrixMetric
from treerep.metric.oracle.distance_kernels import pair_distances
print("ready", flush=True)
sys.stdin.readline()
for kind in sys.argv[1].split(","):
    print(MatrixMetric(np.array([[0, 2], [2, 0]], kind)).pairs([0], [1])[0])
print(sum(pair_distances.stats.cache_misses.values()))
"""


def test_processes_that_need_the_same_kernels_compile_each_once(tmp_path: Path) -> None:
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
        printed = [child.communicate("\n", timeout=300)[0].split() for child in children]
    assert [lines[:2] for lines in printed] == [["2.0", "2.0"]] * 2
    assert sum(int(lines[2]) for lines in printed) == 2
    done = subprocess.run(
        [sys.executable, "-c", AT_ONCE, "float64,float32,float64"],
        input="\n",
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout == "ready\n2.0\n2.0\n2.0\n0\n"
    assert not [*tmp_path.rglob("*.lock")]


def test_a_process_that_never_finishes_delays_others_only_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_PATIENCE", 0.1)
    again = kernel(triple.py_func)
    sig = (numba.typeof(np.ones(2)),)
    path = again._cache._path(sig, again.targetctx.codegen())
    stuck = kernel_cache._lock(path)
    assert again(np.ones(2)).tolist() == [3.0, 3.0]
    kernel_cache._unlock(stuck)


def test_an_error_of_the_compiler_leaves_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    with pytest.raises(numba.TypingError):
        kernel(triple.py_func)(None)
    assert not [*tmp_path.rglob("*.lock")]
    assert gc.isenabled()


def test_the_garbage_collector_stays_off_if_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    gc.disable()
    try:
        assert kernel(triple.py_func)(np.ones(1)).tolist() == [3.0]
        assert not gc.isenabled()
    finally:
        gc.enable()


@helper
def checked_root(value: float) -> float:
    if value < 0.0:
        raise ValueError("negative", value)
    return np.sqrt(value)


@helper
def rooted(value: float) -> float:
    return checked_root(value) + 1.0


def sum_of_roots(values: np.ndarray) -> float:
    total = 0.0
    for value in values:
        total += rooted(value)
    return total


def test_helpers_have_no_machine_code_and_raise_through_their_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for _ in range(2):  # compiled, then from the cache
        total = kernel(sum_of_roots)
        assert total(np.array([4.0, 9.0])) == 7.0
        with pytest.raises(ValueError, match=r"'negative', -9\.0"):
            total(np.array([4.0, -9.0]))
    (compiled,) = rooted.overloads.values()
    assert "define" in compiled.library.get_llvm_str()
    with pytest.raises(RuntimeError, match="no compiled object"):
        compiled.library._get_compiled_object()


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
    # The calls of a helper, which may allocate, are resolved first.
    helper(function).compile((numba.float64[::1],))
    borrowed = borrower(function)
    with pytest.raises(Exception, match=reason):
        borrowed.compile((numba.float64[::1],))
