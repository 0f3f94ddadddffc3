"""Access to wheels and sdists."""

import tarfile
import zipfile
from pathlib import Path

Files = dict[str, bytes]


def only(folder: Path, pattern: str) -> Path:
    """Return the only file that matches a pattern. Other versions in the folder raise an error."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{folder} holds {len(found)} files {pattern} instead of one: run `make dist` again")
    return found[0]


def read_wheel(path: Path) -> Files:
    """Return every file of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def read_sdist(path: Path) -> Files:
    """Return every file of an sdist, without the name of the top folder."""
    with tarfile.open(path) as archive:
        members = [member for member in archive.getmembers() if not member.isdir()]
        return {member.name.partition("/")[2]: _content(archive, member) for member in members}


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member) if member.isfile() else None
    return b"" if file is None else file.read()
