"""Room `cli`: the same from a shell. Commands import what they run when they run, so that `--help` is quick."""

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit, as `ending.run` has it; an interrupt may come while even that is still being loaded."""
    try:
        from ._ending import run

        run(arguments)
    except KeyboardInterrupt:
        sys.exit(130)
