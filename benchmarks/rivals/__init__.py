"""Comparison with other libraries: one adapter module per library. `python -m benchmarks rivals`.

`rival` defines adapters, `problems` their inputs. `contest` runs each adapter in its own process.
`answers` validates and scores the results. `report` and `pictures` create the page.
"""

#: Modules of this package with a list RIVALS, ours first.
ADAPTERS = (
    "treerep_trees",
    "scikit_bio",
    "anjl",
    "biotite",
    "clearcut",
    "quicktree",
    "rapidnj",
    "ccphylo",
    "fastme",
    "hyperlib",
    "treerep_graphs",
    "sage",
    "scipy",
    "networkit",
    "treerep_embeddings",
    "gensim",
)
