"""The command as a user types it: pipes, full disks, interrupts."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import treerep as tr
from tests.cli.commands import assert_one_line_error, treerep
from tests.processes import started
from treerep.formats import read_tree

TREEREP = f"{sys.executable} -m treerep"


def shell(line, folder):
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=folder)


def test_pipes(four, tmp_path):
    done = shell(f"set -o pipefail; cat four.csv | {TREEREP} fit - > t.nwk", tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("4 points, 6 nodes, ")
    assert "\x1b" not in done.stderr
    assert len(read_tree(tmp_path / "t.nwk")) == 4
    done = shell(
        f"set -o pipefail; {TREEREP} fit <(cat four.csv) | {TREEREP} score - four.csv --json",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert '"points": 4' in done.stdout


def test_output_goes_through_devices_and_pipes(four, tmp_path):
    convert, expected = (
        f"{TREEREP} convert --to csv four.csv",
        (tmp_path / "four.csv").read_text(encoding="utf-8"),
    )
    os.mkfifo(tmp_path / "pipe")
    for line in (
        f"{convert} /dev/stdout > d.csv; cat d.csv",
        f"{convert} >(cat) | cat",
        f"cat pipe > d.csv & {convert} pipe && wait && test -p pipe && cat d.csv",
    ):
        done = shell(f"set -o pipefail; {line}", tmp_path)
        assert (done.returncode, done.stdout) == (0, expected), (line, done.stderr)
    assert {path.name for path in tmp_path.iterdir()} == {"four.csv", "pipe", "d.csv"}


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_end_leaves_no_temporary_file(tmp_path, ending):
    np.save(tmp_path / "points.npy", np.random.default_rng(0).standard_normal((6000, 2)))
    (tmp_path / "d.csv").write_text("old")
    command = [
        sys.executable,
        "-m",
        "treerep",
        "convert",
        "points.npy",
        "d.csv",
        "--kind",
        "points",
    ]
    with started(command, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        deadline = time.monotonic() + 100
        while not any(part.stat().st_size for part in tmp_path.glob(".treerep-*.part")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(ending)
        assert process.wait(timeout=100) == 128 + ending
        assert process.stderr.read() == b""
    assert {path.name for path in tmp_path.iterdir()} == {"points.npy", "d.csv"}
    assert (tmp_path / "d.csv").read_text() == "old"


def test_signals_are_left_as_they_were(call, four):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    assert call("fit", "four.csv").returncode == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    np.save(tmp_path / "points.npy", np.random.default_rng(0).standard_normal((3000, 2)))
    # More than a pipe holds, to a reader that goes away at once.
    line = f"{TREEREP} convert points.npy - --to csv --kind points | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = shell(line, tmp_path)
    assert (done.stdout, done.stderr) == ("1\n", "")


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("fit four.csv -o t.nwk <&- >&-", 0, "4 points, 6 nodes"),
        ("fit four.csv -o t.nwk <&- >&- 2>&-", 0, ""),
        ("fit four.csv >&-", 2, "standard output is closed: write to a file with --output"),
        ("delta four.csv --json >&-", 2, "standard output is closed: write to a file"),
        ("convert four.csv - --to csv >&-", 2, "standard output is closed: write to a file"),
        ("fit - <&-", 2, "standard input: the file is empty"),
        ("no-such-command <&- >&- 2>&-", 2, ""),
    ],
)
def test_closed_streams(four, tmp_path, line, code, error):
    done = shell(f"{TREEREP} {line}", tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == bool(error)


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))


def test_a_full_disk_leaves_nothing_behind(four, tmp_path):
    assert (
        treerep("fit", "four.csv", "-o", "t.nwk", cwd=tmp_path).returncode == 0
    )  # what is compiled is stored by now
    done = treerep("fit", "four.csv", "-o", "u.nwk", cwd=tmp_path, preexec_fn=small_files)
    assert_one_line_error(done, "u.nwk: File too large")
    assert {path.name for path in tmp_path.iterdir()} == {"four.csv", "t.nwk"}


@pytest.mark.parametrize("problem", ["no folder", "a full disk"])
def test_compiled_code_that_cannot_be_stored_is_one_line(four, tmp_path, problem):
    code = "from treerep.cli import main; main(['convert', 'four.csv', 'd.tsv'])"
    cache = tmp_path / "cache"
    cache.touch() if problem == "no folder" else cache.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        preexec_fn=None
        if problem == "no folder"
        else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900)),
    )
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "d.tsv").read_text(encoding="utf-8").splitlines()) == 5
    assert len(done.stderr.splitlines()) == 1
    assert "treerep: warning: compiled code cannot be stored" in done.stderr
    assert "four.csv" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_standard_output_that_is_full(four, tmp_path):
    done = shell(f"{TREEREP} convert four.csv - --to csv >/dev/full", tmp_path)
    assert_one_line_error(done, "No space left")


def cpu_seconds(process):
    return sum(psutil.Process(process.pid).cpu_times()[:2])


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_long_fit_without_a_word(tmp_path, ending):
    points = np.random.default_rng(0).standard_normal((500, 3))
    rows = "".join(f"{x},{y},{z}\n" for x, y, z in points)
    remarks = "# more than a pipe holds: once all is written the command is reading\n" * 10_000
    command = [
        sys.executable,
        "-m",
        "treerep",
        "fit",
        "-",
        "--kind",
        "points",
        "--trials",
        "20000",
        "-o",
        "t.nwk",
    ]
    pipe = subprocess.PIPE
    with started(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path) as process:
        process.stdin.write((remarks + rows).encode())
        process.stdin.close()
        reading = cpu_seconds(process)
        deadline = time.monotonic() + 100
        while cpu_seconds(process) < reading + 1.5:  # 0.7 until it fits, and then about a minute
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(ending)
        assert process.wait(timeout=100) == 128 + ending
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["treerep.cli._ending", "typer", "treerep.cli.app", "numpy"])
def test_an_interrupt_while_the_command_is_loaded_ends_it_with_130(four, tmp_path, module):
    interrupted = f"""
import signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from treerep.cli import main
main(["fit", "four.csv", "-o", "t.nwk"])
"""
    done = subprocess.run(
        [sys.executable, "-c", interrupted],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert not (tmp_path / "t.nwk").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(four, tmp_path):
    (tmp_path / "four.csv").chmod(0)
    assert_one_line_error(treerep("fit", "four.csv", cwd=tmp_path), "four.csv: Permission denied")


def test_completion_knows_commands_and_choices(tmp_path):
    def complete(words):
        environment = {**os.environ, "_TREEREP_COMPLETE": "complete_bash", "COMP_WORDS": words}
        environment["COMP_CWORD"] = str(len(words.split(" ")) - 1)
        return treerep(env=environment).stdout.split()

    assert complete("treerep con") == ["convert"]
    assert complete("treerep fit --method bi") == ["bionj"]
    # The shell is named, as that which calls may not be found where programs call programs.
    script = shell(
        f"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 {TREEREP} --show-completion bash",
        tmp_path,
    )
    assert script.returncode == 0
    assert "_TREEREP_COMPLETE=complete_bash" in script.stdout


def test_what_the_command_line_fits_is_what_python_fits(data_folder, tmp_path):
    done = treerep("fit", data_folder / "sarich.csv", "-o", tmp_path / "t.npz")
    assert done.returncode == 0
    assert tr.Tree.load(tmp_path / "t.npz") == tr.fit(tr.datasets.sarich())
