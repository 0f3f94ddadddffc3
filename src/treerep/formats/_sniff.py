"""Detection of the format of a file, from its content, its extension and the requested kind."""

import re

from .._core.io.edge_list import is_edge_header
from ._numerals import is_numeral
from ._source import Source

_MAGIC = ((b"\x93NUMPY", "npy"), (b"PK\x03\x04", "npz"), (b"\x89HDF\r\n\x1a\n", "h5ad"))
_OPENINGS = (
    ("%%matrixmarket", "mtx"),
    ("#nexus", "nexus"),
    ("<?xml", "graphml"),
    ("<graphml", "graphml"),
    # These are refused with the name of their format.
    ("<phyloxml", "graphml"),
    ("<nex:nexml", "graphml"),
)
# Alignments in formats that are not read.
_ALIGNMENTS = (("clustal", "Clustal"), ("# stockholm", "Stockholm"), ("#mega", "MEGA"))
_MEGA_DISTANCES = re.compile(r"datatype\s*=\s*distance", re.IGNORECASE)
_GML = re.compile(r"(?:(?:#|creator\b|version\b)[^\n]*\n\s*)*+graph\s*\[", re.IGNORECASE)
_EXTENSIONS = {
    ".npy": "npy",
    ".npz": "npz",
    ".h5ad": "h5ad",
    ".mtx": "mtx",
    ".nex": "nexus",
    ".nexus": "nexus",
    ".nxs": "nexus",
    ".graphml": "graphml",
    **dict.fromkeys((".fasta", ".fa", ".fas", ".fna", ".faa", ".afa", ".mfa"), "fasta"),
    ".phy": "phylip",
    ".phylip": "phylip",
    ".edges": "edges",
    ".edgelist": "edges",
    ".tsv": "tsv",
    ".csv": "csv",
}
_TREES = {".nwk", ".newick", ".nw", ".tree", ".tre", ".treefile", ".nhx"}


# Files in a zarr folder, for versions 3 and 2.
_ZARR = ("zarr.json", ".zarray", ".zgroup")


def is_zarr(source: Source) -> bool:
    """Return whether a source is a zarr folder. No other format is a folder."""
    return source.path is not None and any((source.path / name).is_file() for name in _ZARR)


def guess_format(source: Source, kind: str | None) -> str:
    r"""Return the name of the format of a source.

    >>> guess_format(Source.of_bytes(b"0,1\n1,0\n", name="-"), None)
    'csv'
    """
    head = source.head
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    # A leading tab is the empty corner of a table. The text after it is a label.
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").lstrip(" \r\n\f\v")
    for opening, name in _OPENINGS:
        if text[: len(opening)].lower() == opening:
            return name
    for opening, name in _ALIGNMENTS:
        if text[: len(opening)].lower() == opening:
            if name == "MEGA" and _MEGA_DISTANCES.search(text):
                raise ValueError(
                    "the file holds distances in MEGA format, which is not read: save them as CSV or PHYLIP"
                )
            raise _not_fasta(name)
    if source.suffix == ".gml" or _GML.match(text):
        raise ValueError("the file is a graph in GML, which is not read: convert it to GraphML")
    if text.startswith(">") and source.suffix not in (".csv", ".tsv"):
        return "fasta"
    if _is_newick(source, text):
        raise ValueError("the file is a tree in Newick, not data: read it as a tree, or use a data file")
    lines = [line for line in text.splitlines()[:200] if line.strip() and not line.startswith(("#", "%"))]
    by_extension = _EXTENSIONS.get(source.suffix)
    if by_extension is None and _is_phylip_alignment(lines):
        raise _not_fasta("PHYLIP")
    if by_extension == "tsv" and not any("\t" in line for line in lines[:2]):
        by_extension = "csv"  # the extension is wrong: find the delimiter
    if by_extension in (None, "csv", "tsv"):
        if _is_phylip(lines):
            return "phylip"
        if kind == "graph":
            return "edges"
        if kind is None and _has_edge_header(text, lines):
            return "edges"
    if by_extension == "mtx" and kind == "graph" and lines and len(lines[0].split()) == 2:
        return "edges"  # Network Repository uses this extension for edge lists
    return by_extension or "csv"


def _is_newick(source: Source, text: str) -> bool:
    """Return whether a text is a tree. A table may also start with a parenthesis, but has no semicolon."""
    if source.suffix in _TREES:
        return True
    return text.startswith("(") and (source.suffix not in (".csv", ".tsv") or text.rstrip().endswith(";"))


def _is_phylip(lines: list[str]) -> bool:
    """Return whether the first line is an integer, and the next line a label or several numbers."""
    if len(lines) < 2 or not lines[0].strip().isdecimal():
        return False
    if lines[0].startswith("\t") and "\t" in lines[1].strip():
        return False  # the table of one point. Mash writes a tab before the number, and then a label.
    below = lines[1].split()
    return len(below) > 1 or not is_numeral(below[0])


def _is_phylip_alignment(lines: list[str]) -> bool:
    """Return whether the first line has two integers, and the next line a label and characters."""
    if len(lines) < 2 or len(lines[0].split()) != 2:
        return False
    if not all(word.isdecimal() for word in lines[0].split()):
        return False
    return not any(map(is_numeral, lines[1].split()[1:])) and not is_numeral(lines[1].split()[0])


def _not_fasta(name: str) -> ValueError:
    """Return the error for an alignment in another format."""
    return ValueError(f"the file is an alignment in {name}: convert it to FASTA")


def _has_edge_header(text: str, lines: list[str]) -> bool:
    """Return whether there is a header of edges, as in poincare-embeddings, Gephi or SNAP."""
    comments = (line[1:].strip() for line in text.splitlines()[:200] if line.startswith("#"))
    header = [line for line in lines[:1] if not line.startswith("\t")]
    return any(map(is_edge_header, [*header, *comments]))
