"""Run the command. Set its exit code and print errors and warnings as one line on stderr."""

import errno
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

    _open_closed_streams()
    with orderly_end() as received:
        code = _exit_code(list(sys.argv[1:] if arguments is None else arguments))
    sys.exit(128 + received[0] if received and code == _INTERRUPTED else code)


def _open_closed_streams() -> None:
    """Open the null device for standard streams that were closed, which are None in Python.

    For standard output, it is opened for reading. Output that would be lost then raises an error.
    """
    for name, mode, flags in (
        ("stdin", "r", os.O_RDONLY),
        ("stdout", "w", os.O_RDONLY),
        ("stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8")
            setattr(sys, name, opened)


def _exit_code(arguments: list[str]) -> int:
    """Run the command and return its exit code."""
    debug = "--debug" in arguments
    command = next((word for word in arguments if not word.startswith("-")), "")
    try:
        from .app import app

        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, command)
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
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            error = OSError("standard output is closed: write to a file with --output")
        typer.echo(f"treerep: error: {one_line(error, command)}", err=True)
        _discard_output()
    return code or 0


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
