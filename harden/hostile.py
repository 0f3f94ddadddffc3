"""Stress test: deep or wide trees and unusual labels in every format and on the page.

A label must survive the round trip, or be rejected by a one-line error that leaves no file. A tree
without labels must never be rejected.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import treerep as tr
from treerep.formats import TREE_FORMATS, read, read_tree, write_distances, write_tree

from .common import Result

LABELS = {
    "quotes": "it's \"so\" `here` ''",
    "newline": "two\nlines",
    "return": "a\r\nb\rc",
    "tab": "a\tb",
    "blanks": "  a  b  ",
    "emoji": "\U0001f98a\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "right to left": "\u202eabc\u05d0\u05d1",
    "combining": "e\u0301\u0301\u0301",
    "html": "</script><script>alert(1)</script><!--",
    "entity": "&amp;&lt;&#0;",
    "newick": "(a:1,b[c]'d';",
    "nexus": "END; BEGIN",
    "empty": "",
    "null": "null",
    "none": "None",
    "nan": "nan",
    "zero": "\0",
    "number": "1e5",
    "padded": "007",
    "true": "true",
    "share": "0.95",
    "path": "../../etc/passwd",
    "formula": '=1+1;"',
    "comma": "a,b;c|d",
    "comment": "#a %b",
    "slash": "a\\nb\\",
    "control": "\x01\x1b[31m\x7f",
    "bom": "\ufeffa",
    "separator": "a\u2028b\u0085c",
    "long": "x" * 100_000,
    "template": "{{script}}${x}",
    "surrogate": "\ud800",
    "bracket": "]]>",
    "dash": "-",
    "colon": ":1.0",
}
TABLES = ("csv", "tsv", "phylip")  # formats of distances that keep labels


class Outcome(NamedTuple):
    """Fault of one round trip, if any, and whether the tree was rejected."""

    fault: str | None = None
    refused: bool = False


def shapes(size: int) -> dict[str, tr.Tree]:
    """Return a caterpillar, a star, a path, and trees with equal and zero lengths."""
    row = size + np.arange(size)
    edges = np.concatenate([np.column_stack([np.arange(size), row]), np.column_stack([row[:-1], row[1:]])])
    half = size // 2
    star = np.column_stack([np.arange(half), np.full(half, half)])
    return {
        "caterpillar": tr.Tree(size, edges, np.linspace(0.1, 1.0, len(edges))),
        "star": tr.Tree(half, star, np.linspace(0.0, 1.0, half)),
        "path": tr.Tree(half, np.column_stack([np.arange(half - 1), np.arange(1, half)]), np.zeros(half - 1)),
    }


def strangers() -> dict[str, tr.Tree]:
    """Return one small tree per unusual label, and one with all labels that a file can hold."""
    quartet = [[0, 4], [1, 4], [4, 5], [2, 5], [3, 5]]
    one = {
        f"label {name}": tr.Tree(4, quartet, [1.0, 2.0, 0.5, 3.0, 4.0], labels=[label, "b", "c", f"{label}!"])
        for name, label in LABELS.items()
    }
    names = [label for label in LABELS.values() if label != "\ud800"]
    edges = np.column_stack([np.arange(len(names)), np.full(len(names), len(names))])
    return {
        **one,
        "all labels": tr.Tree(len(names), edges, np.arange(1.0, len(names) + 1), labels=names),
    }


def through_formats(name: str, tree: tr.Tree, folder: Path) -> Iterator[Outcome]:
    """Write the tree in every format, and read it back if possible."""
    named = tree.labels is not None
    for kind, known in TREE_FORMATS.items():
        path = folder / f"tree{known.suffixes[0]}"

        def there_and_back(kind: str = kind, path: Path = path, reads: bool = known.reads) -> str | None:
            write_tree(tree, path, format=kind)
            return _difference(read_tree(path, format=kind), tree) if reads else None

        yield _tried(f"{name} as {kind}", there_and_back, folder, may_refuse=named)
    yield _tried(
        f"{name} as a page",
        lambda: _page_fault(tree, folder / "tree.html"),
        folder,
        may_refuse=named,
    )


def through_tables(name: str, tree: tr.Tree, folder: Path) -> Iterator[Outcome]:
    """Do the same with files of distances, for small trees."""
    for kind in TABLES:
        path = folder / f"distances.{kind}"

        def there_and_back(kind: str = kind, path: Path = path) -> str | None:
            write_distances(tree, path, format=kind)
            back = read(path, format=kind, kind="distances")
            everyone = np.arange(len(tree))
            if back.labels != tree.labels:
                return "other labels"
            return (
                None
                if np.array_equal(back.block(everyone, everyone), tree.distances())
                else "other distances"
            )

        yield _tried(
            f"{name} as distances in {kind}",
            there_and_back,
            folder,
            may_refuse=tree.labels is not None,
        )


def _tried(what: str, work: Callable[[], str | None], folder: Path, *, may_refuse: bool) -> Outcome:
    """Return the outcome. An error must be one line about a label, and leave no file."""
    refused = False
    try:
        fault = work()
    except ValueError as error:
        line = str(error)
        kept = [path.name for path in folder.iterdir()]
        fault, refused = None, True
        if not may_refuse or "\n" in line or len(line) > 2000 or kept or isinstance(error, UnicodeError):
            fault = f"{type(error).__name__} of {len(line)} characters, files {kept}: {line[:200]!r}"
    except Exception as error:
        fault = f"{type(error).__name__}: {str(error)[:200]!r}"
    for path in folder.iterdir():
        path.unlink()
    return Outcome(None if fault is None else f"{what}: {fault}", refused)


def _difference(back: tr.Tree, tree: tr.Tree) -> str | None:
    if tree.labels is not None:
        if back.labels is None or set(back.labels) != set(tree.labels):
            return "other labels"
        back = back.restrict(tree.labels)
    return None if back.isclose(tree.canonical()) else "another tree"


def _page_fault(tree: tr.Tree, path: Path) -> str | None:
    names = tree.labels or ("no name",)
    tr.page(tree, path, title=names[0], table={names[0]: range(len(tree))})
    text = path.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, flags=re.DOTALL)
    if len(re.findall("<script", text)) != 2:
        return "a name ends the script"
    shown = json.loads(data)["labels"]
    return None if tree.labels is None or shown == list(tree.labels) else "other labels"


def campaign(points: int = 200_000) -> Result:
    """Write and read trees with this many points, and all unusual labels."""
    found: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="treerep-harden-") as name:
        folder = Path(name)
        for title, tree in {**shapes(points), **strangers()}.items():
            found += through_formats(title, tree, folder)
            if len(tree) <= 100:
                found += through_tables(title, tree, folder)
    what = (
        f"a caterpillar of {points:,} points, a star of {points // 2:,}, {len(LABELS)} unusual labels, "
        f"in {len(TREE_FORMATS)} formats, the page and {len(TABLES)} tables"
    )
    note = f"{sum(outcome.refused for outcome in found)} labels were rejected by a one-line error"
    return Result(what, len(found), [outcome.fault for outcome in found if outcome.fault], note)
