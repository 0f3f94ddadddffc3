"""Which format is it? The content tells first, then the extension, then what the caller wants of it."""

from .numerals import is_numeral
from .source import Source

_MAGIC = ((b"\x93NUMPY", "npy"), (b"PK\x03\x04", "npz"), (b"\x89HDF\r\n\x1a\n", "h5ad"))
_OPENINGS = (("%%matrixmarket", "mtx"), ("#nexus", "nexus"), ("<?xml", "graphml"), ("<graphml", "graphml"))
_EXTENSIONS = {
    ".npy": "npy",
    ".npz": "npz",
    ".h5ad": "h5ad",
    ".mtx": "mtx",
    ".nex": "nexus",
    ".nexus": "nexus",
    ".nxs": "nexus",
    ".graphml": "graphml",
    ".phy": "phylip",
    ".phylip": "phylip",
    ".edges": "edges",
    ".edgelist": "edges",
    ".tsv": "tsv",
    ".csv": "csv",
}
_TREES = {".nwk", ".newick", ".tree", ".nhx"}


def guess_format(source: Source, kind: str | None) -> str:
    r"""Return the name of the format of a source.

    >>> guess_format(Source.of_bytes(b"0,1\n1,0\n", name="-"), None)
    'csv'
    """
    head = source.head
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    text = head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").lstrip()
    for opening, name in _OPENINGS:
        if text[: len(opening)].lower() == opening:
            return name
    if text.startswith("(") or source.suffix in _TREES:
        raise ValueError("it looks like a tree in Newick, not like distances: read it with treerep.Tree.from_newick")
    lines = [line for line in text.splitlines()[:200] if line.strip() and not line.startswith(("#", "%"))]
    by_extension = _EXTENSIONS.get(source.suffix)
    if by_extension in (None, "csv", "tsv") and _is_phylip(lines):
        return "phylip"
    if kind == "graph" and by_extension in (None, "csv", "tsv"):
        return "edges"
    if by_extension in (None, "csv", "tsv") and kind is None and _is_edge_table(lines):
        return "edges"
    return by_extension or "csv"


def _is_phylip(lines: list[str]) -> bool:
    """A lone whole number, and below it a name or several numbers."""
    if len(lines) < 2 or not lines[0].strip().isdecimal():
        return False
    below = lines[1].split()
    return len(below) > 1 or not is_numeral(below[0])


def _is_edge_table(lines: list[str]) -> bool:
    """The header of poincare-embeddings: id1,id2,weight."""
    return bool(lines) and [cell.strip().lower() for cell in lines[0].split(",")][:2] == ["id1", "id2"]
