"""Lists of files, modules and commands in scripts, settings and documentation name what exists."""

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as benchmarks
from docs import benchmark_list

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PAGES = [
    path
    for path in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")))
    if "_build" not in path.parts and path.name.lower() != "changelog.md"
]
pytestmark = pytest.mark.skipif(
    not (ROOT / "src").is_dir(), reason="`make test-dist` tests without the sources"
)
#: Folders of the repository whose modules commands and pages name.
SCRIPTS = ("benchmarks", "harden", "paper", "release", "tests", "docs")


def exists(pattern: str, *folders: Path) -> bool:
    """Return whether a path or pattern matches a file or folder below one of some folders."""
    return any(True for folder in folders for _ in folder.glob(pattern))


def module_exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of the package around it
        return False


def settings_of_modules() -> Iterator[str]:
    """Yield the modules of this package that settings of import-linter and mypy name."""
    for contract in SETTINGS["tool"]["importlinter"]["contracts"]:
        yield from (*contract["source_modules"], *contract["forbidden_modules"])
    for override in SETTINGS["tool"]["mypy"]["overrides"]:
        yield from (name.removesuffix(".*") for name in override["module"] if name.startswith("treerep"))


def test_settings_name_modules_that_exist() -> None:
    names = set(settings_of_modules())
    assert names and [name for name in sorted(names) if not module_exists(name)] == []


def test_settings_name_files_that_exist() -> None:
    included = [
        path.lstrip("/") for path in SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    ]
    tests = SETTINGS["tool"]["pytest"]["testpaths"]
    ignored = [
        option.removeprefix("--ignore-glob=/").replace("*/", "**/", 1)
        for option in SETTINGS["tool"]["pytest"]["addopts"]
        if option.startswith("--ignore-glob=")
    ]
    checked = SETTINGS["tool"]["mypy"]["files"]
    of_ruff = [
        pattern
        for group in SETTINGS["tool"]["ruff"]["lint"]["per-file-ignores"]
        for pattern in (
            [part + group.partition("}")[2] for part in group[1:].partition("}")[0].split(",")]
            if group.startswith("{")
            else [group]
        )
    ]
    named = [*included, *tests, *ignored, *checked, *of_ruff]
    assert len(named) > 20 and [name for name in named if not exists(name, ROOT)] == []


def test_make_names_files_that_exist() -> None:
    generic = re.search(r"^GENERIC := (.*)$", MAKEFILE, re.MULTILINE)
    assert generic
    named = [*generic[1].split(), *re.findall(r"--ignore=(\S+)|\bpython (docs/\S+\.py)", MAKEFILE)]
    paths = [path for found in named for path in ([found] if isinstance(found, str) else found) if path]
    assert [path for path in paths if not exists(path, ROOT)] == []
    for path, test in re.findall(r"--deselect (\S+?)::(\w+)", MAKEFILE):
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


def test_commands_run_modules_that_exist() -> None:
    command = re.compile(rf"python -m ((?:{'|'.join(SCRIPTS)})[\w.]*)(?: ([a-z_]+)\b)?")
    wrong = []
    for path in (ROOT / "Makefile", *PAGES):
        for name, word in command.findall(path.read_text(encoding="utf-8")):
            known = (*benchmarks.NAMES, "rivals") if name == "benchmarks" and word else (word,)
            if not module_exists(name.rstrip(".")) or word not in known:
                wrong += [f"{path.name}: python -m {name} {word}"]
    assert wrong == []


def test_pages_name_files_that_exist() -> None:
    """A path in backticks is one of the repository or the package, or the page says which commit has it."""
    named = re.compile(r"`([\w./*]+/[\w.*]+\.(?:py|js|md|toml|json))`(?!\s+at\s+commit)")
    wrong = []
    for path in PAGES:
        if path.name.startswith("extending_"):  # what a reader adds; tested by tests/docs/test_extending.py
            continue
        for name in named.findall(path.read_text(encoding="utf-8")):
            if not exists(name, ROOT, ROOT / "src", ROOT / "src" / "treerep", ROOT / "docs"):
                wrong += [f"{path.name}: {name}"]
    assert wrong == []


def test_stored_results_belong_to_benchmarks() -> None:
    listed = set(re.findall(r"`python -m ([\w. ]+)`", benchmark_list.listed()))
    assert {name.removeprefix("benchmarks ") for name in listed if " " in name} == set(benchmarks.NAMES)
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.md")):
        for command in re.findall(r"\(`python -m ([\w. ]+)`\)", path.read_text(encoding="utf-8")):
            assert any(f"{command} ".startswith(f"{one} ") for one in listed), f"{path.name}: {command}"


def test_benchmarks_are_modules() -> None:
    assert [name for name in benchmarks.NAMES if not module_exists(f"benchmarks.{name}")] == []
    assert set(benchmarks.NEEDS) <= set(benchmarks.NAMES)


def test_paths_in_strings_of_scripts_exist() -> None:
    """Paths from the root that stand whole in a string of a script, as in `ROOT / "tests/formats"`."""
    wrong = []
    for folder in ("benchmarks", "harden", "paper", "release"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                    continue
                if re.fullmatch(
                    r"(?:src|tests|docs|benchmarks|harden|paper|release)/[\w./]+\.\w+", node.value
                ):
                    wrong += [] if exists(node.value, ROOT) else [f"{path.name}: {node.value}"]
    assert wrong == []
