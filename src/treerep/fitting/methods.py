"""Records of the methods of `fit`. Importing this module does not import the methods."""

from .._core.method import Method, records
from .options import (
    AutoOptions,
    BackboneOptions,
    BartalOptions,
    GraphOptions,
    GromovOptions,
    LinfOptions,
    MinimumEvolutionOptions,
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
        good_at="distances, neighborhoods and groups, at any size",
        cite=("sonthalia2020", "evans2006", "fitch1967", "bryant1998"),
        options=AutoOptions,
        random=True,
        threads=True,
        missing=True,
    ),
    Method(
        "treerep",
        "treerep.fitting.treerep.algorithm:treerep",
        "TreeRep (Sonthalia and Gilbert 2020)",
        exact="trees",
        time="about n log n",
        memory="n",
        good_at="large data: millions of points in seconds, few distances",
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
        good_at="neighborhoods; the standard in phylogenetics",
        cite=("saitou1987", "studier1988"),
        threads=True,
        missing=True,
    ),
    Method(
        "bionj",
        "treerep.fitting.joining.bionj:bionj",
        "NJ with variances (Gascuel 1997)",
        exact="trees",
        time="about n²",
        memory="2 n²",
        good_at="the same, if long distances are noisy",
        cite=("gascuel1997",),
        threads=True,
        missing=True,
    ),
    Method(
        "relaxed_neighbor_joining",
        "treerep.fitting.joining.relaxed_neighbor_joining:relaxed_neighbor_joining",
        "NJ that joins any mutually nearest pair",
        exact="trees",
        time="about n²",
        memory="n²",
        good_at="both distances and neighborhoods",
        cite=("evans2006",),
        random=True,
        threads=True,
    ),
    Method(
        "minimum_evolution",
        "treerep.fitting.evolution.minimum_evolution:minimum_evolution",
        "minimum evolution with NNI or SPR",
        exact="trees",
        time="about n² per round",
        memory="3 n² (n² with `spr=False`)",
        good_at="neighborhoods; distances with `criterion='ols'`",
        cite=("desper2002", "gascuel1997", "hordijk2005"),
        options=MinimumEvolutionOptions,
        threads=True,
        missing=True,
    ),
    Method(
        "upgma",
        "treerep.fitting.rooted.upgma:upgma",
        "average linkage, an ultrametric",
        exact="ultrametrics",
        time="n²",
        memory="n²",
        good_at="a dendrogram",
        cite=("sokal1958",),
    ),
    Method(
        "gromov",
        "treerep.fitting.rooted.gromov:gromov",
        "Gromov's tree from a root",
        exact="trees",
        time="n²",
        memory="n² (single linkage: n)",
        good_at="distances; guaranteed bounds with `linkage='single'`",
        cite=("gromov1987",),
        options=GromovOptions,
        random=True,
    ),
    Method(
        "linf",
        "treerep.refinement.largest.linf:linf",
        "the least largest error (Agarwala et al. 1998) with moves",
        exact="trees",
        time="n² per root, about n² log n per sweep",
        memory="4 n²",
        good_at="the largest error: at most 3 times that of the best tree",
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
        good_at="guaranteed bounds in little memory",
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
        good_at="graph edges only, very fast",
        cite=("prim1957",),
        options=RootedGraphOptions,
        random=True,
        threads=True,
    ),
    Method(
        "bfs",
        "treerep.fitting.spanning.bfs:bfs",
        "shortest paths from a central point",
        exact="distances from its root",
        time="n², or edges · log n",
        memory="n",
        good_at="the same; distances from one point",
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
        good_at="guaranteed bounds on unweighted graphs",
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
        good_at="graph edges only, keeps neighbors close",
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
        good_at="comparison with the paper",
        cite=("bartal1996", "calinescu2005"),
        options=BartalOptions,
        random=True,
        threads=True,
    ),
    Method(
        "frt",
        "treerep.fitting.random.frt:frt",
        "random dominating tree (Fakcharoenphol et al. 2003)",
        time="n²",
        memory="n log n",
        good_at="theory: a bound for any metric",
        cite=("fakcharoenphol2003",),
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
        good_at="control over the sample size",
        cite=("sonthalia2020", "evans2006", "fitch1967", "bryant1998"),
        options=BackboneOptions,
        random=True,
        threads=True,
    ),
)

#: The default method of `fit`, the estimators, `tl.tree` and the command line.
DEFAULT = "auto"
#: The function that runs a method with `missing=True` on a metric with missing distances.
FIT_MEASURED = "treerep.refinement.missing.fit:fit_measured"
#: Number of trees to fit; the best is kept.
TRIALS = 1


def method_table(indent: str = "    ") -> str:
    """Return the table of methods for the docstring of `fit`."""
    rows = [("method", "what it is", "time; memory")]
    rows += [
        (f'"{method.name}"', method.title, f"{method.time}; {method.memory}")
        for method in METHODS.values()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    rule = " ".join("=" * width for width in widths)
    lines = [
        " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return f"\n{indent}".join([rule, lines[0], rule, *lines[1:], rule])
