"""Headless Chromium for the tests of HTML, driven by Playwright."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import treerep as tr
from tests.browser.pages import Pages, Tab

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
        pytest.skip(f"{CHROMIUM} does not run")  # such as a name that only tells how to install it
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(browser: Any) -> Pages:
    return Pages(browser)


@pytest.fixture
def tab(pages: Pages, tmp_path: Path) -> Iterator[Tab]:
    tab = Tab(pages, tmp_path)
    yield tab
    tab.check()


@pytest.fixture(scope="module")
def mammals() -> tuple[tr.Tree, tr.MatrixMetric]:
    data = tr.datasets.sarich()
    return tr.fit(data, trials=20), data
