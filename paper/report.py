"""The report: all tables and figures next to the published numbers, as Markdown and HTML."""

import base64
import html
import re
from pathlib import Path
from types import ModuleType

from .cells import Store
from .command import experiment
from .files import whole_file
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
    "best": "Best trees and optimized edge lengths (appendix)",
}
INTRODUCTION = (
    "All tables and figures of Sonthalia and Gilbert, *Tree! I am no Tree! I am a Low "
    "Dimensional Hyperbolic Embedding* (NeurIPS 2020), computed with treerep. Each cell shows"
    " our number, with the published one in parentheses. Bold: ours is better. ▼: ours is "
    "worse, for scores by more than 0.02; every such score is explained. A dash: not "
    'computed, or not in the paper. The column TR follows the paper (`pivot="closest"`, '
    "`tol=0.1`, mean of 20 runs). The next columns are TreeRep with our defaults, `fit` "
    "without options (Default, mean of 5 runs) and our refined tree. Times are from two cores"
    " of a shared machine, except for PM, LM and PT (one NVIDIA H200) and NJ on Enron (16 "
    "cores). Published times are from machines with 8 to 24 cores. `python -m paper --report`"
    " creates this page from the stored cells; `make paper` recomputes cells and compares."
)


class Part:
    """One experiment in the report."""

    def __init__(self, name: str, store: Store) -> None:
        self.name, self.title, self.store = name, EXPERIMENTS[name], store
        self.module: ModuleType = experiment(name)
        self.tables: list[Table] = self.module.tables(store)
        self.notes: list[Note] = self.module.notes(store)

    def figures(self, folder: Path) -> list[Figure]:
        """Draw the figures, if the experiment has any."""
        found: list[Figure] = (
            self.module.figures(self.store, folder) if hasattr(self.module, "figures") else []
        )
        return found


def unexplained(parts: list[Part]) -> list[str]:
    """Return scores that are worse than published by more than 0.02 and not mentioned in a note."""
    missing = []
    for part in parts:
        explained = {cell for note in part.notes for cell in note.cells}
        for table in part.tables:
            if table.title.startswith(("Seconds", "Mean seconds")):
                continue  # times are not scores
            for row in table.rows:
                for column, cell in zip(table.columns, row, strict=True):
                    place = f"{row[0]} {column}"
                    if isinstance(cell, Cell) and cell.verdict == "worse" and place not in explained:
                        missing.append(f"{part.name}: {table.title}: {place}")
    return missing


def write(folder: Path = FOLDER, cells: Path | None = None) -> list[str]:
    """Write report.md, report.html and the figures; return the unexplained scores."""
    parts = [Part(name, Store(name, cells) if cells else Store(name)) for name in EXPERIMENTS]
    drawn = {part.name: part.figures(folder / "figures") for part in parts}
    with whole_file(folder / "report.md") as file:
        file.write(as_markdown(parts, drawn))
    with whole_file(folder / "report.html") as file:
        file.write(as_page(parts, drawn, folder / "figures"))
    return unexplained(parts)


def as_markdown(parts: list[Part], drawn: dict[str, list[Figure]]) -> str:
    """Return the report as Markdown, with links to the figures."""
    lines = ["# Reproduction of the paper", "", INTRODUCTION, ""]
    for part in parts:
        lines += [f"## {part.title}", "", f"`python -m paper.{part.name}`", ""]
        lines += [
            f"![{figure.title}](figures/{figure.file})\n\n{figure.text}\n" for figure in drawn[part.name]
        ]
        lines += [markdown(table) for table in part.tables]
        if part.notes:
            lines += ["Worse scores and other differences:", ""]
            lines += [f"- **{', '.join(note.cells) or 'All'}**: {note.text}" for note in part.notes] + [""]
    return "\n".join(lines)


def as_page(parts: list[Part], drawn: dict[str, list[Figure]], folder: Path) -> str:
    """Return the report as one HTML page that includes its figures."""
    body = [
        f"<h1>Reproduction of the paper</h1><p>{_prose(INTRODUCTION)}</p>",
        _contents(parts),
    ]
    for part in parts:
        body.append(f"<section id='{part.name}'><h2>{html.escape(part.title)}</h2>")
        body += [_figure(figure, folder) for figure in drawn[part.name]]
        body += [as_html(table) for table in part.tables]
        if part.notes:
            notes = "".join(
                f"<li><b>{html.escape(', '.join(note.cells) or 'All')}</b>: {html.escape(note.text)}</li>"
                for note in part.notes
            )
            body.append(f"<h3>Worse scores and other differences</h3><ul>{notes}</ul>")
        body.append("</section>")
    style = (FOLDER / "report.css").read_text()
    meta = "<meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
    head = f"{meta}<title>Reproduction of the paper</title><style>\n{style}</style>"
    return f"<!doctype html>\n<html lang='en'><head>{head}</head>\n<body>{''.join(body)}</body></html>\n"


def _prose(text: str) -> str:
    """Convert `code` and *emphasis* in a text to HTML."""
    marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", marked)


def _contents(parts: list[Part]) -> str:
    links = "".join(f"<li><a href='#{part.name}'>{html.escape(part.title)}</a></li>" for part in parts)
    return f"<nav><ul>{links}</ul></nav>"


def _figure(figure: Figure, folder: Path) -> str:
    data = base64.b64encode((folder / figure.file).read_bytes()).decode()
    title, text = html.escape(figure.title), html.escape(figure.text)
    image = f"<img alt='{title}' src='data:image/svg+xml;base64,{data}'>"
    return f"<figure>{image}<figcaption><b>{title}.</b> {text}</figcaption></figure>"
