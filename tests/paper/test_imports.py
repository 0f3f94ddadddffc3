"""The paper's scripts use public names of the package only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import treerep as tr

PAPER = Path(__file__).resolve().parents[2] / "paper"


def private_names(code: str) -> Iterator[str]:
    """Yield the names of the package that code uses and that the package does not list as public."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.startswith("treerep."))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "treerep":
            module = (node.module or "").removeprefix("treerep").removeprefix(".")
            yield from (
                found for one in node.names if not is_public(found := f"{module}.{one.name}".strip("."))
            )
        elif isinstance(node, ast.Attribute):
            names = re.fullmatch(r"tr\.(\w+(?:\.\w+)?)", ast.unparse(node))
            if names and not is_public(
                name := names[1] if of_module(names[1]) else names[1].partition(".")[0]
            ):
                yield name


def of_module(name: str) -> bool:
    """Return whether a name is one in a public module, such as `datasets.load`."""
    return name.partition(".")[0] in tr._MODULES


def is_public(name: str) -> bool:
    """Return whether a name is listed by the package, or by one of its public modules."""
    first, _, rest = name.partition(".")
    return first in tr.__all__ and (not rest or (of_module(name) and rest in getattr(tr, first).__all__))


@pytest.mark.parametrize("path", sorted(PAPER.glob("*.py")), ids=lambda path: path.name)
def test_only_public_names_are_used(path: Path) -> None:
    assert list(private_names(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import treerep as tr\ntr.fit(tr.datasets.sarich()).newick()", []),
        ("from treerep import Tree\nfrom treerep.formats import read", []),
        ("import treerep.tree.tree", ["treerep.tree.tree"]),
        ("from treerep.tree.tree import Tree", ["tree.tree.Tree"]),
        ("from treerep import tree", ["tree"]),
        ("from treerep.datasets import _catalog", ["datasets._catalog"]),
        ("tr._core", ["_core"]),
        ("tr.datasets.load_all()", ["datasets.load_all"]),
    ],
)
def test_private_names_are_found(code: str, found: list[str]) -> None:
    assert list(private_names(code)) == found
