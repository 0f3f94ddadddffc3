"""The command as a user types it; only what a subprocess cannot show is tested in-process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import treerep as tr
from tests.cli.commands import assert_one_line_error, treerep
from treerep.cli import app, main
from treerep.cli._wording import one_line
from treerep.cli.commands import warm_up
from treerep.datasets._catalog import CATALOG
from treerep.fitting.methods import METHODS
from treerep.fitting.treerep.algorithm import LIMITS
from treerep.metric.points import _PREPARE as POINT_METRICS


def test_version():
    done = treerep("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"treerep {tr.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_lists_the_commands(arguments):
    done = treerep(*arguments)
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "warm-up" in done.stdout


def test_help_imports_nothing_heavy():
    done = treerep("--help", python=["-X", "importtime"])
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert not {"numpy", "numba", "scipy", "torch", "matplotlib", "dask", "networkx"} & imported


def test_unknown_command():
    assert_one_line_error(treerep("dmo"), "dmo")


def test_unknown_option():
    assert_one_line_error(treerep("demo", "--color"), "--color")


def test_folder_that_cannot_be_made(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("a file")
    assert_one_line_error(treerep("demo", "--output", taken), "taken")
    assert taken.read_text() == "a file"


def test_debug_shows_the_traceback(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("a file")
    done = treerep("demo", "--output", taken, "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "FileExistsError" in done.stderr


def test_interrupt_ends_with_130(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "app", interrupted)
    with pytest.raises(SystemExit) as ended:
        main(["demo"])
    assert ended.value.code == 130


def test_demo_shows_and_writes_the_trees(tmp_path):
    done = treerep("demo", "--output", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    for word in ["monkey", "sea_lion", "mammals", "cells", "mammals.nwk", "cells.json"]:
        assert word in done.stdout
    truth = tr.datasets.sarich()
    tree = tr.Tree.load(tmp_path / "out" / "mammals.json")
    assert tree.labels == truth.labels
    assert tr.average_distortion(tree, truth, scale="optimal") < 0.1
    newick = (tmp_path / "out" / "mammals.nwk").read_text()
    assert all(newick.count(label) == 1 for label in truth.labels)
    assert len(tr.Tree.load(tmp_path / "out" / "cells.json")) == 2000
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"{name}.{kind}" for name in ("mammals", "cells") for kind in ("nwk", "json")
    }


def test_warm_up_prints_a_line_for_each_kind_of_work(capsys):
    # All kinds together compile for a minute: here two, and the others are checked below.
    warm_up.compile_common(processes=1, names=("gromov", "upgma"))
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == "Compiling 2 kinds of work. This takes a minute or two."
    for position, (name, line) in enumerate(zip(("gromov", "upgma"), lines, strict=True), 1):
        assert re.fullmatch(rf" {position}/2  {name} +[\d.]+ s", line)
    assert re.fullmatch(r"total +[\d.]+ s", last)


def test_warm_up_in_two_processes_stores_the_kernels_of_both(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))  # for the processes
    warm_up.compile_common(processes=2, names=("bartal", "minimum_spanning_tree"))
    stored = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert any("fitting.random" in name for name in stored)
    assert any("fitting.spanning" in name for name in stored)
    lines = capsys.readouterr().out.splitlines()[1:-1]
    assert sorted(line.split()[1] for line in lines) == ["bartal", "minimum_spanning_tree"]


def test_warm_up_covers_all_methods_and_an_error_in_a_process_is_raised():
    others = {
        "default method",
        "scores and edge lengths",
        "placement",
        "graph methods",
        "hyperbolicity",
        "refinement",
        "sums of trees",
        "lower bounds",
        "embedding",
    }
    methods = {*METHODS} - {"treerep", "auto"}
    assert {*warm_up._jobs()} == {*warm_up.examples(), *others, *methods}
    with pytest.raises(KeyError, match="unheard of"):
        warm_up.compile_common(processes=2, names=("unheard of",))


def test_warm_up_examples_reach_both_phases_of_a_fit():
    made = {name: make() for name, make in warm_up.examples().items()}
    assert all(isinstance(metric, tr.Metric) for metric in made.values())
    assert all(
        len(metric) > LIMITS.finish_points for name, metric in made.items() if not name.startswith("matrix")
    )


def test_warm_up_compiles_for_all_points_and_graphs():
    def specialization(metric):
        return type(metric.oracle), *(array.dtype for array in metric.oracle)

    made = [make() for make in warm_up.examples().values()]
    compiled = {specialization(metric) for metric in made if isinstance(metric, tr.PointMetric)}
    rows = np.random.default_rng(0).uniform(0.1, 0.4, (4, 3))
    lifted = np.column_stack([np.sqrt(1 + (rows**2).sum(axis=1)), rows])
    for metric in POINT_METRICS:
        for dtype in ("float32", "float64"):
            points = (lifted if metric == "hyperboloid" else rows).astype(dtype)
            assert specialization(tr.PointMetric(points, metric)) in compiled, (metric, dtype)
    graphs = [metric.weighted for metric in made if isinstance(metric, tr.GraphMetric)]
    assert sorted(graphs) == [False, True]


COUNT_COMPILATIONS = """
from numba.core import event
import numpy as np
import treerep as tr

recorder = event.RecordingListener()
event.register("numba:compile", recorder)
points = np.random.default_rng(0).standard_normal((64, 3))
ring = [(k, (k + 1) % 40) for k in range(40)]
for metric in ("euclidean", "cosine", "manhattan", "chebyshev"):
    for dtype in ("float32", "float64"):
        for method in ("auto", "treerep"):
            tr.fit(points.astype(dtype), metric=metric, method=method)
for weights in (None, [1.5] * 40):
    graph = tr.GraphMetric(ring, weights=weights)
    for method in ("auto", "treerep", "minimum_spanning_tree"):
        tr.mean_average_precision(tr.fit(graph, method=method), graph)
print(len(recorder.buffer))
"""


@pytest.mark.slow
def test_nothing_is_compiled_after_warm_up(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    assert treerep("warm-up", env=environment).returncode == 0
    command = [sys.executable, "-c", COUNT_COMPILATIONS]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "0\n"


@pytest.fixture
def nothing(monkeypatch, tmp_path):
    """A machine that has no data sets; the folder of its cache."""
    monkeypatch.delenv("TREEREP_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "treerep" / "data"


def test_data_list(nothing):
    done = treerep("data", "list")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines() if "│" in line
    ]
    assert rows[0][:4] == ["sarich", "8", "distances", "treerep"]
    assert [name for name, *_ in rows] == list(CATALOG)
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["wordnet"][:3] == ["74,374", "graph, 75,834 edges", "- (can be fetched)"]
    assert by_name["paul15"][:3] == ["2,660", "cells, 240 coordinates", "- (TREEREP_DATA)"]
    assert [row[3] for row in by_name.values()] == [entry.citation for entry in CATALOG.values()]


def test_colors_may_be_forced_without_cutting_rows(nothing):
    done = treerep("data", "list", env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": "24"})
    assert "\x1b[" in done.stdout
    plain = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    assert plain == treerep("data", "list").stdout


def test_data_path(nothing):
    assert treerep("data", "path").stdout == f"{nothing}\n"
    done = treerep("data", "path", "sarich")
    assert done.stdout.endswith("sarich.csv\n") and Path(done.stdout.strip()).is_file()
    assert_one_line_error(treerep("data", "path", "paul15"), "set TREEREP_DATA to a folder that holds")


def test_data_fetch(nothing):
    done = treerep("data", "fetch", "sarich", "krumsik11")
    assert_one_line_error(done, "no data set is named 'krumsik11'")
    done = treerep("data", "fetch", "sarich")
    assert (done.returncode, done.stdout) == (
        0,
        "sarich: " + treerep("data", "path", "sarich").stdout,
    )
    assert_one_line_error(treerep("data", "fetch"), "NAME")


def test_data_without_a_command():
    done = treerep("data")
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("list", "fetch", "path"))


@pytest.mark.parametrize("said", ["", "Unable to allocate 9 GiB for an array with shape (3, 4)"])
def test_memory_that_ran_out_is_said_with_a_remedy(said):
    assert re.fullmatch(
        r"out of memory( \(Unable to .*\))?: use fewer points .*", one_line(MemoryError(said))
    )
    assert one_line(MemoryError("x.csv: it does not fit into memory")) == "x.csv: it does not fit into memory"


def test_without_the_extra_of_the_command_line():
    code = "import sys; sys.modules['typer'] = None; from treerep.cli import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "treerep: the command line needs typer: pip install 'treerep[cli]'\n"
