"""Count how many files of other projects are read, and why the others are refused.

`python -m harden.foreign_files READER PROJECT=PATH ...` prints a Markdown table, then each refused
file with its error. READER is "trees" or "placements". PATH is a folder, or a git directory, of
which the newest commit is read. Nothing is fetched, and nothing is stored.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from treerep import formats

_NEXUS = re.compile(rb"\s*#NEXUS", re.IGNORECASE)
_TREES = re.compile(rb"\bbegin\s+trees\s*;", re.IGNORECASE)


class Reader(NamedTuple):
    """A reader, the suffixes of its files, and options that a user can add."""

    read: Callable[..., object]
    suffixes: tuple[str, ...]
    options: dict[str, Any]


READERS = {
    "placements": Reader(formats.read_placements, (".jplace", ".jplace.gz"), {"negative_lengths": "zero"}),
    "trees": Reader(
        formats.read_trees,
        (
            ".nwk",
            ".newick",
            ".nw",
            ".tre",
            ".tree",
            ".trees",
            ".treefile",
            ".nex",
            ".nexus",
            ".nxs",
            ".t",
            ".con",
        ),
        {"negative_lengths": "zero", "default_length": 1.0},
    ),
}


class Outcome(NamedTuple):
    """A file, the options that it needed, and the error without options if it is refused."""

    name: str
    options: tuple[str, ...]
    error: str | None


def outcomes(reader: Reader, path: Path) -> list[Outcome]:
    """Read all files of a folder or of a git directory."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for name, content in contents(path, reader.suffixes):
            if _NEXUS.match(content) and not _TREES.search(content):
                continue  # characters or distances, without trees
            copy = Path(folder, name.replace("/", "_"))
            copy.write_bytes(content)
            found.append(_outcome(reader, name, copy))
            copy.unlink()
    return found


def contents(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file with one of the suffixes, in order of the names."""
    if not is_git(path):
        for file in sorted(path.rglob("*")):
            if file.name.lower().endswith(suffixes) and file.is_file():
                yield file.relative_to(path).as_posix(), file.read_bytes()
        return
    for name in _git(path, "ls-tree", "-r", "-z", "--name-only", "HEAD").decode().split("\0"):
        if name.lower().endswith(suffixes):
            try:
                yield name, _git(path, "show", f"HEAD:{name}")
            except subprocess.CalledProcessError:  # a snapshot may lack large files
                print(f"{path}: {name} is absent", file=sys.stderr)


def is_git(path: Path) -> bool:
    """Tell whether a folder is a git directory, such as `.git` or a bare repository."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir()


def _git(path: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", f"--git-dir={path}", *arguments], capture_output=True, check=True).stdout


def _outcome(reader: Reader, name: str, copy: Path) -> Outcome:
    """Read a file without options, then with each option, then with all."""
    first = _error(reader, copy, {})
    if first is None:
        return Outcome(name, (), None)
    for options in (*({key: value} for key, value in reader.options.items()), reader.options):
        if _error(reader, copy, options) is None:
            return Outcome(name, tuple(options), None)
    return Outcome(name, (), first)


def _error(reader: Reader, copy: Path, options: dict[str, Any]) -> str | None:
    try:
        reader.read(copy, **options)
    except ValueError as error:  # any other exception is a fault, and ends the run
        return str(error).removeprefix(f"{copy}").removeprefix(": ")
    return None


def kind(error: str) -> str:
    """Return the fault of an error without position, values and fix, to count equal faults.

    >>> kind("Newick, line 1 column 7 (character 6): the name 'b' occurs twice: name it once")
    'the name ... occurs twice'
    """
    fault = re.sub(r"^(\w+, line \d+ column \d+ \(character \d+\)|\w+ \d+( \('.*?'\))?): ", "", error)
    return re.sub(r"'[^']*'|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "...", fault.split(": ")[0])


def table(projects: dict[str, list[Outcome]]) -> str:
    """Return the counts of each project as a Markdown table."""
    lines = [
        "| project | files | read | with an option | refused |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for project, found in projects.items():
        refused = [outcome for outcome in found if outcome.error is not None]
        read = [outcome for outcome in found if outcome.error is None]
        helped = [outcome for outcome in read if outcome.options]
        kinds = Counter(kind(outcome.error or "") for outcome in refused).most_common()
        reasons = "; ".join(f"{count} x {reason}" for reason, count in kinds)
        cells = (
            project,
            len(found),
            len(read) - len(helped),
            len(helped),
            f"{len(refused)}: {reasons}" if refused else "0",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m harden.foreign_files",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("projects", nargs="+", metavar="PROJECT=PATH")
    chosen = parser.parse_args()
    projects: dict[str, list[Outcome]] = {}
    for project in chosen.projects:
        name, _, path = project.rpartition("=")
        name = name or Path(path).name
        if is_git(Path(path)):
            name += f" ({_git(Path(path), 'rev-parse', '--short', 'HEAD').decode().strip()})"
        projects[name] = outcomes(READERS[chosen.reader], Path(path))
    print(table(projects))
    for name, found in projects.items():
        for outcome in found:
            if outcome.error is not None:
                print(f"{name}: {outcome.name}: {outcome.error}")
            elif outcome.options:
                print(f"{name}: {outcome.name}: needs {', '.join(outcome.options)}")


if __name__ == "__main__":
    main()
