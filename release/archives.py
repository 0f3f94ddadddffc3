"""Wheels and sdists: the one in a folder, and the files in it."""

import tarfile
import zipfile
from pathlib import Path

Files = dict[str, bytes]


def only(folder: Path, pattern: str) -> Path:
    """Return the one file of this pattern: an old one beside it would be tested, or sent out, in its place."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(
            f"{folder} holds {len(found)} files {pattern} in place of one: `make dist` makes them anew"
        )
    return found[0]


def read_wheel(path: Path) -> Files:
    """Return every file of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {
            name: archive.read(name) for name in archive.namelist() if not name.endswith("/")
        }


def read_sdist(path: Path) -> Files:
    """Return every file of an sdist, without the name of the folder that all are in."""
    with tarfile.open(path) as archive:
        members = [member for member in archive.getmembers() if not member.isdir()]
        return {member.name.partition("/")[2]: _content(archive, member) for member in members}


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member) if member.isfile() else None
    return b"" if file is None else file.read()
