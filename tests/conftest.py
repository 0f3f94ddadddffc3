"""What all tests share: the folder of real data, hypothesis profiles, and which tests this machine cannot run."""

import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# No deadline: the first example of a test may compile a kernel. The same examples every time where CI judges.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


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
                item.add_marker(pytest.mark.skip(reason="torch is not installed: `make test-all` installs it"))
