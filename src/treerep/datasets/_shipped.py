"""Small tables included in the package."""

import csv
from importlib.resources import files

import numpy as np

from ..metric.matrix import MatrixMetric


def sarich() -> MatrixMetric:
    """Return the immunological distances of eight mammals, a classic test of tree methods.

    Whole numbers, symmetric (the two directions of each experiment are averaged), labeled with
    the species.

    References
    ----------
    V. M. Sarich, "Pinniped origins and the rate of evolution of carnivore albumins", Systematic
    Zoology 18, 1969, as tabulated in J. Felsenstein, *Inferring Phylogenies*, 2004.

    Notes
    -----
    A constant, read from a file of the package.

    Examples
    --------
    >>> mammals = sarich()
    >>> mammals.labels[4:6], float(mammals.pairs(4, 5))
    (('seal', 'sea_lion'), 24.0)
    """
    with files(__package__).joinpath("sarich.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    # Stored as float64, like most user data, so that one compilation serves both.
    return MatrixMetric(
        np.array([row[1:] for row in rows], dtype=np.float64), labels=header[1:]
    )
