"""The reference of the command line, from the commands themselves.

`conf.py` writes the result to `_build/command_line.md` when the pages are built.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from treerep.cli._options import DataReading, TreeReading
from treerep.cli.app import app

COMMON = ("trials", "seed", "jobs", "device", "json")
_OPTION = re.compile(r"(?<![`\w-])--[a-z][a-z-]*( (treerep|backbone|sarkar|points)\b)?")
TREE_READING = tuple(TreeReading.__dataclass_fields__)
READING = tuple(DataReading.__dataclass_fields__)


def reference() -> str:
    """Return a section for each command, and tables of the options they share, as Markdown."""
    program: Any = get_command(app)
    lines = ["## Global options", "", *_table(_options(program))]
    lines += ["", "## Common options", "", "Several commands share these options.", ""]
    lines += _table([row for row in _options(program.commands["fit"]) if row.name in COMMON])
    lines += ["", "## Data options", "", "Commands that read data share these options.", ""]
    lines += _table([row for row in _options(program.commands["fit"]) if row.name in READING])
    lines += ["", "## Tree options", "", "Commands that read trees share these options.", ""]
    lines += _table([row for row in _options(program.commands["convert"]) if row.name in TREE_READING])
    for path, command in _leaves(program):
        lines += ["", f"## {path}", "", *_section(path, command)]
    return "\n".join([*lines, ""])


def _section(path: str, command: Any) -> list[str]:
    arguments = [row for row in command.params if row.param_type_name == "argument"]
    options = _options(command)
    own = [row for row in options if row.name not in (*COMMON, *READING, *TREE_READING)]
    common = [f"`{row.opts[0]}`" for row in options if row.name in COMMON]
    if any(row.name in READING for row in options):
        common.append("[data options](#data-options)")
    if any(row.name in TREE_READING for row in options):
        common.append("[tree options](#tree-options)")
    words = [f"treerep {path}", *(["[OPTIONS]"] if options else []), *map(_metavar, arguments)]
    lines = [*_description(command), "", "```text", " ".join(words), "```"]
    if arguments or own:
        lines += ["", *_table([*arguments, *own])]
    if common:
        lines += ["", f"Also: {', '.join(common)}."]
    return lines


def _leaves(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the commands with their names: fit, data list, ..."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _leaves(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _options(command: Any) -> list[Any]:
    return [row for row in command.params if row.param_type_name == "option" and row.name != "help"]


def _description(command: Any) -> list[str]:
    """Return the help text. Lines that are commands become code."""
    paragraphs = [" ".join(text.split()) for text in (command.help or "").split("\n\n")]
    return "\n\n".join(
        f"`{text}`" if text.startswith("treerep ") else _coded(text) for text in paragraphs
    ).splitlines()


def _table(rows: list[Any]) -> list[str]:
    cells = [(_names(row), _escaped(row.help or ""), _default(row)) for row in rows]
    return [
        "| name | meaning | default |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in cells),
    ]


def _names(row: Any) -> str:
    if row.param_type_name == "argument":
        return f"`{_metavar(row)}`"
    names = ", ".join(f"`{name}`" for name in (*row.opts, *row.secondary_opts))
    # With spaces, a list of choices can be broken.
    return names if row.is_flag else f"{names} {_escaped(_metavar(row).replace('|', ' | '))}"


def _metavar(row: Any) -> str:
    """Return the placeholder of a value, or the choices."""
    if row.metavar:
        return str(row.metavar)
    annotation = row.type_descriptor.annotation
    if get_origin(annotation) is Literal:
        return "|".join(get_args(annotation))
    return str(row.name).upper()


def _default(row: Any) -> str:
    if row.required:
        return "required"
    if isinstance(row.show_default, str):
        return _escaped(row.show_default)
    if row.secondary_opts and row.default is not None:  # --moves/--no-moves
        return f"`{(row.opts if row.default else row.secondary_opts)[0]}`"
    if row.default is None or row.default is False:
        return ""
    # One piece of code per name: browsers do not break a long list at its commas.
    return ", ".join(f"`{name}`" for name in str(row.default).split(","))


def _escaped(text: str) -> str:
    return _coded(text).replace("|", "\\|")


def _coded(text: str) -> str:
    """Mark options as code. Otherwise, two hyphens become a dash."""
    return _OPTION.sub(r"`\g<0>`", text)
