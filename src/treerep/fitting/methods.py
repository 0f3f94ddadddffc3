"""Records of the methods of `fit`. Importing this module does not import the methods."""

from .._core.method import Method, records
from .options import (
    AutoOptions,
    BackboneOptions,
    BartalOptions,
    GraphOptions,
    GromovOptions,
    LinfOptions,
    RootedGraphOptions,
    RootOptions,
    TreeRepOptions,
)

#: Every method of `fit` by name.
METHODS = records(
    Method(
        "auto",
        "treerep.refinement.backbone.build:auto",
        "the full tree for few points, `backbone` for more",
        exact="trees",
        time="as backbone",
        memory="as backbone",
        cite=("sonthalia2020", "evans2006", "fitch1967", "bryant1998"),
        options=AutoOptions,
        random=True,
        threads=True,
        missing=True,
        squared=True,
    ),
    Method(
        "treerep",
        "treerep.fitting.treerep.algorithm:treerep",
        "TreeRep (Sonthalia and Gilbert 2020)",
        exact="trees",
        time="about n log n",
        memory="n",
        cite=("sonthalia2020",),
        options=TreeRepOptions,
        random=True,
        threads=True,
    ),
    Method(
        "neighbor_joining",
        "treerep.fitting.joining.neighbor_joining:neighbor_joining",
        "exact NJ (Saitou and Nei 1987)",
        exact="trees",
        time="about n²",
        memory="n²",
        cite=("saitou1987", "studier1988"),
        threads=True,
        missing=True,
        squared=True,
    ),
    Method(
        "bionj",
        "treerep.fitting.joining.bionj:bionj",
        "NJ with variances (Gascuel 1997)",
        exact="trees",
        time="about n²",
        memory="2 n²",
        cite=("gascuel1997",),
        threads=True,
        missing=True,
        squared=True,
    ),
    Method(
        "relaxed_neighbor_joining",
        "treerep.fitting.joining.relaxed_neighbor_joining:relaxed_neighbor_joining",
        "NJ that joins any mutually nearest pair",
        exact="trees",
        time="about n²",
        memory="n²",
        cite=("evans2006",),
        random=True,
        threads=True,
        squared=True,
    ),
    Method(
        "minimum_evolution",
        "treerep.fitting.evolution.minimum_evolution:minimum_evolution",
        "balanced minimum evolution with SPR",
        exact="trees",
        time="about n² per round",
        memory="3 n²",
        cite=("desper2002", "gascuel1997", "hordijk2005"),
        threads=True,
        missing=True,
        squared=True,
    ),
    Method(
        "upgma",
        "treerep.fitting.rooted.upgma:upgma",
        "average linkage, an ultrametric",
        exact="ultrametrics",
        time="n²",
        memory="n²",
        cite=("sokal1958",),
        threads=True,
        squared=True,
    ),
    Method(
        "gromov",
        "treerep.fitting.rooted.gromov:gromov",
        "Gromov's tree from a root",
        exact="trees",
        time="n²",
        memory="n² (single linkage: n)",
        cite=("gromov1987",),
        options=GromovOptions,
        random=True,
    ),
    Method(
        "linf",
        "treerep.refinement.largest.linf:linf",
        "a small largest error (Agarwala et al. 1998), with moves",
        exact="trees",
        time="n² per root, about n² log n per sweep",
        memory="4 n²",
        cite=("agarwala1998", "farach1995"),
        options=LinfOptions,
        random=True,
        threads=True,
    ),
    Method(
        "construct_tree",
        "treerep.fitting.rooted.construct_tree:construct_tree",
        "ConstructTree (Abraham et al. 2007)",
        exact="trees",
        time="about n²",
        memory="n",
        cite=("abraham2007",),
        options=RootOptions,
        random=True,
    ),
    Method(
        "minimum_spanning_tree",
        "treerep.fitting.spanning.minimum_spanning_tree:minimum_spanning_tree",
        "the shortest tree without new nodes",
        time="n², or edges · log n",
        memory="n",
        cite=("prim1957",),
        options=RootedGraphOptions,
        random=True,
        threads=True,
        squared=True,
    ),
    Method(
        "bfs",
        "treerep.fitting.spanning.bfs:bfs",
        "shortest paths from a central point",
        exact="distances from its root",
        time="n², or edges · log n",
        memory="n",
        options=RootedGraphOptions,
        random=True,
        threads=True,
    ),
    Method(
        "level_tree",
        "treerep.fitting.spanning.level_tree:level_tree",
        "layering tree (Chepoi et al. 2008)",
        time="edges",
        memory="edges",
        cite=("chepoi2008",),
        options=RootedGraphOptions,
        random=True,
        threads=True,
    ),
    Method(
        "low_stretch",
        "treerep.fitting.spanning.low_stretch:low_stretch",
        "AKPW low-stretch spanning tree",
        time="n² per round, or edges · log n",
        memory="n",
        cite=("alon1995",),
        options=GraphOptions,
        random=True,
        threads=True,
    ),
    Method(
        "bartal",
        "treerep.fitting.random.bartal:bartal",
        "best of random trees (Bartal 1996)",
        time="n² per tree and halving",
        memory="n²",
        cite=("bartal1996", "calinescu2005"),
        options=BartalOptions,
        random=True,
        threads=True,
    ),
    Method(
        "backbone",
        "treerep.refinement.backbone.build:backbone",
        "tree of a sample, with all other points placed in it",
        exact="trees",
        time="n · size + size²",
        memory="n + size²",
        cite=("sonthalia2020", "evans2006", "fitch1967", "bryant1998"),
        options=BackboneOptions,
        random=True,
        threads=True,
        squared=True,
    ),
)

#: The default method of `fit`, the estimators, `tl.tree` and the command line.
DEFAULT = "auto"
#: The function that runs a method with `missing=True` on a metric with missing distances.
FIT_MEASURED = "treerep.refinement.missing.fit:fit_measured"
#: Number of trees to fit; the best is kept.
TRIALS = 1


def method_table() -> str:
    """Return the table of methods for the docstring of `fit`."""
    rows = [("method", "what it is", "time; memory")]
    rows += [
        (f'"{method.name}"', method.title, f"{method.time}; {method.memory}") for method in METHODS.values()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    rule = " ".join("=" * width for width in widths)
    lines = [
        " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n    ".join([rule, lines[0], rule, *lines[1:], rule])
