import contextlib
import os
import signal
import threading
import time

import pytest

from treerep._core.parallel import Workers, count_jobs, run

JOBS = [1, 2, 4, None]


def test_none_means_every_core_of_this_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert count_jobs() == count_jobs(None) == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert count_jobs() == 7


@pytest.mark.parametrize("n_jobs", [0, -1, 1.5, "2", True])
def test_bad_numbers_of_jobs(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        count_jobs(n_jobs)
    with pytest.raises(ValueError, match="n_jobs"):
        list(run(abs, [1], n_jobs))


@pytest.mark.parametrize("n_jobs", JOBS)
@pytest.mark.parametrize("count", [0, 1, 2, 57])
def test_results_come_in_the_order_of_the_tasks(n_jobs, count):
    def slow_first(task):
        time.sleep(0.002 if task % 2 == 0 else 0)
        return task * task

    assert list(run(slow_first, range(count), n_jobs)) == [task * task for task in range(count)]


def test_one_job_runs_inline():
    assert set(run(lambda _: threading.get_ident(), range(5), 1)) == {threading.get_ident()}


def test_several_jobs_run_side_by_side():
    # Every task waits for all the others: with fewer threads than tasks this would never end.
    meeting = threading.Barrier(4, timeout=30)
    assert sorted(run(lambda _: meeting.wait(), range(4), 4)) == [0, 1, 2, 3]


def test_an_error_reaches_the_caller_and_drops_what_has_not_begun():
    begun = []

    def work(task):
        begun.append(task)
        if task == 1:
            raise RuntimeError("task 1")
        time.sleep(0.01)

    with pytest.raises(RuntimeError, match="task 1"):
        list(run(work, range(500), 2))
    assert len(begun) < 500


def test_an_interrupt_between_results_drops_the_rest():
    begun = []
    results = run(lambda task: (begun.append(task), time.sleep(0.005)), range(500), 2)
    next(results)
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)
    count = len(begun)
    assert count < 500
    time.sleep(0.05)
    assert len(begun) == count  # the pool is gone


def test_running_tasks_are_told_to_stop():
    with pytest.raises(ValueError, match="enough"), Workers(2) as workers:
        assert not workers.stopped.is_set()
        raise ValueError("enough")
    assert workers.stopped.is_set()


def test_a_quiet_end_is_no_stop():
    with Workers(2) as workers:
        assert list(workers.map(abs, [-1, -2])) == [1, 2]
    assert not workers.stopped.is_set()


def test_work_may_run_work():
    def outer(task):
        return sum(run(lambda inner: task * inner, range(10), 2))

    assert list(run(outer, range(6), 2)) == [45 * task for task in range(6)]


def test_callers_in_several_threads_do_not_wait_for_each_other():
    outcomes = {}

    def caller(name):
        outcomes[name] = list(run(lambda task: (name, task), range(50), 2))

    threads = [threading.Thread(target=caller, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {name: [(name, task) for task in range(50)] for name in range(4)}


@pytest.mark.usefixtures("default_interrupt")
def test_an_interrupt_that_is_swallowed_on_its_way_is_not_lost() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt), Workers(1) as workers:
        workers.check()
        with contextlib.suppress(KeyboardInterrupt):  # as numba's dispatcher does
            signal.raise_signal(signal.SIGINT)
        workers.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_signal_handler_is_left_alone() -> None:
    def own(number: int, frame: object) -> None: ...

    before = signal.signal(signal.SIGINT, own)
    try:
        with Workers(1):
            assert signal.getsignal(signal.SIGINT) is own
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
