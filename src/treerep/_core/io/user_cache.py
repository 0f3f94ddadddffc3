"""The folder for files that can be made again, such as downloads and compiled code."""

import os
from pathlib import Path


def user_cache(kind: str) -> Path:
    """Return the folder of one kind of files: below treerep/ in XDG_CACHE_HOME or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treerep" / kind
