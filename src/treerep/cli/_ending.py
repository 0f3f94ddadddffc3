"""Run the command. Set its exit code and print errors and warnings as one line on stderr."""

import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import NoReturn

import typer

from ._wording import one_line

_INTERRUPTED = 130
_BROKEN_PIPE = 1  # the same code as typer's


def run(arguments: Sequence[str] | None) -> NoReturn:
    """Run the command and exit with its code.

    The code is 0, 2 after an error (with one line on stderr), 130 after an interrupt, and 143
    after SIGTERM. If the output pipe is closed, the command ends silently.
    """
    from ._signals import orderly_end

    with orderly_end() as received:
        code = _exit_code(list(sys.argv[1:] if arguments is None else arguments))
    sys.exit(128 + received[0] if received and code == _INTERRUPTED else code)


def _exit_code(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    debug = "--debug" in arguments
    try:
        from .app import app

        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, _command(arguments))
            # In standalone mode typer would print errors itself.
            code = app(
                [word for word in arguments if word != "--debug"],
                prog_name="treerep",
                standalone_mode=False,
            )
        sys.stdout.flush()  # may reveal a full disk or a closed pipe
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except BrokenPipeError:
        code = _BROKEN_PIPE
        _discard_output()
    except Exception as error:
        if debug:
            raise
        code = 2
        typer.echo(f"treerep: error: {one_line(error, _command(arguments))}", err=True)
        _discard_output()
    return code or 0


def _command(arguments: Sequence[str]) -> str:
    return next((word for word in arguments if not word.startswith("-")), "")


def _discard_output() -> None:
    """Discard unwritten output, so that Python does not fail again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(
    command: str, message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    # Deprecation warnings are for programmers.
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning):
        warning = message if isinstance(message, Warning) else category(message)
        typer.echo(f"treerep: warning: {one_line(warning, command)}", err=True)
