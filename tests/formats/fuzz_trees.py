"""Random bytes for the readers of tree files: `python tests/formats/fuzz_trees.py -runs=100000`, which needs atheris.

A reader returns a tree, or raises a ValueError of one line that names the file; anything else is a fault. What it
returns is a tree that goes out and in again.
"""

import sys
import tempfile
from pathlib import Path

FORMATS = ("newick", "nexus", "graphml", "json", "npz")


def try_reader(name: str | None, content: bytes, folder: Path) -> bool:
    """Read the content in a format, None by guess, and say whether it is a tree."""
    from treerep.formats import read_tree, write_tree

    path = folder / "fuzz.data"
    path.write_bytes(content)
    try:
        tree = read_tree(
            path,
            format=name,
            **({"default_length": 1.0} if name in ("newick", "nexus", "graphml") else {}),
        )
    except ValueError as error:
        line = str(error)
        assert "\n" not in line and line.startswith(str(path)), line
        return False
    write_tree(tree, folder / "again.npz")
    assert read_tree(folder / "again.npz") == tree
    return True


def main() -> None:
    """Let atheris invent files, its first byte the format."""
    import atheris

    with atheris.instrument_imports(
        include=[
            "treerep.formats",
            "treerep.tree.exchange.newick_text",
            "treerep.tree.exchange.node_graphs",
        ]
    ):
        pass

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        atheris.Setup(
            sys.argv,
            lambda data: try_reader(FORMATS[data[0] % 5], data[1:], folder) if data else None,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
