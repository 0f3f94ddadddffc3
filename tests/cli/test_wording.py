"""Errors of the library in the terms of a command."""

import ast
import re
from pathlib import Path

import pytest

import treerep
from treerep.cli._wording import one_line


@pytest.mark.parametrize(
    ("command", "library", "expected"),
    [
        ("fit", "for points pass kind='points'", "for points pass --kind points"),
        ("fit", "use_rep=None is not 'X'", "--use-rep None is not 'X'"),
        ("fit", "name one with use_rep=, one of X", "name one with --use-rep, one of X"),
        (
            "fit",
            "join them, or pass largest_component=True",
            "join them, or pass --largest-component",
        ),
        ("fit", "count edges with weight=False", "count edges with --unweighted"),
        ("fit", "n_jobs=2 and rng=1", "--jobs 2 and --seed 1"),
        ("refine", "pass moves=False", "pass --no-moves"),
        (
            "draw",
            "no length: add one, or pass default_length=1.0 for all",
            "no length: add one, or pass --default-length 1.0 for all",
        ),
        ("delta", "time_limit is a number", "--time-limit is a number"),
        # `tr.as_metric(...)` is a call in Python.
        (
            "fit",
            "tr.as_metric(D, symmetrize='mean') averages the two",
            "--symmetrize mean averages the two",
        ),
        # Fixes without an option are removed.
        (
            "demo",
            "no length: add one, or pass default_length=1.0 for all",
            "no length: add one",
        ),
        (
            "draw",
            "'x': pass inner_labels=False, or put it in quotes",
            "'x': put it in quotes",
        ),
        ("draw", "twice; if they are support, pass inner_labels=False", "twice"),
        ("fit", "remove them, and pass labels=", "remove them"),
        ("fit", "use graph='knn' or method='bfs'", "use --method bfs"),
        (
            "data",
            "run `treerep data fetch yeast`, or load('yeast', download=True), or set a folder",
            "run `treerep data fetch yeast`, or set a folder",
        ),
        ("fit", "drop the edge (A.eliminate_zeros())", "drop the edge"),
        ("fit", "convert them, e.g. D.astype('float32')", "convert them"),
        ("convert", "save it, or remove it with tree.contracted()", "save it"),
        # compare has no --method.
        ("compare", "use graph='knn' or method='bfs'", "use method bfs"),
    ],
)
def test_arguments_become_options_of_the_command(command, library, expected):
    assert one_line(ValueError(library), command) == expected


def messages(package):
    """Yield the place and the text of every error of a package, with `x` for inserted values."""
    root = Path(treerep.__file__).parent
    for path in sorted((root / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                text = node.exc.args[0]
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                words = [part.value if isinstance(part, ast.Constant) else "x" for part in parts]
                yield f"{path.relative_to(root)}:{node.lineno}", "".join(map(str, words))


# Errors that only a caller in Python can cause.
ONLY_PYTHON = (
    "is for kernels",
    "data.toarray()",
    "scipy.sparse.csr_array",
    "networkx.from_pandas_edgelist",
    "G.to_undirected()",
)


@pytest.mark.parametrize(
    "package", ["formats", "metric", "tree", "fitting", "scores", "treelikeness", "placement"]
)
def test_no_error_recommends_python_code(package):
    found = list(messages(package))
    assert found
    code = re.compile(r"\w\.\w+\(|\btr\.|\bscipy\.|\bnp\.")
    for place, text in found:
        if not any(part in text for part in ONLY_PYTHON):
            shown = one_line(ValueError(text), "fit")
            assert not code.search(shown), f"{place}: {shown}"
