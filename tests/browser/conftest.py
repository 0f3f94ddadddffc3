"""Headless Chromium for the tests of HTML, driven by Playwright."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: see `make test-all`"
    )
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    if subprocess.run([CHROMIUM, "--version"], capture_output=True).returncode != 0:
        pytest.skip(
            f"{CHROMIUM} does not run"
        )  # such as a name that only tells how to install it
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()
