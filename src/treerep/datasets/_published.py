"""The random points in hyperbolic space used in the TreeRep paper."""

import numpy as np

from .._core.io.archive import checked_read
from ..metric.matrix import MatrixMetric
from ._finding import FOLDER_VARIABLE, named_folder

_FILE = "synthetic/hk_points.npz"


def paper_points(dim: int, *, scale: int = 1, draw: int = 1) -> MatrixMetric:
    """Return the distances of the paper's 100 random points of hyperbolic space.

    The points are read from the folder named by TREEREP_DATA (``synthetic/hk_points.npz``).

    Parameters
    ----------
    dim : int
        Dimension: 2, 4, 8, ..., 1024 at scale 1, and 10 at other scales.
    scale : int
        Scale: 1, or 2, 4, 8, ..., 1024 in dimension 10.
    draw : int
        1 or 2. The points in dimension 10 have two draws. The paper used the first for tree
        methods, and the second for methods that optimize an embedding.

    Returns
    -------
    MatrixMetric
        The distances.

    Raises
    ------
    ValueError
        If there are no such points.
    FileNotFoundError
        If the folder or the file is missing.

    See Also
    --------
    datasets.hyperbolic_points : Draw new points of the same kind.
    datasets.load : Load other data sets.

    Notes
    -----
    O(1) time beyond reading the file. Sonthalia and Gilbert (NeurIPS 2020).
    """
    powers = [2**k for k in range(1, 11)]
    varied_dim = dim in powers and (scale, draw) == (1, 1)
    varied_scale = dim == 10 and scale in powers and draw in (1, 2)
    if not (varied_dim or varied_scale):
        raise ValueError(
            f"no points for dim={dim}, scale={scale}, draw={draw}: use dim 2, 4, ..., 1024 "
            "at scale 1, or dim 10 at scale 2, 4, ..., 1024 in draw 1 or 2"
        )
    folder = named_folder()
    if folder is None or not (folder / _FILE).is_file():
        raise FileNotFoundError(
            f"the points of the paper were not found: set {FOLDER_VARIABLE} to a folder that contains {_FILE}"
        )
    from scipy.spatial.distance import squareform

    key = f"dim{dim}_scale{scale}" + ("_draw2" if draw == 2 else "")
    path = folder / _FILE

    def read() -> MatrixMetric:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return MatrixMetric(squareform(arrays[key]))

    metric: MatrixMetric = checked_read(path, "npz", read)
    return metric
