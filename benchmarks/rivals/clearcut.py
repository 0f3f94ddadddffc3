"""clearcut: relaxed neighbor joining, and exact neighbor joining with -N, in C."""

from .program import program

_COMMAND = ["clearcut", "--stdin", "--stdout", "--distance", "--expblen", "--seed=1"]
_INSTALL = "apt install clearcut"

RIVALS = [
    program(
        "clearcut",
        "relaxed neighbor joining",
        _COMMAND,
        version=["--version"],
        install=_INSTALL,
    ),
    program(
        "clearcut -N",
        "neighbor joining",
        [*_COMMAND, "--neighbor"],
        version=["--version"],
        install=_INSTALL,
    ),
]
