"""The list of benchmarks on the page of the benchmarks, from the docstrings of their modules."""

import ast
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def listed() -> str:
    """Return a table with the command of each benchmark, and what it measures."""
    rows = ["| command | measures |", "|---|---|"]
    for folder, prefix in ((BENCHMARKS, "benchmarks "), (BENCHMARKS / "biology", "benchmarks.biology.")):
        for path in sorted(folder.glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            if not path.stem.startswith("_") and functions & {"measure", "main"}:
                about = (ast.get_docstring(tree) or "").split("\n\n")[0].replace("\n", " ")
                rows.append(f"| `python -m {prefix}{path.stem}` | {about} |")
    return "\n".join(rows) + "\n"
