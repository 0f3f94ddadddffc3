"""What all tests share: the folder of real data, hypothesis profiles, and which tests this machine cannot run."""

import importlib.util
import os
import signal
import threading
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# No deadline: the first example of a test may compile a kernel. The same examples on every machine, so that a failure
# comes from the change under test; HYPOTHESIS_PROFILE=explore draws others, and so does `make harden`.
settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# What users and CI services set for their terminals. Programs that tests start would print colors or narrow tables.
for name in (
    "FORCE_COLOR",
    "NO_COLOR",
    "PY_COLORS",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "GITHUB_ACTIONS",
    "TTY_COMPATIBLE",
):
    os.environ.pop(name, None)
for name in ("COLUMNS", "LINES", "TERMINAL_WIDTH"):
    os.environ.pop(name, None)
os.environ["MPLBACKEND"] = "Agg"  # no window on a desktop
# `nohup make test &` starts all programs with SIGINT ignored; tests that interrupt themselves would wait forever.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Iterator[Path]:
    """Folder of real data sets, also put into TREEREP_DATA; the test is skipped where there is none."""
    named = os.environ.get("TREEREP_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} does not exist (set TREEREP_DATA to the folder of data sets)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TREEREP_DATA", str(folder))
        yield folder


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that the gate uses."""
    parser.addoption(
        "--nothing-missing",
        action="store_true",
        help="fail tests that need torch or a browser, instead of skipping them, when either is missing",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With `--nothing-missing`, report a skipped test of torch or the browser as failed."""
    report = yield
    heavy = item.get_closest_marker("torch") or item.get_closest_marker("browser")
    if heavy and report.skipped and not hasattr(report, "wasxfail") and item.config.option.nothing_missing:
        report.outcome, report.longrepr = (
            "failed",
            f"{item.nodeid} may not be skipped here: {report.longrepr}",
        )
    return report


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Run torch on one thread: threads do not speed up small tensors, and on a busy machine they wait."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def default_interrupt() -> Iterator[None]:
    """Let an interrupt raise KeyboardInterrupt in this process, also where it is ignored (`nohup make test &`)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that need torch where it is not installed, and say so."""
    if importlib.util.find_spec("torch") is None:
        for item in items:
            if item.get_closest_marker("torch"):
                item.add_marker(
                    pytest.mark.skip(reason="torch is not installed: `make test-all` installs it")
                )
