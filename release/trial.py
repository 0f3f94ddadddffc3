"""Install the wheel of dist/ into an empty environment, and run the tests of the sdist against it.

`python -m release.trial [--python python3.13] [--lowest] [TESTS ...]`. Tests and pages come from
the sdist without its `src`, and nothing from the checkout. Options of pytest follow after `--`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

from .archives import only
from .lowest import PYPROJECT, lowest

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
MARKS = "not torch and not browser and not slow"
#: Folders of tests that must pass with the oldest versions: the mathematics, the files and the command line.
CORE = (
    *(
        "_core",
        "metric",
        "tree",
        "scores",
        "treelikeness",
        "fitting",
        "placement",
        "refinement",
    ),
    *("embedding", "datasets", "formats", "adapters", "drawing", "cli"),
)
#: Old libraries warn on new versions of Python, and repeat names in parametrized checks.
LENIENT = ("-W", "default", "-o", "strict_parametrization_ids=false")


def unpacked(sdist: Path, folder: Path) -> Path:
    """Unpack an sdist without the package, so that only the installed package can be imported."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    shutil.rmtree(inside / "src")
    return inside


def surroundings() -> dict[str, str]:
    """Return the environment without paths to other code, and with the data folder if it exists."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    }
    data = ROOT.parent / "shared" / "data"
    return {"TREEREP_DATA": str(data), **kept} if data.is_dir() else kept


def installed(python: str, wheel: Path, folder: Path, constraints: list[str]) -> Path:
    """Make an environment, install the wheel with all extras and the tools of tests, and return its Python."""
    subprocess.run([python, "-m", "venv", folder], check=True, env=surroundings())
    inner = folder / "bin" / "python"
    listed = folder / "constraints.txt"
    listed.write_text("".join(f"{line}\n" for line in constraints), encoding="utf-8")
    pip = [inner, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    tools = ["--group", f"{PYPROJECT}:test"]
    for command in (["--upgrade", "pip>=25.1"], ["-c", listed, f"{wheel}[all]", *tools]):
        subprocess.run([*pip, "install", *command], check=True, env=surroundings())
    subprocess.run([*pip, "check"], check=True, env=surroundings())
    return inner


def tried(inner: Path, folder: Path, arguments: list[str]) -> int:
    """Run pytest in the folder of the tests with the new environment; return its exit code."""
    where = (
        "import sys, treerep; print(sys.version, treerep.__file__, sep='\\n');"
        " assert sys.prefix in treerep.__file__"
    )
    subprocess.run([inner, "-c", where], cwd=folder, check=True, env=surroundings())
    subprocess.run(
        [inner, "-m", "pip", "freeze", "--disable-pip-version-check"],
        check=True,
        env=surroundings(),
    )
    command = [inner, "-m", "pytest", "-q", "-m", MARKS, *arguments]
    return subprocess.run(command, cwd=folder, check=False, env=surroundings()).returncode


def main() -> int:
    """Run the trial and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m release.trial", description=__doc__)
    parser.add_argument(
        "--python", default=sys.executable, help="Python interpreter (default: the current one)"
    )
    parser.add_argument(
        "--lowest",
        action="store_true",
        help="use the lowest versions that pyproject.toml allows",
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of test processes (default 2)")
    parser.add_argument("tests", nargs="*", help="tests to run (default: all, including doctests)")
    given = parser.parse_args()
    constraints = lowest(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))) if given.lowest else []
    folders = [f"tests/{folder}" for folder in CORE] if given.lowest else ["tests"]
    everything = [*folders, "--pyargs", "treerep"]
    chosen = [
        "-n",
        str(given.jobs),
        *(LENIENT if given.lowest else ()),
        *(given.tests or everything),
    ]
    folder = Path(tempfile.mkdtemp(prefix="treerep-trial-"))
    inside = unpacked(only(DIST, "*.tar.gz"), folder / "sdist")
    code = tried(
        installed(given.python, only(DIST, "*.whl"), folder / "env", constraints),
        inside,
        chosen,
    )
    if code == 0:
        shutil.rmtree(folder)
    else:
        print(f"the files of the failed trial are kept in {folder}")
    return code


if __name__ == "__main__":
    sys.exit(main())
