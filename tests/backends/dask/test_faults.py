"""Worker processes are killed, suspended or out of memory in the middle of a fit: the tree is the same."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treerep as tr
from tests.backends.dask.local import local_client
from tests.backends.dask.traps import Trap, die, exhaust, freeze
from tests.processes import default_signals
from tests.trees import assert_same
from treerep.backends.dask import _treerep_run as dask_run
from treerep.backends.dask import backbone as dask_backbone

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.usefixtures("many_waves")

POINTS = np.random.default_rng(0).normal(size=(400, 3))
FINISH_POINTS = 40


def assert_same_tree_after(
    harm: Callable[[], None], task: str, after: int, client: Any, folder: Path
) -> None:
    # First here: what the workers need is compiled then, and they answer at once.
    expected = tr.fit(POINTS, metric="euclidean", rng=4, method="treerep")
    with pytest.MonkeyPatch.context() as patch:
        trap = Trap(getattr(dask_run, task), harm, folder, after)
        patch.setattr(dask_run, task, trap)
        found = tr.fit(
            da.from_array(POINTS, chunks=(150, 3)),
            metric="euclidean",
            rng=4,
            engine=client,
            method="treerep",
        )
    assert trap.sprung
    assert_same(found, expected)


@pytest.mark.parametrize(("task", "after"), [("wave", 5), ("finish", 2)])
def test_a_worker_is_killed_and_restarted(task: str, after: int, tmp_path: Path) -> None:
    with local_client() as client:
        assert_same_tree_after(die, task, after, client, tmp_path)


@pytest.mark.parametrize(
    ("task", "after"),
    [
        ("_place", 1),
        pytest.param("_join", 2, marks=pytest.mark.slow),
        pytest.param("_weighed", 0, marks=pytest.mark.slow),
    ],
)
def test_a_worker_is_killed_while_a_backbone_grows(
    task: str, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_backbone, "_BATCH", 60)  # several tasks that join zones
    options: dict[str, Any] = {
        "metric": "euclidean",
        "rng": 4,
        "method": "backbone",
        "size": 20,
    }
    with local_client() as client:
        before = set(client.run(os.getpid).values())
        trap = Trap(getattr(dask_backbone, task), die, tmp_path, after)
        monkeypatch.setattr(dask_backbone, task, trap)
        found = tr.fit(da.from_array(POINTS, chunks=(150, 3)), engine=client, **options)
        client.wait_for_workers(2, timeout=30)
        assert set(client.run(os.getpid).values()) != before
    assert trap.sprung
    expected = tr.fit(POINTS, **options)
    assert np.array_equal(found.edges, expected.edges)
    assert np.array_equal(found.weights, expected.weights)


@pytest.mark.slow
@pytest.mark.parametrize(("task", "after"), [("wave", 6), ("part_of", 3)])
def test_a_worker_is_killed_and_another_one_remains(task: str, after: int, tmp_path: Path) -> None:
    with local_client(0) as client:
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            client.scheduler.address,
            "--no-nanny",
            "--nthreads",
            "1",
            "--host",
            "127.0.0.1",
            "--no-dashboard",
            "--local-directory",
            str(tmp_path),
        ]
        path = os.pathsep.join(filter(None, sys.path))
        workers = [
            subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path})
            for _ in range(2)
        ]
        try:
            client.wait_for_workers(2, timeout=30)
            assert_same_tree_after(die, task, after, client, tmp_path)
            assert len(client.nthreads()) == 1
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def test_a_worker_runs_out_of_memory(tmp_path: Path) -> None:
    with local_client(memory_limit="800MB") as client:
        assert_same_tree_after(exhaust, "wave", 3, client, tmp_path)


def test_a_worker_is_not_heard_of_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A worker is given up after ten heartbeats without one, and the time between two looks is that of the setting.
    monkeypatch.setattr("distributed.scheduler.heartbeat_interval", lambda _: 0.3)
    with dask.config.set({"distributed.scheduler.worker-ttl": "1s"}), local_client() as client:
        assert_same_tree_after(freeze, "wave", 3, client, tmp_path)


@pytest.mark.slow
def test_points_in_memory_survive_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_client() as client:
        trap = Trap(dask_run.wave, die, tmp_path, 4)
        monkeypatch.setattr(dask_run, "wave", trap)
        found = tr.fit(POINTS, metric="cosine", engine=client, method="treerep")
    assert trap.sprung
    assert found == tr.fit(POINTS, metric="cosine", method="treerep")


@pytest.mark.slow
def test_workers_that_die_again_and_again_end_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        local_client() as client,
    ):
        monkeypatch.setattr(dask_run, "finish", Trap(dask_run.finish, die, tmp_path, 1))
        with pytest.raises(RuntimeError, match=r"^several workers died .* or more workers$"):
            tr.fit(
                da.from_array(POINTS, chunks=150),
                metric="euclidean",
                engine=client,
                method="treerep",
            )


@pytest.mark.slow
def test_an_interrupt_ends_the_fit_and_its_cluster(tmp_path: Path) -> None:
    script = """
        import os, signal, sys, threading, time
        from pathlib import Path
        import dask.array as da
        import psutil
        import treerep as tr
        from tests.backends.dask.traps import Trap, dawdle
        from treerep.backends.dask import _treerep_run as dask_run

        def interrupt(trap):
            while not trap.sprung:
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)

        if __name__ == "__main__":
            dask_run.finish = trap = Trap(dask_run.finish, dawdle, Path(sys.argv[1]), 0)
            threading.Thread(target=interrupt, args=(trap,)).start()
            try:
                tr.fit(da.random.random((300, 3), chunks=100), metric="euclidean", method="treerep", engine="dask")
            except KeyboardInterrupt:
                workers = [p for p in psutil.Process().children(recursive=True) if "spawn_main" in str(p.cmdline())]
                print("interrupted,", len(workers), "workers left")
    """
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(script))
    marks = tmp_path / "marks"
    marks.mkdir()
    done = subprocess.run(
        [sys.executable, str(path), str(marks)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        preexec_fn=default_signals,
    )
    assert "interrupted, 0 workers left" in done.stdout, done.stderr
