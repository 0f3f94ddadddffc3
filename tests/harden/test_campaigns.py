"""Each campaign in small, so that its own code keeps working; and that it notices what is wrong."""

import importlib
import json
import mmap
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import treerep as tr
from harden import __main__ as command
from harden import (
    common,
    concurrent,
    examples,
    hostile,
    kills,
    limits,
    memory,
    parsers,
    recovery,
    targets,
    twins,
    writes,
)


@pytest.mark.slow
def test_recovery_in_small() -> None:
    result = recovery.campaign(60)
    assert result.faults == [] and result.checked > 60


def test_recovery_sees_wrong_trees() -> None:
    found = next(case for case in map(recovery.case, range(100)) if len(case.truth) > 10)
    assert recovery.fault(found, found.truth) is None
    weights = found.truth.weights.copy()
    weights[weights.argmax()] *= 1.001
    assert "is off by" in recovery.fault(found, found.truth.with_weights(weights))
    longer = found.truth.edges
    split = tr.Tree(
        len(found.truth),
        np.concatenate(
            [
                np.delete(longer, 0, 0),
                [[longer[0, 0], len(longer) + 1], [len(longer) + 1, longer[0, 1]]],
            ]
        ),
        np.concatenate([np.delete(found.truth.weights, 0), [0.0, found.truth.weights[0]]]),
    )
    assert "are right" in recovery.fault(found, split)


def test_recovery_draws_what_it_says() -> None:
    cases = [recovery.case(number) for number in range(150)]
    assert {case.distances.dtype.name for case in cases} >= {
        "float64",
        "float32",
        "int64",
        "int16",
    }
    assert max(len(case.truth) for case in cases) <= recovery.LARGEST
    largest = [case.distances.max(initial=0) for case in cases]
    assert max(largest) > 1e9 and min(d for d in largest if d > 0) < 1e-8
    assert any(
        (case.distances + np.eye(len(case.truth)) == 0).any() for case in cases
    )  # points at the same place


def test_every_kernel_has_a_twin() -> None:
    found = {f"{file}.{name}" for file, names in twins.in_source().items() for name in names}
    assert found == set(twins.judged())
    assert {file for file, names in twins.in_source().items() if not names} == set(twins.INLINED)


def test_every_twin_is_a_test() -> None:
    for test in twins.tests():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (common.ROOT / path).read_text(), test


def test_a_kernel_that_was_never_called_is_seen() -> None:
    from treerep._core.kernel import kernel

    @kernel
    def double(x: float) -> float:
        return 2 * x

    assert not examples.called(double)
    assert double(2.0) == 4.0
    assert examples.called(double)


def test_the_modules_that_are_watched_exist() -> None:
    modules = parsers.watched()
    for module in modules:
        importlib.import_module(module)
    for folder in parsers._FOLDERS:  # a folder that was moved would have no modules
        name = f"treerep.{folder.replace('/', '.')}."
        assert any(module.startswith(name) for module in modules), folder


@pytest.mark.parametrize("name", parsers.NAMES)
def test_parsers_in_small(name: str) -> None:
    choose = random.Random(name)
    valid = targets.seeds(name)
    for content in valid:
        targets.TARGETS[name](content)
    for _ in range(40):
        content = parsers.mutated(
            choose.choice(valid), targets.ALL_PIECES, choose, targets.LEAST.get(name, 1)
        )
        targets.TARGETS[name](content)


def test_a_parser_that_fails_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(content: bytes) -> None:
        raise KeyError(len(content))

    monkeypatch.setitem(targets.TARGETS, "newick", fail)
    monkeypatch.setattr(parsers, "CORPUS", tmp_path)
    (tmp_path / "newick").mkdir()
    assert parsers._fuzz_blind("newick", 0.05, seed=1) > 0
    assert list((tmp_path / "newick").iterdir())


def test_errors_of_two_lines_or_without_the_file_are_faults() -> None:
    targets.one(ValueError("x.csv: wrong"), Path("x.csv"))
    for error in (
        ValueError("x.csv: two\nlines"),
        ValueError("which file?"),
        ValueError("x.csv" + "x" * 5000),
    ):
        with pytest.raises(AssertionError):
            targets.one(error, Path("x.csv"))


@pytest.mark.slow
def test_threads_find_what_one_finds() -> None:
    assert set(concurrent.in_threads(large=False)) == {concurrent.alone(large=False)}


def test_threads_that_find_another_tree_are_seen() -> None:
    def judged(printed: str, code: int = 0) -> list[str]:
        words = [sys.executable, "-c", f"print({printed!r}); raise SystemExit({code})"]
        pipe = subprocess.PIPE
        return concurrent._judge(subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True), "a b")

    assert judged("\n".join(["a b"] * 8)) == []
    assert judged("\n".join([*["a b"] * 7, "a c"])) == ["thread 7 found other trees"]
    assert judged("\n".join(["a b"] * 7)) == ["7 threads ended, and not 8"]
    assert "ended with 3" in judged("a b", 3)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["newick", "files"])
def test_memory_in_small(name: str) -> None:
    levels = memory.growth(name, 50)
    assert levels["early"] > 10 and levels["late"] - levels["early"] < memory.ALLOWED


def test_a_leak_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []

    def leak(seed: int) -> None:
        kept.append(mmap.mmap(-1, 8192))  # pages of its own: the allocator may have room for small things
        kept[-1].write(bytes([seed % 256]) * 8192)

    monkeypatch.setattr(memory, "works", lambda: {"leak": leak})
    levels = memory.growth("leak", 1000)
    assert levels["late"] - levels["early"] > memory.ALLOWED


@pytest.mark.slow
def test_hostile_in_small() -> None:
    result = hostile.campaign(300)
    assert result.faults == [] and result.checked > 300


def test_hostile_sees_what_is_wrong(tmp_path: Path) -> None:
    def half() -> None:
        (tmp_path / "half").write_text("half")
        raise ValueError("no")

    def other() -> None:
        raise KeyError("x")

    def refuse() -> None:
        raise ValueError("no such name")

    assert "files ['half']" in hostile._tried("it", half, tmp_path, may_refuse=True).fault
    assert list(tmp_path.iterdir()) == []
    assert "KeyError" in hostile._tried("it", other, tmp_path, may_refuse=True).fault
    assert hostile._tried("it", refuse, tmp_path, may_refuse=True) == (None, True)
    assert "no such name" in hostile._tried("it", refuse, tmp_path, may_refuse=False).fault
    tree = next(iter(hostile.shapes(10).values()))
    assert hostile._difference(tree.with_weights(tree.weights * 2), tree) == "another tree"


def test_every_command_that_writes_is_killed(tmp_path: Path) -> None:
    from typer.main import get_command

    from treerep.cli.app import app

    commands = get_command(app).commands
    writing = {
        name for name, one in commands.items() if {"output", "csv"} & {option.name for option in one.params}
    }
    assert {words[0] for words, _ in kills.commands(tmp_path).values()} == writing


@pytest.mark.slow
def test_kills_in_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "old.nwk", tmp_path / "new.nwk"
    old.write_bytes(kills._OLD)
    new.write_bytes(b"(a:1,b:2);")
    mark = kills._mark(new)
    assert kills._judged(old, mark, old=True) is None
    assert kills._judged(new, mark, old=True) is None
    assert kills._judged(tmp_path / "none", mark, old=False) is None
    assert "gone" in kills._judged(tmp_path / "none", mark, old=True)
    new.write_bytes(b"(a:1,b")
    assert "half written" in kills._judged(new, mark, old=False)
    page = tmp_path / "page.html"
    page.write_text("<html>")
    assert "ends in" in kills._judged(page, "", old=False)


def test_writers_that_are_killed_leave_old_or_new_files(tmp_path: Path) -> None:
    # Several files together; the slow test below has all writers.
    words = [sys.executable, "-m", "harden.writes", str(tmp_path), "4", "itol"]
    done = subprocess.run(words, capture_output=True, text=True, env=common.environment(), check=True)
    *faults, last = done.stdout.splitlines()
    kills, count = map(int, last.split())
    assert faults == []
    assert (kills > 50, count) == (True, 1)


@pytest.mark.slow
def test_all_writers_in_small() -> None:
    result = writes.campaign(4)
    assert result.faults == [] and result.checked > 500


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (
            "lambda folder: (folder / 'a').write_text('x' * 20)",
            "a is half written: 0 of 20 bytes",
        ),
        (
            "lambda folder: ((folder / 'a').unlink(True), (folder / 'a').symlink_to('/dev/null'))",
            "a is gone",
        ),
        (
            "lambda folder: ((folder / 'b').write_text('x'), (folder / 'b').rename(folder / 'a'))",
            "left b",
        ),
    ],
)
def test_writers_that_are_not_atomic_are_seen(tmp_path: Path, code: str, fault: str) -> None:
    judge = f"print(writes.faults_of('it', {code}, Path({str(tmp_path)!r})))"
    script = f"from pathlib import Path; from harden import writes; {judge}"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=common.environment(),
        check=True,
    )
    assert fault in done.stdout


@pytest.mark.slow
def test_limits_in_small(tmp_path: Path) -> None:
    import resource

    words, outputs = kills.commands(tmp_path)["convert to nexus"]
    assert limits.limited(words, outputs, tmp_path, resource.RLIMIT_FSIZE, 100) == (False, None)
    assert limits.limited(words, outputs, tmp_path, resource.RLIMIT_FSIZE, 10**7) == (
        True,
        None,
    )
    assert limits.limited(words, ["other.nex"], tmp_path, resource.RLIMIT_FSIZE, 10**7)[1] is not None


def test_results_are_kept_and_faults_end_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(common, "TABLE", tmp_path / "results.md")
    monkeypatch.setattr(
        recovery,
        "campaign",
        lambda metrics=3: common.Result("a try", metrics, ["one"], "a note"),
    )
    monkeypatch.setattr(sys, "argv", ["harden", "recovery", "--size", "7"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    assert "1 FAULTS" in capsys.readouterr().out
    assert json.loads((tmp_path / "results.json").read_text())["recovery"]["metrics"] == 7
    assert "| `recovery` | a try; a note | 7 | 1 |" in (tmp_path / "results.md").read_text()
    monkeypatch.setattr(sys, "argv", ["harden", "nothing"])
    with pytest.raises(SystemExit, match="2"):
        command.main()
