"""What a consumer's type checker sees of the installed package, without our configuration of mypy."""

import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

from tests.release import consumer

CONSUMER = Path(__file__).with_name("consumer.py")

WRONG = """
import treerep as tr
tree = tr.fit([[0.0]], trials="many")
tr.Tree.load(3)
tr.average_distortion(tree, tree, scale="best")
tr.datasets.sarich().color
tr.fit([[0.0]]).newick().real
tr.fitt
"""

# Libraries that the package uses inside, most of them optional: most files that mypy would read. Left out, their
# types are Any, which `assert_type` refuses: so none of them is in a type that is promised.
INSIDE = "[mypy-torch.*,numba.*,llvmlite.*,dask.*,distributed.*,zarr.*,IPython.*]\nfollow_imports = skip\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mypy")


def checked(file: Path, folder: Path, cache: Path) -> list[str]:
    """Return what `mypy --strict` says of a file, run from elsewhere: so it finds the package as it is installed."""
    settings = folder / "inside.ini"
    settings.write_text(INSIDE)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        f"--config-file={settings}",
        f"--cache-dir={cache}",
        "--no-pretty",
        str(file),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout.splitlines()


def test_every_type_is_the_one_that_is_promised(tmp_path: Path, cache: Path) -> None:
    assert checked(CONSUMER, tmp_path, cache) == ["Success: no issues found in 1 source file"]


def test_what_is_wrong_is_seen(tmp_path: Path, cache: Path) -> None:
    # Without py.typed everything would be Any, and nothing wrong.
    program = tmp_path / "wrong.py"
    program.write_text(WRONG)
    found = [line.rpartition("[")[2] for line in checked(program, tmp_path, cache) if ": error: " in line]
    assert found == [
        "call-overload]",  # fit has a second signature, for sums of trees
        "arg-type]",
        "arg-type]",
        "attr-defined]",
        "attr-defined]",
        "attr-defined]",
    ]


def test_the_program_runs(tmp_path: Path) -> None:
    with mpl.rc_context({"backend": "agg"}):
        assert 0 < consumer.main(tmp_path) < 0.1
