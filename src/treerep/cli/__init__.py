"""The same from a shell.

Commands import what they run when they run, so that `--help` is quick.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit, as `_ending.run` does.

    An interrupt may come while that module is being imported, and typer may be missing: it is
    an extra.
    """
    try:
        from ._ending import run

        run(arguments)
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"treerep: the command line needs {error.name}: pip install 'treerep[cli]'")
