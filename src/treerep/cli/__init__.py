"""The command line.

Commands import the library when they run, so that `--help` is quick.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and exit, as `_ending.run` does.

    Handle two earlier failures: an interrupt during the import, and a missing extra.
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
