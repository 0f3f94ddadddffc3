"""Every documented name works as the first thing that a process touches, and in any order."""

import json
import operator
import random
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

import treerep as tr
from treerep._core.backend import BACKENDS
from treerep._core.lazy import load
from treerep.metric._registry import CONVERTERS, GRAPH_READERS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = [
    path.read_text(encoding="utf-8")
    for path in PAGES
    if path.name != "changelog.md" and "_build" not in path.parts
]
# A name of the front door, and a name in one of its modules. What follows a class or function is not a name of ours.
_SHORT = re.compile(rf"\b(?:tr|treerep)\.(?:({'|'.join(tr._MODULES)})\.)?(\w+)\b")
_REFERENCE = re.compile(r"^(?:\.\. auto\w+::|  ) treerep\.([\w.]+)$", re.MULTILINE)
_IMPORT = re.compile(r"^from treerep\.([\w.]+) import (.+)$", re.MULTILINE)


def in_the_front_door() -> set[str]:
    """Return the names that the pages use, as they are written after `tr.`, and all others that there are."""
    used = {(module, name) for text in TEXTS for module, name in _SHORT.findall(text)}
    listed = {(module, name) for module in tr._MODULES for name in getattr(tr, module).__all__}
    public = {("", name) for name in tr.__all__}
    return {
        f"{module}.{name}".removeprefix(".") for module, name in (used & (listed | public)) | listed | public
    }


def by_their_modules() -> set[str]:
    """Return the names of the reference and of imports that have a longer path."""
    referred = {name for text in TEXTS for name in _REFERENCE.findall(text)}
    imported = {
        f"{module}.{name.strip()}"
        for text in TEXTS
        for module, names in _IMPORT.findall(text)
        for name in names.split(",")
    }
    return (referred | imported) - in_the_front_door()


def home(name: str) -> str:
    """Return what is imported when a name of the front door is touched: a module, by the table that names it."""
    module, _, last = name.rpartition(".")
    table = operator.attrgetter(module)(tr) if module else tr
    if last in getattr(table, "_HOMES", {}):
        return f"{module}:{table._HOMES[last]}"
    if module == "methods" and last not in vars(table):
        record = tr.methods.FIT.get(last) or tr.methods.EMBED[last]
        return f"{module}:{record.function.partition(':')[0]}"
    return module or last  # imported with its module


def together(names: set[str], key: Callable[[str], str]) -> list[list[str]]:
    """Return the names in groups that have the same key."""
    return [list(group) for _, group in groupby(sorted(names, key=lambda n: (key(n), n)), key)]


# Imports NumPy and numba once, which take most of the time, and runs each piece of code in a fork. Each fork imports
# all of this package itself.
FORKS = """
import json, os, sys, traceback
import numba, numpy
found = []
for code in json.load(sys.stdin):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1), os.dup2(writing, 2)
        status = 1
        try:
            exec(code, {"__name__": "__main__"})
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with open(reading) as stream:
        text = stream.read()
    found.append((os.waitpid(child, 0)[1], text))
assert "treerep" not in sys.modules
print(json.dumps(found))
"""


def in_processes(codes: list[str]) -> list[str]:
    """Return what each piece of code prints, in processes that have not imported the package."""
    command = [sys.executable, "-c", FORKS]
    done = subprocess.run(command, input=json.dumps(codes), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert [text for status, text in found if status] == []
    return [text for _, text in found]


def python(code: str) -> str:
    (printed,) = in_processes([code])
    return printed


def test_the_pages_are_read():
    assert {
        "fit",
        "citations.bibtex",
        "formats.read",
        "sklearn.TreeRep",
        "datasets.load",
        "tl.tree",
    } <= in_the_front_door()
    assert {
        "refinement.moves.search.rearrange",
    } <= by_their_modules()


def test_names_in_the_readme_exist():
    names = set(re.findall(r"\btr\.([A-Za-z_]\w*(?:\.\w+)?)", TEXTS[0]))
    assert {"fit", "tl.tree", "formats.write_tree", "sklearn.TreeClustering"} <= names
    for name in names:
        assert operator.attrgetter(name)(tr) is not None


# One process for all names of a module: whichever of them comes first, the same module is imported first.
def test_names_of_the_front_door():
    groups = together(in_the_front_door(), home)
    assert len(groups) > 20
    shown = [", ".join(f"tr.{name} is not None" for name in names) for names in groups]
    printed = in_processes([f"import treerep as tr; print({found})" for found in shown])
    for names, text in zip(groups, printed, strict=True):
        assert text.split() == ["True"] * len(names), names


def test_names_with_a_longer_path():
    groups = together(by_their_modules(), lambda name: name.rpartition(".")[0])
    codes = []
    for names in groups:
        last = ", ".join(name.rpartition(".")[2] for name in names)
        codes.append(f"from treerep.{names[0].rpartition('.')[0]} import {last}; print(None in ({last},))")
    assert in_processes(codes) == ["False\n"] * len(groups)


def test_the_reference_is_the_front_door():
    # docs/reference/index.md says so. Functions behind a method= are on the pages of their methods, with their modules.
    text = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    assert set(_REFERENCE.findall(text)) <= in_the_front_door()


@pytest.mark.parametrize("seed", range(2))
def test_names_are_touched_in_any_order(seed):
    names = sorted(in_the_front_door())
    random.Random(seed).shuffle(names)
    code = (
        "import json, sys, operator, treerep as tr\n"
        "for name in json.loads(sys.argv[1]): operator.attrgetter(name)(tr)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, json.dumps(names)], check=True)


# Slower libraries (scikit-bio, AnnData) are in the same table, which is looked at below.
FIRST = {
    "a file": "as_metric('x.csv')",
    "networkx": "as_metric(__import__('networkx').path_graph(2))",
    "igraph": "as_metric(__import__('igraph').Graph([(0, 1)]))",
    "zarr": "as_metric(__import__('zarr').array([[0.0, 1.0], [1.0, 0.0]]))",
}


def test_data_of_any_kind_comes_first(tmp_path, monkeypatch):
    # By the deepest import that there is, which knows nothing of the front door.
    (tmp_path / "x.csv").write_text("0,1\n1,0\n")
    monkeypatch.chdir(tmp_path)
    codes = [f"from treerep.metric.as_metric import as_metric; print(len({data}))" for data in FIRST.values()]
    assert in_processes(codes) == ["2\n"] * len(FIRST)


@pytest.mark.torch
def test_tensors_come_first():
    code = "from treerep.metric.as_metric import as_metric; import torch; print(len(as_metric(1 - torch.eye(2))))"
    assert python(code) == "2\n"


def test_dask_arrays_are_refused_at_once():
    code = (
        "from treerep.metric.as_metric import as_metric; import dask.array as da\n"
        "try: as_metric(da.zeros((2, 2)))\n"
        "except TypeError as error: print(error)"
    )
    assert "stay on their workers: add engine='dask'" in python(code)


def test_other_engines_and_notebooks_work_from_deep_imports():
    code = (
        "from treerep.tree.tree import Tree; print(Tree(2, [[0, 1]], [1.0])._repr_html_()[:7])\n"
        "from treerep._core.backend import backend_for; print(type(backend_for(engine='dask')).__module__)"
    )
    assert python(code).split() == ["<iframe", "treerep.backends.dask.backend"]


@pytest.mark.parametrize(
    "address", sorted({*CONVERTERS.values(), *GRAPH_READERS.values(), *BACKENDS.values()})
)
def test_tables_name_functions(address):
    assert callable(load(address))
