"""Workflows, templates, hooks and the recipe name the same versions, targets and addresses as pyproject.toml."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import treerep as tr

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FILES = [
    *sorted((ROOT / ".github").rglob("*.yml")),
    *(ROOT / name for name in (".pre-commit-config.yaml", ".readthedocs.yaml")),
    ROOT / "release" / "conda" / "recipe.yaml",
]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_yaml_is_valid(path: Path) -> None:
    assert read(path)


def test_the_workflows_call_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {
        target
        for path in WORKFLOWS
        for target in re.findall(r"run: make ([a-z-]+)", path.read_text(encoding="utf-8"))
    }
    assert {"test", "test-all", "test-lowest", "docs", "test-dist"} <= called <= targets


def test_the_matrix_has_every_supported_python() -> None:
    matrix = read(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["plain"]["strategy"]["matrix"]
    versions = [
        found[1]
        for line in PROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert matrix["python"] == versions
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos"}


def test_a_release_needs_no_password() -> None:
    publish = read(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text()


def test_addresses_agree() -> None:
    urls = PROJECT["project"]["urls"]
    home = urls["Homepage"]
    assert all(url.startswith((home, urls["Documentation"])) for url in urls.values())
    others = [*FILES, ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md"]
    text = "".join(path.read_text(encoding="utf-8") for path in others)
    assert set(re.findall(r"https://github\.com/[\w-]+/[\w-]+", text)) == {home}


def test_the_recipe_has_the_dependencies_of_the_package() -> None:
    recipe = read(ROOT / "release" / "conda" / "recipe.yaml")
    project = PROJECT["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["cli"]]
    run = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert run == {*needed, f"python{project['requires-python']}"}
    assert recipe["context"]["version"] == tr.__version__
    assert recipe["about"]["homepage"] == project["urls"]["Homepage"]


def test_hooks_use_the_versions_of_the_checks() -> None:
    hooks = read(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    pinned = {line for hook in hooks for line in hook.get("additional_dependencies", ())}
    assert pinned <= set(PROJECT["dependency-groups"]["check"])
    assert all(".venv" not in hook["entry"] for hook in hooks)


def test_developer_tools_are_not_published() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert not {"test", "docs", "rivals", "browser", "dev"} & set(extras)


def test_the_check_of_language_needs_no_package() -> None:
    # Its hook runs in an empty environment.
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            "import sys; sys.path.insert(0, '.'); import release.check_language",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
