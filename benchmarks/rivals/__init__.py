"""Other libraries and programs on our inputs: one adapter a rival, one file each. `python -m benchmarks rivals`.

`rival` says what an adapter is, `problems` what all of them are given, `contest` runs each in a process of its own,
`answers` checks and scores what comes back, `report` and `pictures` make the page of the results.
"""

#: Modules of this package with a list RIVALS. Ours come first.
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
