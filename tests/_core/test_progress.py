import sys
import threading
import time

import pytest

from treerep._core.progress import HIDDEN, _bars, progress_bar
from treerep.cli._child import run_in_child


def test_a_bar_is_hidden_where_there_is_no_terminal(capsys):
    with progress_bar(3, "counting", "steps") as bar:
        bar.update(2)
        bar.set_postfix(score=1)
        bar.set_postfix_str("soon")
    assert bar is HIDDEN
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_shown_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar(3, "counting", "steps") as bar:
        bar.delay = 0
        bar.update(2)
        bar.refresh()
    assert "counting" in capsys.readouterr().err


def test_a_copy_of_the_process_that_is_killed_with_the_lock_stops_nobody():
    lock = _bars().get_lock()

    def hold() -> None:
        lock.acquire()
        _bars().get_lock().acquire()
        time.sleep(100)

    with pytest.raises(TimeoutError):
        run_in_child(hold, 0.5)
    after = threading.Thread(target=lambda: _bars()(total=1, disable=None).close(), daemon=True)
    after.start()
    after.join(timeout=20)
    assert not after.is_alive()


def test_a_lock_that_another_thread_held_is_free_in_a_copy():
    bars = _bars()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with bars.get_lock():
            held.set()
            done.wait(30)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    held.wait(30)
    try:
        assert run_in_child(lambda: _bars()(total=1, disable=None).close() or "made", 20) == "made"
    finally:
        done.set()
        thread.join()
