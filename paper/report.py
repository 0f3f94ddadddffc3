"""The report: every table and figure beside the paper's numbers, as Markdown and as one HTML file."""

import base64
import html
import re
from pathlib import Path
from types import ModuleType

from treerep._core.io.files import atomic_write

from .cells import Store
from .command import experiment
from .tables import Cell, Figure, Note, Table, as_html, markdown

FOLDER = Path(__file__).parent
#: The experiments in the order of the paper.
EXPERIMENTS = {
    "schematics": "How TreeRep works (Figure 1 and the last figure)",
    "reconstruction": "Tree reconstruction (Table 1)",
    "random_points": "Random points of hyperbolic space (Figure 2, Table 2)",
    "sarich": "Immunological distances (Figure 3)",
    "single_cell": "Single cells (Table 3)",
    "graphs": "Unweighted graphs (Table 4 and the appendix)",
    "best": "The best trees, and optimised weights (appendix)",
}
INTRODUCTION = (
    "Every table and figure of Sonthalia and Gilbert, *Tree! I am no Tree! I am a Low Dimensional Hyperbolic "
    "Embedding* (NeurIPS 2020), computed with treerep. In each cell: our number (the paper's). Bold: ours is better. "
    "▼: ours is worse, a score by more than 0.02; every such score is explained. A dash: not computed, or not in the "
    "paper. The "
    'column TR follows the paper (`pivot="closest"`, `tol=0.1`, mean of 20 runs); beside it stand TreeRep with '
    "our defaults, the tree that `fit` learns without options (Default, mean of 5 runs) and our refined tree. Seconds "
    "are of two cores of a shared machine, but of one NVIDIA H200 for PM, LM and PT, and of 16 cores for NJ on Enron; "
    "the paper's are of its own machines with 8 to 24 cores. `python -m paper` makes this page from the stored cells; "
    "`make paper` computes cells anew and compares."
)


class Part:
    """One experiment as the report shows it."""

    def __init__(self, name: str, store: Store) -> None:
        self.name, self.title, self.store = name, EXPERIMENTS[name], store
        self.module: ModuleType = experiment(name)
        self.tables: list[Table] = self.module.tables(store)
        self.notes: list[Note] = self.module.notes(store)

    def figures(self, folder: Path) -> list[Figure]:
        """Draw the figures; an experiment may have none."""
        found: list[Figure] = (
            self.module.figures(self.store, folder) if hasattr(self.module, "figures") else []
        )
        return found


def unexplained(parts: list[Part]) -> list[str]:
    """Return the scores that are worse than the paper's by more than 0.02 and that no note names."""
    missing = []
    for part in parts:
        explained = {cell for note in part.notes for cell in note.cells}
        for table in part.tables:
            if table.title.startswith(("Seconds", "Mean seconds")):
                continue  # times are no scores: those of calls that take less than a millisecond say little
            for row in table.rows:
                for column, cell in zip(table.columns, row, strict=True):
                    place = f"{row[0]} {column}"
                    if (
                        isinstance(cell, Cell)
                        and cell.verdict == "worse"
                        and place not in explained
                    ):
                        missing.append(f"{part.name}: {table.title}: {place}")
    return missing


def write(folder: Path = FOLDER, cells: Path | None = None) -> list[str]:
    """Write report.md, report.html and the figures; return the scores that lack an explanation."""
    parts = [Part(name, Store(name, cells) if cells else Store(name)) for name in EXPERIMENTS]
    drawn = {part.name: part.figures(folder / "figures") for part in parts}
    with atomic_write(folder / "report.md") as file:
        file.write(as_markdown(parts, drawn))
    with atomic_write(folder / "report.html") as file:
        file.write(as_page(parts, drawn, folder / "figures"))
    return unexplained(parts)


def as_markdown(parts: list[Part], drawn: dict[str, list[Figure]]) -> str:
    """Return the report as Markdown, which links the figures."""
    lines = ["# The paper, reproduced", "", INTRODUCTION, ""]
    for part in parts:
        lines += [f"## {part.title}", "", f"`python -m paper.{part.name}`", ""]
        lines += [
            f"![{figure.title}](figures/{figure.file})\n\n{figure.text}\n"
            for figure in drawn[part.name]
        ]
        lines += [markdown(table) for table in part.tables]
        if part.notes:
            lines += ["Where we are worse, and other differences:", ""]
            lines += [
                f"- **{', '.join(note.cells) or 'All'}**: {note.text}" for note in part.notes
            ] + [""]
    return "\n".join(lines)


def as_page(parts: list[Part], drawn: dict[str, list[Figure]], folder: Path) -> str:
    """Return the report as one HTML page that holds its figures."""
    body = [f"<h1>The paper, reproduced</h1><p>{_prose(INTRODUCTION)}</p>", _contents(parts)]
    for part in parts:
        body.append(f"<section id='{part.name}'><h2>{html.escape(part.title)}</h2>")
        body += [_figure(figure, folder) for figure in drawn[part.name]]
        body += [as_html(table) for table in part.tables]
        if part.notes:
            notes = "".join(
                f"<li><b>{html.escape(', '.join(note.cells) or 'All')}</b>: {html.escape(note.text)}</li>"
                for note in part.notes
            )
            body.append(f"<h3>Where we are worse, and other differences</h3><ul>{notes}</ul>")
        body.append("</section>")
    style = (FOLDER / "report.css").read_text()
    meta = "<meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
    head = f"{meta}<title>The paper, reproduced</title><style>\n{style}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>{''.join(body)}</body></html>\n"


def _prose(text: str) -> str:
    """Return a text with `code` and *emphasis* as HTML."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", marked)


def _contents(parts: list[Part]) -> str:
    links = "".join(
        f"<li><a href='#{part.name}'>{html.escape(part.title)}</a></li>" for part in parts
    )
    return f"<nav><ul>{links}</ul></nav>"


def _figure(figure: Figure, folder: Path) -> str:
    data = base64.b64encode((folder / figure.file).read_bytes()).decode()
    title, text = html.escape(figure.title), html.escape(figure.text)
    image = f"<img alt='{title}' src='data:image/svg+xml;base64,{data}'>"
    return f"<figure>{image}<figcaption><b>{title}.</b> {text}</figcaption></figure>"
