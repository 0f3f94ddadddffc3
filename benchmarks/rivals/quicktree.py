"""QuickTree: neighbor joining and UPGMA in C."""

from .program import program

_COMMAND = ["quicktree", "-in", "m", "-out", "t"]
_INPUT = "/dev/stdin"
_INSTALL = "apt install quicktree"

RIVALS = [
    program("quicktree", "neighbor joining", [*_COMMAND, _INPUT], version=["-v"], install=_INSTALL),
    program(
        "quicktree -upgma",
        "UPGMA",
        [*_COMMAND, "-upgma", _INPUT],
        version=["-v"],
        install=_INSTALL,
    ),
]
