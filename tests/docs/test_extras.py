"""Extras that pages and messages name exist: `pip install 'treerep[draw]'`."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_named_extras_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
    sources = (ROOT / "src").rglob("*.py") if (ROOT / "src").is_dir() else ()
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *pages, *sources)]
    found = [names for text in texts for names in re.findall(r"(?:treerep|'\.)\[([a-z,-]+)\]", text)]
    asked = [re.findall(r"require\(\s*\"[\w.]+\",\s*\"([\w-]+)\"", text) for text in texts]
    named = {name for names in found for name in names.split(",")} | {
        name for names in asked for name in names
    }
    assert {"all", "draw", "scverse"} <= named <= set(project["optional-dependencies"])
