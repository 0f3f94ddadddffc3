"""CCPhylo: dynamic neighbor joining in C."""

from .program import program

RIVALS = [
    program(
        "ccphylo dnj",
        "neighbor joining",
        ["ccphylo", "tree", "-m", "dnj", "-t", "1"],
        version=["-v"],
        install="build github.com/genomicepidemiology/ccphylo, and put ccphylo on the PATH",
    ),
]
