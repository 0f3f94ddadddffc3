"""rapidNJ: exact neighbor joining with bounds on sorted rows, in C++. It opens its file twice, so it gets no pipe."""

from .program import program

RIVALS = [
    program(
        "rapidNJ",
        "neighbor joining",
        ["rapidnj", "{}", "-i", "pd", "-c", "1", "-v"],
        version=[],
        mark="Computing phylogetic tree",  # as it spells it
        install="build github.com/somme89/rapidNJ, and put rapidnj on the PATH",
    ),
]
