"""Tables of our numbers next to the published ones, as Markdown and HTML."""

import html
from typing import NamedTuple

#: Smaller differences count as equal, because the paper prints three digits.
SAME = 0.0005
#: Scores that are worse by more than this need an explanation.
WORSE = 0.02


class Cell(NamedTuple):
    """Our number, the published one, and the verdict: better, same, close (worse by at most 0.02), worse or alone."""

    ours: str
    paper: str
    verdict: str


class Table(NamedTuple):
    """A title, column names, rows of texts and cells, and a note."""

    title: str
    columns: list[str]
    rows: list[list[str | Cell]]
    text: str = ""


class Figure(NamedTuple):
    """A picture in `figures/`, with a caption."""

    title: str
    file: str
    text: str = ""


class Note(NamedTuple):
    """Explanation of cells, named by row and column, that differ from the paper."""

    cells: tuple[str, ...]
    text: str


def beside(ours: float | None, paper: float | None, better: str) -> Cell:
    """Compare our number with the published one; better is "higher", "lower" or "time"."""
    show = _seconds if better == "time" else shown
    verdict = "alone" if ours is None or paper is None else compare(ours, paper, better)
    return Cell(show(ours), show(paper), verdict)


def compare(ours: float, paper: float, better: str) -> str:
    """Return "better", "same", "close" or "worse"."""
    if better == "time":
        return "better" if ours < paper else "worse"
    gain = ours - paper if better == "higher" else paper - ours
    if abs(gain) <= SAME:
        return "same"
    if gain > 0:
        return "better"
    return "close" if gain >= -WORSE else "worse"


def shown(value: float | None) -> str:
    """Return a score with three digits, or a dash."""
    return "-" if value is None else f"{value:.3f}"


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    if value == float("inf"):
        return "> 4 h"
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def markdown(table: Table) -> str:
    """Return the table as Markdown: ours (published), with ours in bold if it is better."""
    lines = [f"**{table.title}**", "", _line(table.columns), "|" + "---|" * len(table.columns)]
    lines += [_line([_markdown_cell(cell) for cell in row]) for row in table.rows]
    return "\n".join([*lines, "", *([table.text, ""] if table.text else [])])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    ours = f"**{cell.ours}**" if cell.verdict == "better" else cell.ours
    if cell.paper == "-":
        return cell.ours
    return f"{ours} ({cell.paper})" + " ▼" * (cell.verdict == "worse")


def as_html(table: Table) -> str:
    """Return the table as HTML, with the verdict as the class of a cell."""
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in table.columns)
    body = "".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>\n" for row in table.rows)
    text = f"<p class='text'>{html.escape(table.text)}</p>" if table.text else ""
    title = html.escape(table.title)
    content = f"<thead><tr>{head}</tr></thead><tbody>\n{body}</tbody>"
    return f"<h3>{title}</h3><div class='wide'><table>{content}</table></div>{text}"


def _html_cell(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return f"<td class='name'>{html.escape(cell)}</td>"
    paper = "" if cell.paper == "-" else f"<span>{html.escape(cell.paper)}</span>"
    return f"<td class='{cell.verdict}'><b>{html.escape(cell.ours)}</b>{paper}</td>"
