"""What has to pass before a change lands cannot pass with tests left out, and looks at more than one CPU."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.generic_cpu import settings

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**environment, **variables},
    )


PRINT_CPU = """
import json, math
from numba.core.registry import cpu_target
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(json.dumps([
    [name for name in __cpu_dispatch__ if __cpu_features__[name]],
    cpu_target.target_context.codegen().magic_tuple()[1:],
]))
"""


def test_the_generic_cpu_has_nothing_beyond_the_baseline() -> None:
    done = run(
        sys.executable,
        "-m",
        "tests.generic_cpu",
        sys.executable,
        "-W",
        "error",
        "-c",
        PRINT_CPU,
    )
    assert done.returncode == 0, done.stderr
    *printed, found = done.stdout.splitlines()
    assert len(printed) == len(settings())
    assert json.loads(found) == [[], ["generic", ""]]


@pytest.mark.parametrize(("option", "code"), [("--nothing-missing", 1), ("-ra", 0)])
def test_a_missing_browser_fails_the_gate_and_is_skipped_elsewhere(option: str, code: int) -> None:
    test = "tests/browser/test_page.py::test_the_keyboard_is_enough"
    done = run(
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        option,
        test,
        PATH="/nonexistent",
    )
    assert done.returncode == code, done.stdout
    assert ("1 error" if code else "1 skipped") in done.stdout.splitlines()[-1]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_test_all_runs_everything() -> None:
    # Stamps are taken for new, so that nothing is installed; -n prints the commands only.
    fresh = [word for name in ("made", "core", "test", "heavy") for word in ("-o", f".venv/{name}")]
    done = run("make", "-n", *fresh, "test-all")
    assert done.returncode == 0, done.stderr
    runs = [line for line in done.stdout.splitlines() if "bin/pytest" in line]
    assert len(runs) == 3
    plain, generic, heavy = runs
    assert '-m "not torch and not browser and not slow and not generic"' in plain
    assert '-m "not torch and not browser and not slow"' in generic
    assert "tests.generic_cpu" in generic and "tests/paper" in generic
    assert "tests/fitting/test_machines.py" in generic
    assert "--nothing-missing" in heavy and '-m "(torch or browser) and not slow"' in heavy
    assert not any("||" in line for line in runs)


CLOSING = "==== 12 passed, 1 skipped in 3.21s (0:00:03) ===="
SOME_MAKE = f"""#!/bin/sh
echo "$@"
echo "{CLOSING}"
echo "the documentation is built"
[ "$1" = system-packages ] || exit $CODE
"""


@pytest.mark.skipif(not (ROOT / ".ci" / "run").exists(), reason="an sdist has no .ci/run")
@pytest.mark.parametrize("code", [0, 2])
def test_the_gate_is_make_test_all_and_ends_with_the_closing_lines(tmp_path: Path, code: int) -> None:
    (tmp_path / "make").write_text(SOME_MAKE)
    (tmp_path / "make").chmod(0o755)
    done = run(ROOT / ".ci" / "run", PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}", CODE=str(code))
    assert done.returncode == code
    assert done.stdout.splitlines() == [
        *("system-packages", CLOSING, "the documentation is built"),
        *("test-all", CLOSING, "the documentation is built"),
        *(CLOSING, CLOSING),
    ]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("target", ["demo", "test-all", "bench", "bench-full", "dist"])
def test_only_one_target_installs_system_packages(target: str) -> None:
    done = run("make", "-n", target)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"apt-get (?:update|install) -", done.stdout)
    assert "apt-get install -qq -y chromium" in run("make", "-n", "system-packages").stdout
