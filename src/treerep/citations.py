"""BibTeX entries for the methods that were used.

The entries are stored in `references.bib` next to this file.
"""

from importlib.resources import files

from . import __version__
from ._core.method import unknown_method
from ._core.used import used
from .embedding.methods import METHODS as EMBED
from .fitting.methods import METHODS as FIT
from .treelikeness.methods import METHODS as DELTA

__all__ = ["CITED", "bibtex"]

#: References for the methods of `fit` and `embed`, `refine`, "tree_sum" (fits of a sum of trees),
#: `hyperbolicity`, "missing" (fits to a metric with missing distances), "hub_labels" (distances in
#: graphs), "bootstrap" and "consensus".
CITED: dict[str, tuple[str, ...]] = {
    **{name: method.cite for name, method in FIT.items()},
    **{name: method.cite for name, method in EMBED.items()},
    # `refine` may start from relaxed neighbor joining (Evans 2006).
    "refine": ("fitch1967", "bryant1998", "evans2006"),
    # A sum starts from relaxed neighbor joining, and its lengths are fitted as in `refine`.
    "tree_sum": ("evans2006", "fitch1967", "bryant1998"),
    "hyperbolicity": DELTA["auto"].cite,
    "missing": ("criscuolo2008", "fitch1967", "bryant1998"),
    "hub_labels": ("akiba2013",),
    "bootstrap": ("felsenstein1985",),
    "consensus": ("margush1981",),
}


def bibtex(*methods: str) -> str:
    """Return BibTeX entries for this software, the TreeRep paper, and methods.

    Parameters
    ----------
    *methods : str
        Names of methods of `fit` and `embed`, "refine", "tree_sum", "hyperbolicity", "missing",
        "hub_labels", "bootstrap" or "consensus". The default is all methods that this process has
        used.

    Returns
    -------
    str
        Each entry once. Data sets are not included: see `datasets.DataSet.citation`.

    See Also
    --------
    fit : Fit a tree.
    embed : Embed a tree or a metric.
    datasets.DataSet : A data set with its citation.

    Notes
    -----
    O(number of entries) time. `fit`, `embed`, `refine`, `hyperbolicity` and graph metrics
    record the methods that they use.

    Examples
    --------
    >>> text = bibtex("neighbor_joining", "sarkar")
    >>> [line for line in text.splitlines() if line.startswith("@")][:3]
    ['@misc{treerep,', '@inproceedings{sonthalia2020,', '@article{saitou1987,']
    """
    names = methods or used()
    for name in names:
        if name not in CITED:
            raise unknown_method(name, CITED)
    keys = dict.fromkeys(("sonthalia2020", *(key for name in names for key in CITED[name])))
    entries = _entries()
    return "\n\n".join([_software(), *(entries[key] for key in keys)]) + "\n"


def _software() -> str:
    fields = {
        "author": "{The treerep developers}",
        "title": "treerep",
        "note": f"Version {__version__}",
    }
    return (
        "@misc{treerep,\n" + ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items()) + "\n}"
    )


def _entries() -> dict[str, str]:
    """Read the entries by key; empty lines separate them."""
    text = files(__package__).joinpath("references.bib").read_text(encoding="utf-8").strip()
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in text.split("\n\n")}
