"""How the command ends: with which exit code, and with how many lines on stderr."""

import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import typer

from .._core.io.printing import printable

# Where the library speaks of an argument, the command has an option of the same name.
_OPTIONS = (
    "kind",
    "format",
    "metric",
    "symmetrize",
    "largest_component",
    "weight",
    "use_rep",
    "method",
    "trials",
    "tol",
    "dim",
    "distortion",
    "layout",
    "weights",
    "moves",
    "balance",
    "time_limit",
    "scale",
    "device",
)
_ARGUMENT = re.compile(
    rf"\b({'|'.join(_OPTIONS)})=('[^']*'|\"[^\"]*\"|True\b|False\b|[\d.]*\d)? ?"
)
# Names of arguments that are no words, wherever the library speaks of them.
_WORD = re.compile(rf"\b(?<!-)({'|'.join(name for name in _OPTIONS if '_' in name)})\b")
_NEGATED = {"weight": "--unweighted", "moves": "--no-moves"}  # what says False
_INTERRUPTED = 130
_BROKEN_PIPE = 1  # as typer has it, where it meets one first


def run(arguments: Sequence[str] | None) -> NoReturn:
    """Run the command and exit: 0, or 2 with one line on stderr for bad usage or input, or 130 when interrupted.

    SIGTERM ends it in the same way, with 143. A reader of the output that has seen enough ends
    it without a word.
    """
    from ._signals import orderly_end

    with orderly_end() as received:
        code = _exit_code(list(sys.argv[1:] if arguments is None else arguments))
    sys.exit(128 + received[0] if received and code == _INTERRUPTED else code)


def _exit_code(given: list[str]) -> int:
    """Run the command, and return its exit code."""
    debug = "--debug" in given
    try:
        from .app import app

        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            # Outside typer's standalone mode, so that every error takes the same way out.
            code = app(
                [word for word in given if word != "--debug"],
                prog_name="treerep",
                standalone_mode=False,
            )
        sys.stdout.flush()  # a full disk or a closed pipe may show only now
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        code = _BROKEN_PIPE
        _forget_output()
    except Exception as error:
        if debug:
            raise
        code = 2
        typer.echo(f"treerep: error: {one_line(error)}", err=True)
        _forget_output()
    return code or 0


def one_line(error: Exception) -> str:
    r"""Return what an error says on one line, in the words of the command line.

    >>> one_line(ValueError("say kind='points' or kind='graph',\n or largest_component=True"))
    'say --kind points|graph, or --largest-component'
    """
    if isinstance(error, typer.TyperException):
        return printable(" ".join(error.format_message().split()).replace("Value error, ", ""))
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        message = f"{error.filename}: {error.strerror}"
    else:
        message = str(error)
    if (
        isinstance(error, MemoryError) and ":" not in message
    ):  # what NumPy and Python say has no remedy
        message = f"memory ran out ({message or 'nobody says where'}): take fewer points, or a machine with more of it"
    text = _ARGUMENT.sub(_as_option, " ".join(message.split()))
    text = _WORD.sub(
        lambda word: _option(word[1]),
        text.replace("--kind points or --kind graph", "--kind points|graph"),
    )
    return printable(text.strip()) or f"{type(error).__name__} (run it again with --debug)"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _as_option(found: re.Match[str]) -> str:
    name = found[1]
    value = found[2]
    blank = " " if found[0].endswith(" ") else ""
    if value == "False" and name in _NEGATED:
        return f"{_NEGATED[name]}{blank}"
    option = _option(name)
    if value is None:
        return f"{option} "
    return (
        f"{option}{blank}"
        if value in ("True", "False")
        else f"{option} {value.strip(chr(34) + chr(39))}{blank}"
    )


def _forget_output() -> None:
    """Let nothing be written when Python ends: it would fail once more, with a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    # What is deprecated concerns those who write programs.
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning):
        typer.echo(f"treerep: warning: {printable(' '.join(str(message).split()))}", err=True)
