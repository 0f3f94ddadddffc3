"""Files are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary neighbour of `path` for writing and rename it to `path` once all is written.

    If anything fails, the temporary file is removed and an earlier file at `path` stays as it was. Of a link, the file
    that it points to is replaced. An OSError names `path`, as does what is said of text that UTF-8 cannot hold.
    """
    target = Path(path).resolve()
    temporary = target.parent / f".treerep-{secrets.token_hex(8)}.part"  # short, however long the name of `path` is
    try:
        # "x" refuses a file that exists, and gives the permissions of any new file, umask included.
        with temporary.open(mode.replace("w", "x"), encoding=None if "b" in mode else "utf-8") as file:
            try:
                yield file
                file.flush()
                os.fsync(file.fileno())
                temporary.replace(target)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except UnicodeEncodeError as error:
        wrong = error.object[error.start]
        raise ValueError(f"{os.fspath(path)}: {wrong!r} is no character that UTF-8 can hold: leave it out") from error
    except OSError as error:
        # Errors of writing name no file; those that name another one are not ours.
        if error.errno is None or error.filename not in (None, str(temporary)):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
