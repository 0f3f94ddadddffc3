"""The worked examples of "how to add ..." are diffs of this very tree: they apply, and what they test holds."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treerep

ROOT = Path(__file__).resolve().parents[2]
# Lists of names that have to agree: a diff must extend all of them.
CONTRACTS = [
    "tests/cli/test_commands.py::test_names_are_those_of_the_library",
    "tests/test_citations.py::test_every_method_is_listed_and_every_entry_is_used",
]
DIFFS = sorted((ROOT / "docs" / "extending").glob("*.diff"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project to work on, compiled kernels included, so that they need not be compiled anew."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "tests", folder / "tests")
    shutil.copytree(Path(treerep.__file__).parent, folder / "src" / "treerep")  # installed, or in the checkout
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed: it applies the diffs")
@pytest.mark.parametrize("diff", DIFFS, ids=lambda path: path.stem)
def test_it_applies_and_its_tests_pass(diff: Path, copy: Path) -> None:
    # Without the variables of a hook that git may be running right now.
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", "apply", "-C1", diff], cwd=copy, env=surroundings, check=True)
    (test,) = re.findall(r"^\+\+\+ b/(tests/\S+)$", diff.read_text(encoding="utf-8"), flags=re.MULTILINE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test, *_changed(diff), *CONTRACTS]
    surroundings["PYTHONPATH"] = str(copy / "src")
    done = subprocess.run(command, cwd=copy, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def _changed(diff: Path) -> list[str]:
    """New files of the package: their doctests are run, too."""
    text = diff.read_text(encoding="utf-8")
    return re.findall(r"^--- /dev/null\n\+\+\+ b/(src/\S+)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", [path.stem for path in DIFFS])
def test_each_has_its_page(name: str) -> None:
    page = (ROOT / "docs" / f"extending_{name}.md").read_text(encoding="utf-8")
    assert f"extending/{name}.diff" in page
