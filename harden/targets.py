"""Fuzzing targets: each parser as a function of bytes.

A target returns a valid result or raises a one-line error. Anything else is a fault.
"""

import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

import treerep as tr
from tests.formats.fuzz_trees import FORMATS, try_reader
from tests.formats.test_fuzz import KINDS, PIECES, VALID, check
from tests.formats.test_tree_fuzz import PIECES as TREE_PIECES
from tests.formats.test_tree_fuzz import SHARES, TREE
from treerep.cli._attribute_tables import read_attributes
from treerep.cli._inputs import read_either
from treerep.cli._options import Reading
from treerep.cli._wording import one_line
from treerep.formats import read, write_tree

_folder = tempfile.TemporaryDirectory(prefix="treerep-harden-")
FOLDER = Path(_folder.name)
DATA_FORMATS = (
    None,
    "npy",
    "npz",
    "csv",
    "tsv",
    "phylip",
    "phylip-strict",
    "nexus",
    "mtx",
    "edges",
    "graphml",
    "fasta",
)
TREE_FORMATS = (*FORMATS, None)
LINE = 3000  # characters; a message may quote only a small part of a file


def data(content: bytes) -> None:
    """Read distances, points, graphs or sequences. The first byte chooses kind and format."""
    choice = content[0]
    check(
        content[1:],
        kind=KINDS[choice % len(KINDS)],
        format=DATA_FORMATS[choice // len(KINDS) % len(DATA_FORMATS)],
    )


def trees(content: bytes) -> None:
    """Read trees in every format."""
    try_reader(TREE_FORMATS[content[0] % len(TREE_FORMATS)], content[1:], FOLDER)


def newick(content: bytes) -> None:
    """Read Newick, and write and read every accepted tree again."""
    text = content[1:].decode("utf-8", "replace")
    options = {
        "default_length": (None, 1.0)[content[0] & 1],
        "inner_labels": ("clades", "points", "ignore", "clades")[content[0] >> 1 & 3],
    }
    try:
        tree = tr.Tree.from_newick(text, **options)
    except ValueError as error:
        one(error)
        return
    tree = tree.restrict(
        range(len(tree))
    )  # without Steiner leaves (a root above one child), which are never written
    again = tr.Tree.from_newick(tree.newick())
    assert again.isclose(tree if tree.labels is None else tree.restrict(again.labels or ()))


def stored(content: bytes) -> None:
    """Load a valid archive of a tree or embedding in which one member has the given bytes."""
    names = sorted(_archives())
    archive = _archives()[names[content[0] % len(names)]]
    members = sorted(archive)
    changed = {**archive, members[content[1] % len(members)]: content[2:]}
    path = FOLDER / "stored.npz"
    with zipfile.ZipFile(path, "w") as file:
        for name, member in changed.items():
            file.writestr(name, member)
    for load in (tr.Tree.load, tr.Embedding.load):
        try:
            made = load(path)
        except ValueError as error:
            one(error, path)
        else:
            some = np.arange(min(len(made), 3))
            assert made.block(some, some).shape == (len(some), len(some))


def chunks(content: bytes) -> None:
    """Read a valid zarr folder in which one file has the given bytes."""
    names = sorted(_folders())
    sound = _folders()[names[content[0] % len(names)]]
    files = sorted(sound)
    path = FOLDER / "given.zarr"
    shutil.rmtree(path, ignore_errors=True)
    _write_files(path, {**sound, files[content[1] % len(files)]: content[2:]})
    for kind in ("distances", "points"):
        try:
            made = read(path, kind=kind)
        except (ValueError, OSError, MemoryError) as error:
            one(error, path)
        else:
            some = np.arange(min(len(made), 3))
            assert made.block(some, some).shape == (len(some), len(some))


def shell(content: bytes) -> None:
    """Detect the type of a file and read it, as the command does; also tables of attributes."""
    suffix = ("", ".csv", ".nwk", ".npz", ".json", ".graphml", ".tsv", ".nex")[content[0] % 8]
    path = FOLDER / f"given{suffix}"
    path.write_bytes(content[1:])
    for work in (
        lambda: read_either(str(path), Reading()),
        lambda: read_attributes(str(path), TREE),
    ):
        try:
            work()
        except (ValueError, OSError, MemoryError) as error:
            one(error, path)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "data": data,
    "trees": trees,
    "newick": newick,
    "stored": stored,
    "chunks": chunks,
    "shell": shell,
}
LEAST = {"stored": 2, "chunks": 2}  # minimum number of bytes; 1 for other targets
ALL_PIECES = [*PIECES, *TREE_PIECES]


def one(error: Exception, path: Path | None = None) -> None:
    """Reject an error that is not one line or does not name the file."""
    line = one_line(error)
    assert 0 < len(line) < LINE, line[:LINE]
    assert "\n" not in str(error), str(error)[:LINE]
    assert path is None or path.name in line, line


def seeds(target: str) -> list[bytes]:
    """Return valid inputs of a target."""
    if target == "data":
        return [bytes([choice]) + content for content in VALID.values() for choice in (0, 1, 2, 3)]
    files = [bytes([k]) + _written(name, tree) for tree in (TREE, SHARES) for k, name in enumerate(FORMATS)]
    if target == "trees":
        return files
    if target == "newick":
        return [bytes([k]) + tree.newick().encode() for tree in (TREE, SHARES) for k in range(4)]
    if target in ("stored", "chunks"):
        archives = _archives() if target == "stored" else _folders()
        return [
            bytes([a, m]) + archives[name][member]
            for a, name in enumerate(sorted(archives))
            for m, member in enumerate(sorted(archives[name]))
        ]
    tables = [b"label,group,x\na b,1,2.5\nit's,1,\n<&>,2,nan\n\xc3\xa9\xf0\x9f\x98\x80,3,0\n"]
    return [bytes([0]) + content for content in (*VALID.values(), *tables)] + [
        b"\0" + file[1:] for file in files
    ]


def _written(name: str, tree: tr.Tree) -> bytes:
    path = FOLDER / "seed"
    write_tree(tree, path, format=name)
    return path.read_bytes()


@cache
def _archives() -> dict[str, dict[str, bytes]]:
    """Return the members of the files of a tree and of both kinds of embeddings."""
    points = np.array([[0.0, 0.1], [0.5, 0.2], [-0.3, 0.4]])
    things = {
        "tree": SHARES,
        "sarkar": tr.embed(TREE),
        "plain": tr.Embedding.from_poincare(points),
    }
    made = {}
    for name, thing in things.items():
        thing.save(FOLDER / "made.npz")
        with zipfile.ZipFile(io.BytesIO((FOLDER / "made.npz").read_bytes())) as file:
            made[name] = {member: file.read(member) for member in file.namelist()}
    return made


@cache
def _folders() -> dict[str, dict[str, bytes]]:
    """Return the files of an array in zarr format 3, and of a group with labels in format 2."""
    import zarr

    distances = TREE.distances()
    zarr.create_array(FOLDER / "array.zarr", data=distances, chunks=(2, 2))
    group = zarr.create_group(FOLDER / "group.zarr", zarr_format=2)
    group.create_array("d", data=distances)
    group.create_array("labels", data=np.array([f"n{k}" for k in range(len(TREE))]))
    folders = {name: FOLDER / f"{name}.zarr" for name in ("array", "group")}
    return {
        name: {
            str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()
        }
        for name, folder in folders.items()
    }


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
