"""Tables of cells that show our number, the paper's, and who is better; as Markdown and as HTML."""

import html
from typing import NamedTuple

#: Differences of scores up to this are none: the paper prints three digits.
SAME = 0.0005
#: A score that is worse by more than this wants an explanation.
WORSE = 0.02


class Cell(NamedTuple):
    """Our number, the paper's, and how they compare: better, same, close (worse by at most 0.02), worse or alone."""

    ours: str
    paper: str
    verdict: str


class Table(NamedTuple):
    """A title, the names of the columns, rows of texts and cells, and a sentence below."""

    title: str
    columns: list[str]
    rows: list[list[str | Cell]]
    text: str = ""


class Figure(NamedTuple):
    """A picture by the name of its file in `figures/`, with a sentence below."""

    title: str
    file: str
    text: str = ""


class Note(NamedTuple):
    """Why some cells, each named by its row and its column, differ from the paper's."""

    cells: tuple[str, ...]
    text: str


def beside(ours: float | None, paper: float | None, better: str) -> Cell:
    """Put our number beside the paper's; better is "higher", "lower" or "time"."""
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
    """Return the table as Markdown: ours (paper's), ours bold where it is better."""
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
    """Return the table as HTML; the class of a cell is its verdict."""
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
