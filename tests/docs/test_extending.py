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
    "tests/cli/test_commands.py::test_names_are_those_of_the_library",
    "tests/docs/test_reference.py",
    "tests/fitting/test_methods.py",
    "tests/test_citations.py",
]
DIFFS = sorted((ROOT / "docs" / "developers" / "extending").glob("*.diff"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project to work on, compiled kernels included, so that they need not be compiled anew."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("tests", "docs", "benchmarks/results", "paper/cells"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("_build"))
    shutil.copytree(
        Path(treerep.__file__).parent, folder / "src" / "treerep"
    )  # installed, or in the checkout
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def run(copy: Path) -> Callable[..., str]:
    """Run a command in the copy, and return what it prints."""

    def done(*command: object) -> str:
        # Without the variables of a hook that git may be running right now.
        surroundings = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        }
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


@pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed: it applies the diffs"
)
@pytest.mark.parametrize("diff", DIFFS, ids=lambda path: path.stem)
def test_it_applies_and_its_tests_pass(diff: Path, copy: Path, run: Callable[..., str]) -> None:
    run("git", "apply", "-C1", diff)
    (test,) = re.findall(
        r"^\+\+\+ b/(tests/\S+)$", diff.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    run(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        test,
        *_changed(diff),
        *CONTRACTS,
    )
    if diff.stem == "method":
        _check_that_the_method_is_everywhere(run)


def _check_that_the_method_is_everywhere(run: Callable[..., str]) -> None:
    treerep = (sys.executable, "-m", "treerep")
    mammals = run(*treerep, "data", "path", "sarich").strip()
    assert "star" in run(*treerep, "fit", "--help")
    run(*treerep, "fit", mammals, "--method", "star", "-o", "star.nwk")
    assert "star" in run(*treerep, "compare", mammals, "--methods", "star,upgma", "--csv", "-")
    assert "@misc{treerep" in run(*treerep, "cite", "star")
    assert '"star"' in run(sys.executable, "-c", "import treerep as tr; print(tr.fit.__doc__)")
    table = "import sys; sys.path.insert(0, 'docs'); import method_table; print(method_table.table())"
    assert "| `star` | stars |" in run(sys.executable, "-c", table)


def _changed(diff: Path) -> list[str]:
    """New files of the package: their doctests are run, too."""
    text = diff.read_text(encoding="utf-8")
    return re.findall(r"^--- /dev/null\n\+\+\+ b/(src/\S+)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", [path.stem for path in DIFFS])
def test_each_has_its_page(name: str) -> None:
    page = (ROOT / "docs" / "developers" / f"extending_{name}.md").read_text(encoding="utf-8")
    assert f"extending/{name}.diff" in page
