"""Errors of readers as a single line that names the file."""

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from .._core.io.files import is_of_the_machine
from ..metric.base import MetricError

# Maximum length of an error. Labels and messages of other libraries may be longer.
_LONGEST = 600


@contextmanager
def errors_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Prefix errors with the name of the file. System errors already contain the name.

    >>> with errors_named("d.csv"):
    ...     raise EOFError("unexpected end")
    Traceback (most recent call last):
      ...
    ValueError: d.csv is damaged or truncated (unexpected end): download or export it again
    """
    name = file_name(path)
    try:
        yield
    except MetricError as error:
        raise MetricError(f"{name}: {_one_line(error)}") from error
    except (ValueError, LookupError, OverflowError, RuntimeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name}: {_one_line(error)}") from error
    except MemoryError as error:
        raise MemoryError(f"{name}: {_one_line(error) or 'the file does not fit in memory'}") from error
    except (EOFError, zlib.error) as error:
        raise ValueError(
            f"{name} is damaged or truncated ({_one_line(error)}): download or export it again"
        ) from error
    except OSError as error:
        if error.filename is not None:  # missing file, folder or permission: already clear
            raise
        if is_of_the_machine(error):
            raise OSError(error.errno, f"{error.strerror} (while reading)", name) from error
        raise ValueError(f"{name} is damaged ({_one_line(error)}): download or export it again") from error


def file_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file for use in error messages."""
    return "standard input" if path == "-" else os.fspath(path)


def _one_line(error: BaseException) -> str:
    line = " ".join(str(error).split())
    if len(line) <= _LONGEST:
        return line
    return f"{line[: _LONGEST - 200]} ... {line[-200:]}"  # the fix is at the end
