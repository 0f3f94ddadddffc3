"""Print the size of the code, and how many files a call enters: `python -m release.measure`.

These numbers say what a reader of the source pays. They are information, and no test limits them. Tokens are names,
operators, numbers and strings; docstrings, comments and line breaks do not count. A call enters a file if it runs a
function that the file defines. Calls are measured the second time, without imports and compilation.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
#: A file with longer lines is a bundle.
LONGEST = 2000


class Size(NamedTuple):
    """Size of some files."""

    files: int
    lines: int
    tokens: int


def count_tokens(text: str) -> int:
    r"""Count the tokens of a Python file.

    >>> count_tokens("x = (1 +  # a comment\n2)")
    7
    """
    documented = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        value = first.value if isinstance(first, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            documented.add((value.lineno, value.col_offset))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type in COUNTED and token.start not in documented for token in tokens)


def python_size(folder: Path) -> Size:
    """Measure the Python files below a folder."""
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    return Size(len(texts), sum(len(text.splitlines()) for text in texts), sum(map(count_tokens, texts)))


def script_size(root: Path) -> tuple[int, int]:
    """Return the number of files and of lines of the page's JavaScript, without bundles."""
    files = [
        path
        for folder in (root / "src", root / "page" / "src")
        for path in folder.rglob("*")
        if path.suffix in {".js", ".mjs", ".ts"}
    ]
    texts = [path.read_text(encoding="utf-8").splitlines() for path in files]
    read = [lines for lines in texts if all(len(line) < LONGEST for line in lines)]
    return len(read), sum(map(len, read))


def files_entered(call: Callable[[], object], folder: Path) -> list[str]:
    """Return the files below a folder that the second of two equal calls enters."""
    home = f"{folder}/"
    seen = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(home):
            seen.add(name.removeprefix(home))

    call()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(seen)


def calls() -> dict[str, list[str]]:
    """Return the files that some calls enter."""
    import numpy as np

    import treerep as tr

    points = np.random.default_rng(0).normal(size=(60, 3))
    matrix = np.linalg.norm(points[:, None] - points, axis=2)
    tree = tr.fit(matrix, method="neighbor_joining", n_jobs=1)
    every: dict[str, Callable[[], object]] = {
        "fit, TreeRep": lambda: tr.fit(points, metric="euclidean", method="treerep", n_jobs=1),
        "fit, neighbor joining": lambda: tr.fit(matrix, method="neighbor_joining", n_jobs=1),
        "fit, default": lambda: tr.fit(points, metric="euclidean", n_jobs=1),
        "refine": lambda: tr.refine(tree, matrix, n_jobs=1),
        "place": lambda: tr.place(tree, matrix[:3]),
        "average_distortion": lambda: tr.average_distortion(tree, matrix, n_jobs=1),
    }
    folder = Path(str(tr.__file__)).parent
    return {name: files_entered(call, folder) for name, call in every.items()}


def main() -> None:
    """Print all numbers."""
    packages = sorted(path for path in (ROOT / "src" / "treerep").iterdir() if path.is_dir())
    sizes = {name: python_size(ROOT / name) for name in ("src", "tests", "benchmarks", "paper")}
    for name, size in sizes.items():
        print(f"{name:12}{size.files:6,} files {size.lines:8,} lines {size.tokens:9,} tokens")
    print("JavaScript  {:6,} files {:8,} lines".format(*script_size(ROOT)))
    tokens = {path.name: python_size(path).tokens for path in packages if path.name != "__pycache__"}
    largest = sorted(tokens, key=lambda name: -tokens[name])
    print("tokens of packages: " + ", ".join(f"{name} {tokens[name]:,}" for name in largest))
    print("files entered: " + ", ".join(f"{name} {len(files)}" for name, files in calls().items()))


if __name__ == "__main__":
    main()
