"""Measure how dense, typed and grouped the source is: `python -m release.measure_code [folder]`.

The same counts as in the review that led to the present layout, so that two versions, or two packages, can be compared:

- *tokens per line*: names, operators, numbers and strings on a line that holds code, docstrings left out;
- *parallel assignments*: `a, b = x, y`, per 1,000 lines;
- *Any*: the share of annotations that are a bare `Any`, outside files of kernels;
- *flat folders*: the most files in one folder, and base names that occur in more than one folder.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

CODE_TOKENS = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class FileCounts(NamedTuple):
    """What is counted in one file."""

    lines: int
    tokens_of_lines: list[int]
    comments: int
    docstring_lines: int
    function_lengths: list[int]
    parallel: int
    wide_parallel: int
    annotations: int
    bare_any: int
    long_lines: int


def measure(path: Path) -> FileCounts:
    """Count one file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    documented = _docstring_lines(tree)
    tokens: Counter[int] = Counter()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in CODE_TOKENS and token.start[0] not in documented:
            tokens[token.start[0]] += 1
        comments += token.type == tokenize.COMMENT
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    annotations = list(_annotations(functions))
    widths = [len(node.targets[0].elts) for node in ast.walk(tree) if _is_parallel(node)]
    return FileCounts(
        lines=len(text.splitlines()),
        tokens_of_lines=list(tokens.values()),
        comments=comments,
        docstring_lines=len(documented),
        function_lengths=[_length(function) for function in functions],
        parallel=len(widths),
        wide_parallel=sum(width > 2 for width in widths),
        annotations=len(annotations),
        bare_any=sum(isinstance(note, ast.Name) and note.id == "Any" for note in annotations),
        long_lines=sum(len(line) > 100 for line in text.splitlines()),
    )


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, Function | ast.ClassDef | ast.Module)
            and ast.get_docstring(node, clean=False) is not None
        ):
            lines.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return lines


def _length(function: Function) -> int:
    """Return the lines of a function without its docstring."""
    whole = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return whole
    return whole - ((function.body[0].end_lineno or 0) - function.body[0].lineno + 1)


def _annotations(functions: list[Function]) -> Iterator[ast.expr]:
    """Yield what is said of each parameter and of what is returned."""
    for function in functions:
        given = function.args
        for argument in (
            *given.posonlyargs,
            *given.args,
            *given.kwonlyargs,
            given.vararg,
            given.kwarg,
        ):
            if argument is not None and argument.annotation is not None:
                yield argument.annotation
        if function.returns is not None:
            yield function.returns


def _is_parallel(node: ast.AST) -> bool:
    """Whether this is `a, b = x, y`. A swap, where a name stands on both sides, is not counted."""
    if (
        not isinstance(node, ast.Assign)
        or not isinstance(node.targets[0], ast.Tuple)
        or not isinstance(node.value, ast.Tuple)
    ):
        return False
    left = {ast.dump(name).replace("Store", "Load") for name in node.targets[0].elts}
    return left.isdisjoint(ast.dump(value) for value in node.value.elts)


def report(folder: Path) -> Iterator[str]:
    """Yield the rows of the table."""
    paths = sorted(folder.rglob("*.py"))
    counted = {path: measure(path) for path in paths}
    files = list(counted.values())
    lines = sum(file.lines for file in files)
    tokens = [number for file in files for number in file.tokens_of_lines]
    lengths = sorted(length for file in files for length in file.function_lengths)
    plain = [
        file
        for path, file in counted.items()
        if "kernels" not in path.stem and "triton" not in path.stem
    ]
    folders = Counter(path.parent for path in paths if path.name != "__init__.py")
    names = Counter(
        path.name for path in paths if path.name not in {"__init__.py", "__main__.py"}
    )
    fullest, most = folders.most_common(1)[0]
    twice = sorted(name for name, number in names.items() if number > 1)
    of_files = [file.lines for file in files]
    untyped = sum(file.bare_any for file in plain)
    percentile = lengths[len(lengths) * 9 // 10]
    yield f"files, lines                          {len(files)}, {lines:,}"
    yield f"lines of a file, median and largest   {median(of_files):.0f}, {max(of_files)}"
    yield f"tokens per line of code               {mean(tokens):.2f}"
    yield f"parallel assignments per 1,000 lines  {1000 * sum(file.parallel for file in files) / lines:.1f}"
    yield f"  of more than two targets            {sum(file.wide_parallel for file in files)}"
    yield f"bare Any outside kernels              {_share(untyped, sum(file.annotations for file in plain))}"
    yield f"comments per line of code             {_share(sum(file.comments for file in files), len(tokens))}"
    yield f"lines over 100 characters             {_share(sum(file.long_lines for file in files), lines)}"
    yield f"lines of a function, median, 90%, max {median(lengths):.0f}, {percentile}, {lengths[-1]}"
    yield f"fullest folder                        {fullest.relative_to(folder)}: {most} files"
    yield f"base names in several folders         {len(twice)}: {', '.join(twice)}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


if __name__ == "__main__":
    for row in report(Path(sys.argv[1] if len(sys.argv) > 1 else "src/treerep")):
        print(row)
