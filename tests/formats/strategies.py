"""Random trees with names, groups and support for the tests of tree files."""

import numpy as np
from hypothesis import strategies as st

from tests.tree.strategies import trees
from treerep.tree.tree import Tree

#: Names that people have, and those that break parsers.
HARD = [
    "Homo sapiens",
    "it's",
    'say "hi"',
    "a_b",
    "<b>&amp;</b>",
    "😀",
    "(x)",
    "[1]",
    "a:b;c,d",
    "",
    " ",
    "0.5",
    "1",
    "END",
]


@st.composite
def named_trees(draw: st.DrawFn, max_nodes: int = 15, *, controls: bool = True, support: bool = True) -> Tree:
    """Trees whose leaves are data points; with labels or without, and with support or without."""
    tree = draw(trees(max_nodes=max_nodes, leaves=True)).canonical()
    n = len(tree)
    characters = st.characters(exclude_categories=["Cs"] if controls else ["Cs", "Cc", "Cn"])
    names = st.one_of(st.sampled_from(HARD), st.text(characters, max_size=6))
    labels = draw(st.one_of(st.none(), st.lists(names, min_size=n, max_size=n, unique=True)))
    shares = None
    if support and draw(st.booleans()):
        # What every format can hold: four decimals, above Steiner nodes.
        above = tree.rooted(tree._default_root())
        child = np.where(
            above.parent[tree.edges[:, 0]] == tree.edges[:, 1],
            tree.edges[:, 0],
            tree.edges[:, 1],
        )
        shares = np.round(np.random.default_rng(draw(st.integers(0, 99))).random(len(tree.edges)), 4)
        shares[child < n] = np.nan
    return Tree(n, tree.edges, tree.weights, labels, support=shares)
