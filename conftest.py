"""What `src` and `tests` share: figures that are closed, and a garbage collector that does not look at the tests."""

import gc
import sys
from collections.abc import Generator, Iterator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, nor later among what was made then.

    Nearly all of it lives as long as the process, and it would be searched again and again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    """Close the figures of each test and of each example in `src`: 20 open figures raise a warning."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
