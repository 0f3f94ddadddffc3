"""rapidNJ: exact neighbor joining in C++. It opens its file twice, so it cannot read a pipe."""

from .program import program

RIVALS = [
    program(
        "rapidNJ",
        "neighbor joining",
        ["rapidnj", "{}", "-i", "pd", "-c", "1", "-v"],
        version=[],
        mark="Computing phylogetic tree",  # the spelling of the program
        install="build github.com/somme89/rapidNJ, and put rapidnj on the PATH",
    ),
]
