"""Files that are written completely or not at all."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def whole_file(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a new file beside `path`, and rename it to `path` if nothing fails."""
    encoding = None if "b" in mode else "utf-8"
    with tempfile.TemporaryDirectory(prefix=path.name, dir=path.parent) as folder:
        draft = Path(folder) / path.name
        with draft.open(mode, encoding=encoding) as file:
            yield file
        draft.replace(path)
