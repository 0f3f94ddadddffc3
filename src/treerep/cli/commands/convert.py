"""`treerep convert`: write a tree or distances in another format."""

from pathlib import Path

import treerep as tr

from ...formats import TREE_FORMATS, write_distances, write_tree
from ...formats.tree_files import files_beside
from .._command_options import ConvertOptions
from .._inputs import read_either
from .._outputs import TREE_SUFFIXES, check_outputs, check_sum_output, check_tree_suffix, note_leaves
from .._rooting import rerooted

_DISTANCES = {
    ".npy": "npy",
    ".csv": "csv",
    ".tsv": "tsv",
    ".phy": "phylip",
    ".phylip": "phylip",
}


def convert_file(options: ConvertOptions) -> None:
    """Write a tree in another tree format, or write the distances of any input."""
    output = options.output
    to = options.to
    distance_format = to or _DISTANCES.get(Path(output).suffix.lower())
    is_distances = distance_format in _DISTANCES.values()
    check_outputs(output, *(() if is_distances else files_beside(output, to)), source=options.source)
    if output == "-" and to is None:
        raise ValueError("the format for standard output is unknown: set it with --to")
    source = read_either(options.source, options.reading)
    if isinstance(source, tr.Tree | tr.TreeSum) and not is_distances:
        source = rerooted(source, options.root)
    elif options.root is not None:
        raise ValueError("--root needs a tree to write: remove --root")
    if is_distances:
        write_distances(source, output, format=distance_format)
    elif isinstance(source, tr.Tree | tr.TreeSum):
        if isinstance(source, tr.TreeSum):
            check_sum_output(output, to)
        if to is None:
            check_tree_suffix(output)
        write_tree(source, output, format=to, leaves=options.leaves)
        if options.leaves is None:
            note_leaves(source, output, to)
    elif to in TREE_FORMATS or output.lower().removesuffix(".gz").endswith(TREE_SUFFIXES):
        raise ValueError(f"{options.source} does not contain a tree: run `treerep fit` first")
    else:
        raise ValueError(f"{output}: unknown suffix for distances: use one of {', '.join(_DISTANCES)}")
