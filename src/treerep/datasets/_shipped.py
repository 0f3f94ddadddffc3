"""Small tables included in the package."""

import csv
from importlib.resources import files

import numpy as np

from ..metric.matrix import MatrixMetric


def sarich() -> MatrixMetric:
    """Return the immunological distances between eight mammals, a classic test of tree methods.

    The distances are symmetric whole numbers: the two directions of each experiment are
    averaged. The labels are the species.

    Returns
    -------
    MatrixMetric
        The distances.

    See Also
    --------
    datasets.load : Load other data sets.
    fit : Fit a tree.

    Notes
    -----
    The distances are read from a file of the package, in O(1) time.

    References
    ----------
    V. M. Sarich, "Pinniped origins and the rate of evolution of carnivore albumins", Systematic
    Zoology 18, 1969, as tabulated in J. Felsenstein, *Inferring Phylogenies*, 2004.

    Examples
    --------
    >>> mammals = sarich()
    >>> mammals.labels[4:6], float(mammals.pairs(4, 5))
    (('seal', 'sea_lion'), 24.0)
    """
    with files(__package__).joinpath("sarich.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    # Stored as float64, like most user data, so that one compilation serves both.
    return MatrixMetric(np.array([row[1:] for row in rows], dtype=np.float64), labels=header[1:])
