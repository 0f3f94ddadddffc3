"""Inspect the wheel and the sdist: `python -m release.check dist`.

The command lists all faults and ends with exit code 1 if there are any.
"""

import fnmatch
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.metadata import Metadata
from packaging.requirements import Requirement

from .archives import Files, only, read_sdist, read_wheel

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "treerep"
#: Data files that the package may contain: one table, the parts of the page, the references.
DATA = (
    "py.typed",
    "references.bib",
    "datasets/sarich.csv",
    "drawing/page/page.html",
    *(f"drawing/page/{folder}*.{kind}" for folder in ("", "*/") for kind in ("css", "js")),
)
#: Files that are needed to build, test and document from the sdist.
IN_SDIST = (
    *(
        "pyproject.toml",
        "PKG-INFO",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
    ),
    *(
        "Makefile",
        "tests/conftest.py",
        "docs/index.md",
        "docs/conf.py",
        "harden/__init__.py",
        "paper/__init__.py",
    ),
    *("benchmarks/__init__.py", "release/check.py"),
)
#: Generated files: compiled code and caches of tools.
MADE = (
    "__pycache__",
    "*.py[co]",
    "*.nb[ic]",
    "*.so",
    ".venv",
    ".*_cache",
    ".coverage*",
    ".hypothesis",
    "_build",
)
#: Suffixes of data sets. Only Sarich's table may be distributed, also in the sdist.
DATA_SETS = (
    ".csv",
    ".tsv",
    ".npy",
    ".npz",
    ".h5",
    ".h5ad",
    ".h5td",
    ".mtx",
    ".gz",
    ".zip",
    ".parquet",
    ".phy",
)


def common_faults(files: Files, private: Iterable[Path] = (ROOT, Path.home())) -> list[str]:
    """Return faults of any archive: paths outside of it, generated files, local folder names."""
    faults = []
    marks = [f"{folder}/".encode() for folder in private]
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            faults.append(f"{name} leads out of the archive")
        if any(fnmatch.fnmatch(part, pattern) for part in path.parts for pattern in MADE):
            faults.append(f"{name} was made by running, and belongs to one machine")
        faults += [
            f"{name} names a folder of this machine, {mark.decode()}" for mark in marks if mark in content
        ]
    return faults


def wheel_faults(wheel: Files, sdist: Files) -> list[str]:
    """Return the faults of a wheel, given the files of the sdist that it was built from."""
    faults = common_faults(wheel)
    inside = {name.partition("/")[2] for name in wheel if name.startswith(f"{PACKAGE}/")}
    written = {name.removeprefix(f"src/{PACKAGE}/") for name in sdist if name.startswith(f"src/{PACKAGE}/")}
    faults += [f"{name} is in the sources, but not in the wheel" for name in sorted(written - inside)]
    faults += [f"{name} is in the wheel, but not in the sources" for name in sorted(inside - written)]
    faults += [
        f"{name} is neither code nor data that the package may carry"
        for name in sorted(inside)
        if not _ours(name)
    ]
    faults += [f"{name} is a test" for name in sorted(wheel) if _is_test(PurePosixPath(name))]
    faults += [f"{name} is missing" for name in ("py.typed", "datasets/sarich.csv") if name not in inside]

    others = {name.partition("/")[0] for name in wheel} - {PACKAGE}
    info = next(
        (name for name in others if name.startswith(f"{PACKAGE}-") and name.endswith(".dist-info")),
        "",
    )
    faults += [f"{name}/ would be installed beside {PACKAGE}/" for name in sorted(others - {info})]
    if wheel.get(f"{info}/licenses/LICENSE") != sdist.get("LICENSE"):
        faults.append("the license of the sources is not among the wheel's license files")
    if f"{PACKAGE} = {PACKAGE}.cli:main".encode() not in wheel.get(f"{info}/entry_points.txt", b""):
        faults.append(f"the command {PACKAGE} is not among the entry points")
    return faults + metadata_faults(wheel.get(f"{info}/METADATA", b""), sdist)


def _ours(name: str) -> bool:
    return name.endswith(".py") or any(fnmatch.fnmatch(name, pattern) for pattern in DATA)


def _is_test(path: PurePosixPath) -> bool:
    return "tests" in path.parts or path.name == "conftest.py" or path.name.startswith("test_")


def metadata_faults(metadata: bytes, sdist: Files) -> list[str]:
    """Return metadata of a wheel that is missing or differs from the sdist."""
    try:
        found = Metadata.from_email(metadata)
    except ExceptionGroup as problems:
        return [f"metadata: {problem}" for problem in problems.exceptions]
    project: dict[str, Any] = tomllib.loads(sdist["pyproject.toml"].decode())["project"]
    code = sdist[f"src/{PACKAGE}/__init__.py"].decode()
    expected = {
        "name": project["name"],
        "summary": project["description"],
        "license_expression": project["license"],
        "license_files": project["license-files"],
        "classifiers": project["classifiers"],
        "description_content_type": "text/markdown",
        "description": sdist["README.md"].decode(),
    }
    faults = [
        f"metadata: {name} is not that of the sources"
        for name in expected
        if getattr(found, name) != expected[name]
    ]
    if f'__version__ = "{found.version}"' not in code:
        faults.append(f"metadata: version {found.version} is not __version__")
    if set(found.provides_extra or ()) != set(project["optional-dependencies"]):
        faults.append("metadata: the extras are not those of the sources")
    plain = {requirement for requirement in found.requires_dist or () if requirement.marker is None}
    needed = set(map(Requirement, project["dependencies"]))
    if plain != needed or str(found.requires_python) != project["requires-python"]:
        faults.append("metadata: dependencies or requires-python are not those of the sources")
    return faults


def sdist_faults(sdist: Files) -> list[str]:
    """Return the faults of an sdist."""
    faults = common_faults(sdist)
    faults += [f"{name} is missing" for name in IN_SDIST if name not in sdist]
    allowed = f"src/{PACKAGE}/datasets/sarich.csv"
    sets = [name for name in sdist if name.endswith(DATA_SETS) and name != allowed]
    return faults + [f"{name} is data that may not be ours to give away" for name in sorted(sets)]


def main(arguments: list[str]) -> int:
    """Check the wheel and the sdist of a folder and return the exit code."""
    folder = Path(arguments[0]) if arguments else ROOT / "dist"
    paths = only(folder, "*.whl"), only(folder, "*.tar.gz")
    wheel, sdist = read_wheel(paths[0]), read_sdist(paths[1])
    faults = [f"wheel: {fault}" for fault in wheel_faults(wheel, sdist)]
    faults += [f"sdist: {fault}" for fault in sdist_faults(sdist)]
    for path, files in zip(paths, (wheel, sdist), strict=True):
        size = path.stat().st_size / 1000
        others = [name for name in files if not name.endswith(".py")]
        print(f"{path.name}: {len(files)} files, {len(others)} of them not Python, {size:,.0f} kB")
    print(*(name for name in wheel if not name.endswith(".py")), sep="\n")
    print(*(faults or ["no faults found"]), sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
