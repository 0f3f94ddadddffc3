"""Whom to cite: the BibTeX of the methods that were used. The entries are in `references.bib` beside this file."""

from importlib.resources import files

from . import __version__
from ._core.used import used

__all__ = ["CITED", "bibtex"]

#: Methods of `fit` and `embed`, `refine`, `hyperbolicity` and "hub_labels" (distances in graphs), and what to cite.
CITED: dict[str, tuple[str, ...]] = {
    "auto": ("sonthalia2020", "evans2006", "fitch1967", "bryant1998"),
    "treerep": ("sonthalia2020",),
    "neighbor_joining": ("saitou1987", "studier1988"),
    "bionj": ("gascuel1997",),
    "relaxed_neighbor_joining": ("evans2006",),
    "minimum_evolution": ("desper2002",),
    "upgma": ("sokal1958",),
    "gromov": ("gromov1987",),
    "construct_tree": ("abraham2007",),
    "minimum_spanning_tree": ("prim1957",),
    "bfs": (),  # common property
    "level_tree": ("chepoi2008",),
    "low_stretch": ("alon1995",),
    "bartal": ("bartal1996", "calinescu2005"),
    "bartal_average": ("bartal1996", "calinescu2005", "sonthalia2020"),
    "frt": ("fakcharoenphol2003",),
    "backbone": ("sonthalia2020", "evans2006", "fitch1967", "bryant1998"),
    "sarkar": ("sarkar2011", "sala2018"),
    "hmds": ("sala2018",),
    "poincare": ("nickel2017",),
    "lorentz": ("nickel2018",),
    "pt": ("sala2018",),
    "refine": ("fitch1967", "bryant1998", "evans2006"),  # relaxed neighbour joining is another start
    "hyperbolicity": ("gromov1987", "borassi2015"),
    "hub_labels": ("akiba2013",),
}


def bibtex(*methods: str) -> str:
    """Return BibTeX for this software, the paper it is built on, and what else the methods rest on.

    Parameters
    ----------
    *methods : str
        Names of methods as `fit` and `embed` have them, "refine", "hyperbolicity" or "hub_labels". Without any: all
        that were used in this process so far.

    Returns
    -------
    str
        Each entry once. Data sets are not among them: `datasets.load(name).citation` says whose they are.

    Notes
    -----
    O(number of entries) time. What was used is noted by `fit`, `embed`, `refine`, `hyperbolicity` and graphs.

    Examples
    --------
    >>> text = bibtex("neighbor_joining", "sarkar")
    >>> [line for line in text.splitlines() if line.startswith("@")][:3]
    ['@misc{treerep,', '@inproceedings{sonthalia2020,', '@article{saitou1987,']
    """
    names = methods or used()
    for name in names:
        if name not in CITED:
            raise ValueError(f"unknown method {name!r}: choose from {', '.join(CITED)}")
    keys = dict.fromkeys(("sonthalia2020", *(key for name in names for key in CITED[name])))
    entries = _entries()
    return "\n\n".join([_software(), *(entries[key] for key in keys)]) + "\n"


def _software() -> str:
    fields = {"author": "{The treerep developers}", "title": "treerep", "note": f"Version {__version__}"}
    return "@misc{treerep,\n" + ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items()) + "\n}"


def _entries() -> dict[str, str]:
    """Read the entries by their keys; they are parted by empty lines."""
    text = files(__package__).joinpath("references.bib").read_text(encoding="utf-8").strip()
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in text.split("\n\n")}
