"""`treerep convert`: trees and distances from one format to another."""

from pathlib import Path

import treerep as tr

from ...formats import TREE_FORMATS, write_distances, write_tree
from ...formats.tree_files import files_beside
from .._inputs import read_either
from .._options import Reading
from .._outputs import check_outputs

_DISTANCES = {
    ".npy": "npy",
    ".csv": "csv",
    ".tsv": "tsv",
    ".phy": "phylip",
    ".phylip": "phylip",
}


def convert_file(source: str, output: str, *, reading: Reading, to: str | None) -> None:
    """Write what is in a file to another one: a tree as a tree, and anything as its distances."""
    wanted = to or _DISTANCES.get(Path(output).suffix.lower())
    beside = () if wanted in _DISTANCES.values() else files_beside(output, to)
    check_outputs(output, *beside, source=source)
    if output == "-" and to is None:
        raise ValueError(
            "standard output has no suffix that tells the format: say which with --to"
        )
    found = read_either(source, reading)
    if wanted in _DISTANCES.values():
        write_distances(found, output, format=wanted)
    elif isinstance(found, tr.Tree):
        write_tree(found, output, format=to)
    elif to in TREE_FORMATS or output.lower().removesuffix(".gz").endswith(_tree_suffixes()):
        raise ValueError(f"{source} holds no tree: `treerep fit` makes one of it")
    else:
        raise ValueError(
            f"{output}: no format of distances has that suffix: give one of {', '.join(_DISTANCES)}"
        )


def _tree_suffixes() -> tuple[str, ...]:
    return tuple(suffix for known in TREE_FORMATS.values() for suffix in known.suffixes)
