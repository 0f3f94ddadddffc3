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
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

CODE_TOKENS = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class FileCounts(NamedTuple):
    """Counts of one file."""

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
    """Return the number of lines of a function without its docstring."""
    whole = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return whole
    return whole - ((function.body[0].end_lineno or 0) - function.body[0].lineno + 1)


def _annotations(functions: list[Function]) -> Iterator[ast.expr]:
    """Yield the annotations of all parameters and of the result."""
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
    """Return whether this is `a, b = x, y`. Swaps are not counted."""
    if (
        not isinstance(node, ast.Assign)
        or not isinstance(node.targets[0], ast.Tuple)
        or not isinstance(node.value, ast.Tuple)
    ):
        return False
    left = {ast.dump(name).replace("Store", "Load") for name in node.targets[0].elts}
    return left.isdisjoint(ast.dump(value) for value in node.value.elts)


class Summary(NamedTuple):
    """Counts of a package."""

    files: int
    lines: int
    median_file: float
    longest_file: int
    tokens_per_line: float
    parallel_per_1000: float
    wide_parallel: int
    any_percent: float
    comment_percent: float
    long_line_percent: float
    function_lines: tuple[float, int, int]  # median, 90 %, longest
    fullest_folder: tuple[str, int]
    names_twice: list[str]


def summarize(folder: Path) -> Summary:
    """Count a package."""
    paths = sorted(folder.rglob("*.py"))
    counted = {path: measure(path) for path in paths}
    files = list(counted.values())
    lines = sum(file.lines for file in files)
    tokens = [number for file in files for number in file.tokens_of_lines]
    lengths = sorted(length for file in files for length in file.function_lengths)
    plain = [file for path, file in counted.items() if not _is_kernel_file(path)]
    folders = Counter(path.parent for path in paths if path.name != "__init__.py")
    names = Counter(path.name for path in paths if not path.name.startswith("__"))
    fullest, most = folders.most_common(1)[0]
    return Summary(
        files=len(files),
        lines=lines,
        median_file=median(file.lines for file in files),
        longest_file=max(file.lines for file in files),
        tokens_per_line=mean(tokens),
        parallel_per_1000=1000 * sum(file.parallel for file in files) / lines,
        wide_parallel=sum(file.wide_parallel for file in files),
        any_percent=_percent((f.bare_any for f in plain), sum(f.annotations for f in plain)),
        comment_percent=_percent((file.comments for file in files), len(tokens)),
        long_line_percent=_percent((file.long_lines for file in files), lines),
        function_lines=(median(lengths), lengths[len(lengths) * 9 // 10], lengths[-1]),
        fullest_folder=(str(fullest.relative_to(folder)), most),
        names_twice=sorted(name for name, number in names.items() if number > 1),
    )


def _is_kernel_file(path: Path) -> bool:
    return "kernels" in path.stem or "triton" in path.stem


def _percent(parts: Iterable[int], whole: int) -> float:
    return 100 * sum(parts) / whole


def report(folder: Path) -> Iterator[str]:
    """Yield the rows of the table."""
    found = summarize(folder)
    typical, percentile, longest = found.function_lines
    fullest, most = found.fullest_folder
    twice = found.names_twice
    yield f"files, lines                          {found.files}, {found.lines:,}"
    yield f"lines of a file, median and largest   {found.median_file:.0f}, {found.longest_file}"
    yield f"tokens per line of code               {found.tokens_per_line:.2f}"
    yield f"parallel assignments per 1,000 lines  {found.parallel_per_1000:.1f}"
    yield f"  of more than two targets            {found.wide_parallel}"
    yield f"bare Any outside kernels              {found.any_percent:.1f} %"
    yield f"comments per line of code             {found.comment_percent:.1f} %"
    yield f"lines over 100 characters             {found.long_line_percent:.1f} %"
    yield f"lines of a function, median, 90%, max {typical:.0f}, {percentile}, {longest}"
    yield f"fullest folder                        {fullest}: {most} files"
    yield f"base names in several folders         {len(twice)}: {', '.join(twice)}"


if __name__ == "__main__":
    for row in report(Path(sys.argv[1] if len(sys.argv) > 1 else "src/treerep")):
        print(row)
