"""The worked examples of "how to add ..." are diffs of this very tree: they apply, and what they test holds."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import treerep

ROOT = Path(__file__).resolve().parents[2]
# What holds for every method and every public name must still hold.
CONTRACTS = [
    "tests/cli/new_method.py",
    "tests/cli/test_commands.py::test_names_are_those_of_the_library",
    "tests/docs/test_reference.py",
    "tests/fitting/test_methods.py",
    "tests/test_citations.py",
]
DIFFS = sorted((ROOT / "docs" / "developers" / "extending").glob("*.diff"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project to work on."""
    for name in ("tests", "docs", "benchmarks/results", "paper/cells"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("_build"))
    shutil.copytree(
        Path(treerep.__file__).parent, tmp_path / "src" / "treerep"
    )  # installed, or in the checkout
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.fixture
def run(copy: Path) -> Callable[..., str]:
    """Run a command in the copy, and return what it prints."""

    def done(*command: object) -> str:
        # Without the variables of a hook that git may be running right now.
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        surroundings["PYTHONPATH"] = str(copy / "src")
        found = subprocess.run(
            list(map(str, command)),
            cwd=copy,
            env=surroundings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.returncode == 0, found.stdout + found.stderr
        return found.stdout

    return done


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed: it applies the diffs")
def test_they_apply_and_their_tests_pass(run: Callable[..., str]) -> None:
    for diff in DIFFS:  # each to the sources as they are
        run("git", "apply", "--check", "-C1", diff)
    for diff in DIFFS:
        run("git", "apply", "-C1", diff)
    # One process for all: the contracts hold with the three examples side by side.
    added = [path for diff in DIFFS for path in (_test_of(diff), *_changed(diff))]
    run(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *added,
        *CONTRACTS,
    )


def _test_of(diff: Path) -> str:
    """The test that a diff adds."""
    (test,) = re.findall(r"^\+\+\+ b/(tests/\S+)$", diff.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return test


def _changed(diff: Path) -> list[str]:
    """New files of the package: their doctests are run, too."""
    text = diff.read_text(encoding="utf-8")
    return re.findall(r"^--- /dev/null\n\+\+\+ b/(src/\S+)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", [path.stem for path in DIFFS])
def test_each_has_its_page(name: str) -> None:
    page = (ROOT / "docs" / "developers" / f"extending_{name}.md").read_text(encoding="utf-8")
    assert f"extending/{name}.diff" in page
