"""The checks of a release see what is wrong with it. `make dist` applies them to the wheel and the sdist themselves."""

import io
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from release import check
from release.archives import Files, only, read_sdist, read_wheel
from release.check import common_faults, sdist_faults, wheel_faults
from release.lowest import PYPROJECT as OURS
from release.lowest import lowest
from release.trial import CORE, ROOT

INFO = "treerep-1.2.dist-info"

PYPROJECT = """
[project]
name = "treerep"
description = "trees"
license = "BSD-3-Clause"
license-files = ["LICENSE"]
classifiers = ["Typing :: Typed"]
requires-python = ">=3.11"
dependencies = ["numpy>=2.0"]
optional-dependencies = { draw = ["matplotlib>=3.9"] }
"""

METADATA = """Metadata-Version: 2.4
Name: treerep
Version: 1.2
Summary: trees
License-Expression: BSD-3-Clause
License-File: LICENSE
Classifier: Typing :: Typed
Requires-Python: >=3.11
Requires-Dist: numpy>=2.0
Provides-Extra: draw
Requires-Dist: matplotlib>=3.9; extra == 'draw'
Description-Content-Type: text/markdown

# treerep
"""


@pytest.fixture
def sdist() -> Files:
    package = (
        "__init__.py",
        "py.typed",
        "references.bib",
        "datasets/sarich.csv",
        "drawing/page/main.js",
    )
    files = {
        **dict.fromkeys(check.IN_SDIST, b""),
        **{f"src/treerep/{name}": b"" for name in package},
    }
    version = b'__version__ = "1.2"\n'
    own = {"README.md": b"# treerep\n", "LICENSE": b"BSD", "pyproject.toml": PYPROJECT.encode()}
    return {**files, **own, "src/treerep/__init__.py": version}


@pytest.fixture
def wheel(sdist: Files) -> Files:
    package = {
        name.removeprefix("src/"): content for name, content in sdist.items() if name.startswith("src/")
    }
    return {
        **package,
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/RECORD": b"",
        f"{INFO}/entry_points.txt": b"[console_scripts]\ntreerep = treerep.cli:main\n",
        f"{INFO}/licenses/LICENSE": b"BSD",
    }


def test_sound_archives_have_no_faults(wheel: Files, sdist: Files) -> None:
    assert wheel_faults(wheel, sdist) == []
    assert sdist_faults(sdist) == []


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("treerep/tests/test_fit.py", "is a test"),
        ("tests/test_fit.py", "is a test"),
        ("treerep/conftest.py", "is a test"),
        ("treerep/datasets/cells.csv", "may carry"),
        ("treerep/datasets/cells.h5ad", "may carry"),
        ("treerep/new.py", "not in the sources"),
        ("treerep/__pycache__/kernels.fit-1.py311.nbi", "made by running"),
        ("treerep/kernels.cpython-311.pyc", "made by running"),
        ("/etc/treerep.conf", "leads out"),
        ("treerep/../numpy/__init__.py", "leads out"),
        ("benchmarks/__init__.py", "beside treerep/"),
    ],
)
def test_what_may_not_be_in_a_wheel(name: str, word: str, wheel: Files, sdist: Files) -> None:
    assert any(word in fault for fault in wheel_faults({**wheel, name: b""}, sdist))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("treerep/py.typed", "py.typed is missing"),
        ("treerep/drawing/page/main.js", "main.js is in the sources, but not in the wheel"),
        (f"{INFO}/licenses/LICENSE", "license"),
        (f"{INFO}/entry_points.txt", "command"),
        (f"{INFO}/METADATA", "metadata"),
    ],
)
def test_what_must_be_in_a_wheel(name: str, word: str, wheel: Files, sdist: Files) -> None:
    del wheel[name]
    assert any(word in fault for fault in wheel_faults(wheel, sdist))


@pytest.mark.parametrize(
    "line",
    [
        "Version: 1.2",
        "Summary: trees",
        "License-Expression: BSD-3-Clause",
        "License-File: LICENSE",
        "# treerep",
        "Classifier: Typing :: Typed",
        "Requires-Python: >=3.11",
        "Requires-Dist: numpy>=2.0",
        "Provides-Extra: draw",
        "Description-Content-Type: text/markdown",
    ],
)
def test_metadata_is_that_of_the_sources(line: str, wheel: Files, sdist: Files) -> None:
    wheel[f"{INFO}/METADATA"] = METADATA.replace(f"{line}\n", "").encode()
    assert any(fault.startswith("metadata: ") for fault in wheel_faults(wheel, sdist))


def test_dependencies_have_the_bounds_of_the_sources(wheel: Files, sdist: Files) -> None:
    wheel[f"{INFO}/METADATA"] = METADATA.replace("numpy>=2.0", "numpy>=1.0").encode()
    assert wheel_faults(wheel, sdist) == [
        "metadata: dependencies or requires-python are not those of the sources"
    ]


def test_folders_of_the_machine_are_seen() -> None:
    (fault,) = common_faults({"treerep/a.py": b"open('/home/ann/treerep/x')"}, [Path("/home/ann")])
    assert fault == "treerep/a.py names a folder of this machine, /home/ann/"


def test_sdists_need_their_tests_and_hold_no_data(sdist: Files) -> None:
    del sdist["tests/conftest.py"]
    sdist["paper/cells.npz"] = b""
    assert sdist_faults(sdist) == [
        "tests/conftest.py is missing",
        "paper/cells.npz is data that may not be ours to give away",
    ]


def written(folder: Path, wheel: Files, sdist: Files) -> None:
    """Write both as files."""
    with zipfile.ZipFile(folder / "treerep-1.2-py3-none-any.whl", "w") as archive:
        for name, content in wheel.items():
            archive.writestr(name, content)
    with tarfile.open(folder / "treerep-1.2.tar.gz", "w:gz") as archive:
        for name, content in sdist.items():
            member = tarfile.TarInfo(f"treerep-1.2/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_files_are_read_and_the_exit_code_says_it(
    tmp_path: Path, wheel: Files, sdist: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, wheel, sdist)
    assert read_wheel(only(tmp_path, "*.whl")) == wheel
    assert read_sdist(only(tmp_path, "*.tar.gz")) == sdist
    assert check.main([str(tmp_path)]) == 0
    assert "no faults found" in capsys.readouterr().out
    written(tmp_path, {**wheel, "treerep/test_x.py": b""}, sdist)
    assert check.main([str(tmp_path)]) == 1
    assert "wheel: treerep/test_x.py is a test" in capsys.readouterr().out


def test_two_wheels_are_refused(tmp_path: Path) -> None:
    for name in ("a.whl", "b.whl"):
        (tmp_path / name).touch()
    with pytest.raises(SystemExit, match="holds 2 files"):
        only(tmp_path, "*.whl")


def test_lowest_versions_need_bounds() -> None:
    extras = {"b": ["c[d,e]>=2.0.1"], "all": ["x[b]"]}
    project: dict[str, Any] = {"dependencies": ["a>=1"], "optional-dependencies": extras}
    groups: dict[str, Any] = {"test": [{"include-group": "check"}, "pandas>=2"]}
    found = lowest({"project": project, "dependency-groups": groups})
    assert found == ["a==1", "c==2.0.1", "pandas==2"]
    project["dependencies"] = ["numpy<3"]
    with pytest.raises(ValueError, match="'numpy<3' in pyproject.toml has no lower bound"):
        lowest({"project": project, "dependency-groups": groups})


def test_the_lowest_versions_of_the_package() -> None:
    assert "numpy==2.0" in lowest(tomllib.loads(OURS.read_text(encoding="utf-8")))


def test_trials_with_the_lowest_versions_find_their_tests() -> None:
    assert [name for name in CORE if not (ROOT / "tests" / name).is_dir()] == []
